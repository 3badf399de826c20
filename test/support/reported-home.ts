/** A person with many MCP servers, each with a habit that users of such programs reported: one agent reaches them all. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { said, type SmallTool } from "./small-upstream.ts";
import { fixtureEntry } from "./upstream-files.ts";
import { newHome, type Home } from "./pimcp.ts";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg";
type Schema = NonNullable<SmallTool["inputSchema"]>;
const TEXT: Schema = { type: "object", properties: { text: { type: "string", description: "What to say." } }, required: ["text"] };
const SUM: Schema = { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] };
const LIST_OR_NOTHING: Schema = { type: "object", properties: { items: { type: ["array", "null"], items: { type: "number" } } } };
const TEXT_OR_LIST: Schema = { type: "object", properties: { items: { type: ["string", "array"] } } };
const DRAFT_7 = "http://json-schema.org/draft-07/schema#";
const DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema";

export const BIG_TEXT = Array.from({ length: 60_000 }, (_, line) => `line ${line} of a text that nobody asked to be so long`).join("\n");

const structured = (structuredContent: Record<string, unknown>, ...texts: readonly string[]) => ({
  content: texts.map((text) => ({ type: "text" as const, text })),
  structuredContent,
});

/** Tools for how calls and results are shown. */
export const SHAPES: Readonly<Record<string, SmallTool>> = {
  echo: { description: "Says its text.", inputSchema: TEXT, run: ({ text }) => said(String(text)) },
  guarded: { description: "Says its text, with leave.", inputSchema: TEXT, run: ({ text }) => said(String(text)) },
  length: { description: "Counts characters.", inputSchema: TEXT, run: ({ text }) => said(String(String(text).length)) },
  items: { description: "Takes a list, or nothing.", inputSchema: LIST_OR_NOTHING, run: (args) => said(JSON.stringify(args)) },
  either: { description: "Takes a text or a list.", inputSchema: TEXT_OR_LIST, run: (args) => said(JSON.stringify(args)) },
  only_structured: { run: () => structured({ a: 1 }) },
  pong: { run: () => structured({ m: "pong" }, "ok") },
  nothing: { run: () => ({ content: [] }) },
  fails: { run: () => ({ ...said("the disk is full"), isError: true }) },
  big: { run: () => said(BIG_TEXT) },
  rows: { run: () => said(JSON.stringify(Array.from({ length: 500 }, (_, id) => ({ id, name: `row ${id}`, note: "x".repeat(80) })))) },
  draft7: { outputSchema: { $schema: DRAFT_7, ...SUM }, run: () => structured({ sum: 3 }, '{"sum":3}') },
  draft2020: { outputSchema: { $schema: DRAFT_2020, ...SUM }, run: () => structured({ sum: 3 }, '{"sum":3}') },
  wrong: { outputSchema: { $schema: DRAFT_7, ...SUM }, run: () => structured({ sum: "three" }) },
  pictures: {
    run: () => ({ content: Array.from({ length: 5 }, () => ({ type: "image", mimeType: "image/png", data: PNG.padEnd(2_800_000, "A") })) }),
  },
  sleep: {
    inputSchema: { type: "object", properties: { ms: { type: "number" } } },
    run: ({ ms }, { mcpReq }) => new Promise((resolve) => wait(Number(ms), mcpReq.signal, () => resolve(said("slept")))),
  },
  shot: { description: "对当前页面进行网页截图" },
  hidden_one: { description: "Is left out by a filter." },
};

function wait(ms: number, signal: AbortSignal, then: () => void): void {
  const timer = setTimeout(then, ms);
  signal.addEventListener("abort", () => {
    clearTimeout(timer);
    then();
  });
}

/** Writes below the home; `.config/mcp/mcp.json` is the person's own list of servers. */
export function homeOf(files: Readonly<Record<string, string>>): Home {
  const home = newHome();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home.dir, path)), { recursive: true });
    writeFileSync(join(home.dir, path), text, { mode: 0o755 });
  }
  return home;
}

/** One server is known from earlier: otherwise the first start looks at each, and nothing would be lazy. */
export const KNOWN_BEFORE = JSON.stringify({
  version: 1,
  servers: { earlier: { configHash: "0".repeat(64), tools: [], resources: [], cachedAt: 1 } },
});

/** A package in npm's cache, whose program is the fixture `good` and says which version it is. */
export function cachedPackage(folder: string, version: string): Record<string, string> {
  const inside = `.npm/_npx/${folder}/node_modules/reported-pkg`;
  const good = fixtureEntry("good").args?.at(-1) ?? "";
  return {
    [`${inside}/package.json`]: JSON.stringify({ name: "reported-pkg", version, type: "module", bin: "main.js" }),
    [`${inside}/main.js`]: `process.env.RUNS = "${version}"; await import(${JSON.stringify(good)});`,
  };
}

/** An Agent Plugin with one server, whose values look like placeholders and commands. */
export function agentPlugin(at: string): Record<string, string> {
  const schema = (name: string): string => `https://agent-plugins.org/schemas/1.0.0/${name}.schema.json`;
  const server = { type: "stdio", command: "./bin/run", args: ["${HOME}"], env: { LITERAL: "!echo no ${HOME}" } };
  const good = fixtureEntry("good").args?.at(-1) ?? "";
  return {
    [`${at}/plugin.json`]: JSON.stringify({ $schema: schema("plugin"), name: "acme" }),
    [`${at}/mcp.json`]: JSON.stringify({ $schema: schema("mcp"), mcpServers: { s: server } }),
    [`${at}/bin/run`]: `#!/bin/sh\nexec "${process.execPath}" "${good}"\n`,
  };
}
