/** What a started agent prints, as text. Pure: where it goes decides what may be in it (secrets on a terminal only). */
import type { RunningAgent } from "../daemon/running-agent.ts";
import { wrap } from "./wrap.ts";

export interface Audience {
  /** A person reads it; otherwise it may end in a log or a file others can read. */
  readonly isTerminal: boolean;
  readonly colour: boolean;
  /** Width to wrap sentences at. */
  readonly columns: number;
  /** How a relay is deployed from here: npm's script is there in a checkout only. */
  readonly deployCommand: "npm run deploy" | "pimcp deploy";
}

/** Longer lines are hard to read, however wide the window. */
const MAX_COLUMNS = 110;

export function bannerText(agent: RunningAgent, audience: Audience): string {
  const { info } = agent;
  const rows: (readonly [string, readonly string[]])[] = [
    ["MCP URL", mcpUrl(agent, audience)],
    ...(agent.page === null ? [] : [["Page", page(agent.page, audience)] as const]),
    ...(info.oauth ? [["With OAuth", ["Give the client the MCP URL and nothing else; when it asks, allow it on the page."]] as const] : []),
    ["With a token", token(agent, audience)],
    ["Root", [info.root]],
    ["Tools", [info.tools.join(", ")]],
    ["Confinement", info.confinement],
    ...(info.warnings.length > 0 ? [["Warning", info.warnings] as const] : []),
  ];
  const width = Math.max(...rows.map(([label]) => label.length)) + 2;
  const room = Math.max(40, Math.min(audience.columns, MAX_COLUMNS) - width - 2);
  const lines = rows.flatMap(([label, texts]) =>
    texts.flatMap((text) => wrap(text, room)).map((text, at) => `  ${at === 0 ? paint(label.padEnd(width), audience) : " ".repeat(width)}${text}`),
  );
  return `\npimcp ${info.version} is ready.\n\n${lines.join("\n")}\n\n  Ctrl-C ends it.\n\n`;
}

/** The same for programs: one line of JSON. */
export function bannerJson(agent: RunningAgent, audience: Audience): string {
  const { info } = agent;
  return `${JSON.stringify({
    version: info.version,
    mcpUrl: info.mcpUrls[0],
    mcpUrls: info.mcpUrls,
    relay: info.relay,
    local: agent.local,
    oauth: info.oauth,
    page: audience.isTerminal ? (agent.page?.url ?? null) : null,
    pageFile: agent.page?.file ?? null,
    token: audience.isTerminal ? agent.token.token : null,
    tokenFile: agent.token.file,
    root: info.root,
    tools: info.tools,
    deny: info.deny,
    confinement: info.confinement,
    warnings: info.warnings,
    pid: process.pid,
  })}\n`;
}

function mcpUrl(agent: RunningAgent, { deployCommand }: Audience): readonly string[] {
  const [first = "", ...others] = agent.info.mcpUrls;
  if (!agent.local) return [first, ...others.map((url) => `or ${url}`)];
  return [
    others.length === 0 ? first : `${first} (or ${others.join(", ")})`,
    // Whoever chose --http does without a relay.
    agent.info.relay === ""
      ? "Only clients on this machine can use it."
      : `Only clients on this machine can use it. For a URL that works from anywhere: ${deployCommand}`,
  ];
}

function page(of: { readonly url: string; readonly file: string }, { isTerminal }: Audience): readonly string[] {
  return isTerminal ? [of.url, "Clients are allowed there. Its address is a secret of yours."] : [`open ${of.file} in a browser, or run pimcp open`];
}

function token({ token }: RunningAgent, { isTerminal }: Audience): readonly string[] {
  if (isTerminal) return [`Authorization: Bearer ${token.token}`];
  return [
    token.file === null ? "Authorization: Bearer, with the token given at the start" : `Authorization: Bearer, with the token in ${token.file}`,
  ];
}

function paint(text: string, { colour }: Audience): string {
  return colour ? `\u001B[1m${text}\u001B[0m` : text;
}
