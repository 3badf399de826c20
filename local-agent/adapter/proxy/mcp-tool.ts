/** The tool `mcp` as a model is shown it: small whatever is configured, and the same bytes for the same configuration. Pure. */
import type { JsonObject } from "../../../shared/json.ts";
import { visibleLine } from "../../../shared/visible-text.ts";
import type { OfferedTool } from "../adapter.ts";
import { cutToTokens, estimateTokens } from "./token-estimate.ts";

/** A server as the tool's text names it. */
export interface NamedServer {
  readonly name: string;
  /** What the server says of its own use; null: nothing. */
  readonly instructions: string | null;
}

/** [CL40] For the names of the servers and what they say; the rest of the tool, 400 tokens in all, is constant. */
const SERVER_TOKENS = 140;
/** Of a single server's words, even when there is room. */
const HEAD_TOKENS = 60;
/** A name is a stranger's text as well. */
const NAME_CHARS = 40;

const USE = [
  "Uses the MCP servers of this workstation. Find a tool, then call it:",
  '{search: "what you need"}, then {tool: "name", args: {…}}.',
  "Also: {} status; {server} its tools; {describe: tool}; {instructions: server}; {connect: server} connects or refreshes.",
].join("\n");

const SCHEMA: JsonObject = {
  type: "object",
  properties: {
    tool: { type: "string", description: "Tool to call" },
    args: { anyOf: [{ type: "object" }, { type: "string" }], description: "Its arguments, also as JSON text" },
    server: { type: "string", description: "List its tools, or look only there" },
    search: { type: "string", description: "Words for what you need" },
    regex: { type: "boolean", description: "search is a pattern" },
    limit: { type: "integer" },
    offset: { type: "integer" },
    includeSchemas: { type: "boolean", description: "Default true" },
    describe: { type: "string", description: "Tool whose parameters to show" },
    instructions: { type: "string" },
    connect: { type: "string" },
    action: { type: "string" },
  },
};

/** [CL41] Depends on nothing but the servers given, so that a provider's prompt cache holds for a session. */
export function mcpTool(servers: readonly NamedServer[]): OfferedTool {
  return {
    name: "mcp",
    title: "MCP servers",
    description: `${USE}\n${serverLines(servers)}`,
    inputSchema: SCHEMA,
    // What it does is up to the tool that is called through it.
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    promptSnippet: "Find and call tools of the MCP servers on this workstation",
  };
}

function serverLines(servers: readonly NamedServer[]): string {
  const said = servers.map(({ name, instructions }) => ({ name: visibleLine(name, NAME_CHARS), words: wordsOf(instructions) }));
  const shares = shareOut(
    said.map(({ words }) => Math.min(estimateTokens(words), HEAD_TOKENS)),
    SERVER_TOKENS - estimateTokens(said.map(({ name }) => `${name}: `).join(" ")),
  );
  const heads = said.map(({ name, words }, index) => ({ name, head: cutToTokens(words, shares[index] ?? 0) }));
  const lines = heads.filter(({ head }) => head !== "").map(({ name, head }) => `${name}: ${head}`);
  const silent = heads.filter(({ head }) => head === "").map(({ name }) => name);
  return ["Servers:", ...lines, ...(silent.length === 0 ? [] : [nameLine(silent)])].join("\n");
}

function nameLine(names: readonly string[]): string {
  const shown: string[] = [];
  let tokens = 0;
  for (const name of names) {
    tokens += estimateTokens(`${name}, `);
    if (tokens > SERVER_TOKENS - 10) break;
    shown.push(name);
  }
  const left = names.length - shown.length;
  return left === 0 ? shown.join(", ") : `${shown.join(", ")} and ${left} more`;
}

/** Everybody gets what is asked for, or the same as everybody else who does not. A share too small for a few words is none. */
function shareOut(asked: readonly number[], available: number): readonly number[] {
  const shares = asked.map(() => 0);
  let left = Math.max(0, available);
  const waiting = asked
    .map((tokens, index) => ({ tokens, index }))
    .filter(({ tokens }) => tokens > 0)
    .toSorted((a, b) => a.tokens - b.tokens);
  for (const [place, { tokens, index }] of waiting.entries()) {
    const share = Math.min(tokens, Math.floor(left / (waiting.length - place)));
    left -= share;
    shares[index] = share >= Math.min(tokens, MIN_HEAD_TOKENS) ? share : 0;
  }
  return shares;
}

const MIN_HEAD_TOKENS = 4;

function wordsOf(instructions: string | null): string {
  // Headings and emphasis say nothing in a line of a list.
  const plain = (instructions ?? "").slice(0, 2_000).replaceAll(/[#*`_>]+(?=\s|\w|$)/g, " ");
  return visibleLine(plain.replaceAll(/\s+/g, " ").trim(), 600);
}
