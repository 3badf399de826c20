/** What a started agent prints, as text. Pure: where it goes decides what may be in it (secrets on a terminal only). */
import type { DeskInfo } from "../../shared/desk.ts";
import { visibleLine } from "../../shared/visible-text.ts";
import type { ClientPair } from "../daemon/client-pair.ts";
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

/** How the person starts us: `pimcp` need not be on the PATH of somebody who has a checkout. */
export function programOf({ deployCommand }: Pick<Audience, "deployCommand">): "npm start --" | "pimcp" {
  return deployCommand === "npm run deploy" ? "npm start --" : "pimcp";
}

/** A sentence, or a line whose spaces are part of it. */
type Text = string | { readonly whole: string };

/** Longer lines are hard to read, however wide the window. */
const MAX_COLUMNS = 110;

export function bannerText(agent: RunningAgent, audience: Audience): string {
  const { info } = agent;
  const rows: (readonly [string, readonly Text[]])[] = [
    ["MCP URL", mcpUrl(agent, audience)],
    ...(agent.page === null ? [] : [["Page", page(agent.page, agent, audience)] as const]),
    ...(info.human ? [["Person", person(agent)] as const] : []),
    ...(info.oauth ? [["With OAuth", ["Give the client the MCP URL and nothing else; when it asks, allow it on the page."]] as const] : []),
    ...(agent.client === null ? [] : [["By hand", byHand(agent.client, audience)] as const]),
    ["With a token", token(agent, audience)],
    ["Root", [info.root]],
    ["Tools", [info.tools.join(", ")]],
    ...(info.mcpServers.length > 0 ? [["MCP servers", mcpServers(info)] as const] : []),
    ["Confinement", info.confinement],
    ...(info.warnings.length > 0 ? [["Warning", info.warnings] as const] : []),
  ];
  const width = Math.max(...rows.map(([label]) => label.length)) + 2;
  const room = Math.max(40, Math.min(audience.columns, MAX_COLUMNS) - width - 2);
  const lines = rows.flatMap(([label, texts]) =>
    texts
      .flatMap((text) => (typeof text === "string" ? wrap(text, room) : [text.whole]))
      .map((text, at) => `  ${at === 0 ? paint(label.padEnd(width), label === "Warning" ? RED : BOLD, audience) : " ".repeat(width)}${text}`),
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
    ...clientJson(agent.client, audience),
    root: info.root,
    tools: info.tools,
    mcpServers: info.mcpServers,
    deny: info.deny,
    human: info.human,
    approve: info.approve,
    waitMs: info.human ? info.waitMs : null,
    confinement: info.confinement,
    warnings: info.warnings,
    pid: process.pid,
  })}\n`;
}

function clientJson(client: ClientPair | null, { isTerminal }: Audience) {
  if (client === null) return { clientId: null, clientSecret: null, clientFile: null, redirects: null };
  const { id, secret, file, redirects } = client;
  return { clientId: id, clientSecret: isTerminal ? secret : null, clientFile: file, redirects };
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

function page(of: { readonly url: string; readonly file: string }, { info }: RunningAgent, audience: Audience): readonly string[] {
  if (!audience.isTerminal) return [`open ${of.file} in a browser, or run ${programOf(audience)} open`];
  const what = info.oauth ? `Clients are allowed${info.human ? " and you talk with them" : ""}` : "You talk with clients";
  return [of.url, `${what} there. Its address is a secret of yours.`];
}

function person({ info }: RunningAgent): readonly string[] {
  const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`;
  const patient = info.patientWaitMs === info.waitMs ? "" : `, ${seconds(info.patientWaitMs)} where its client is known to bear that`;
  return [
    `Clients can say something to you, ask and wait. A call waits up to ${seconds(info.waitMs)}${patient}; what you write later comes with the next.`,
    ...(info.approve.length === 0 ? [] : [`Each call of ${info.approve.join(", ")} waits for your click on the page, and without it does not run.`]),
  ];
}

/** For apps that ask a person for an id and a secret, and say only then which address they return to. */
function byHand({ id, secret, file, redirects }: ClientPair, { isTerminal }: Audience): readonly Text[] {
  const kept = file === null ? "the one given at the start" : `in ${file}`;
  return [
    redirects === null
      ? "For an app that asks for a client id and secret: paste these. Its redirect address needs no setting up: the first time it comes, the page shows it, and your Allow permits it."
      : "For an app that asks for a client id and secret: paste these. Each time it asks, allow it on the page.",
    row("client id", id),
    row("client secret", isTerminal ? secret : kept),
    ...(redirects ?? []).map((address, at) => row(at === 0 ? "redirects to" : "", address)),
  ];
}

function row(name: string, text: string): Text {
  return { whole: `${name.padEnd(15)}${text}` };
}

/** The token on a line of its own: a header that a narrow window broke would be copied broken. */
function token({ token: { token, file } }: RunningAgent, { isTerminal }: Audience): readonly Text[] {
  const kept = file === null ? "the one given at the start" : `in ${file}`;
  return [row("header", "Authorization: Bearer …"), row("token", isTerminal ? token : kept)];
}

const BOLD = "1";
const RED = "1;31";

function paint(text: string, style: string, { colour }: Audience): string {
  return colour ? `\u001B[${style}m${text}\u001B[0m` : text;
}

const SERVER_STATES: Readonly<Record<DeskInfo["mcpServers"][number]["state"], string>> = {
  on: "",
  exposed: " (exposed)",
  waits: " (waits for you on the page)",
  disabled: " (disabled)",
  unusable: " (not usable: pimcp config says why)",
};

/** Names are from files that others may have written. */
function mcpServers({ mcpServers: servers }: DeskInfo): string[] {
  return [`${servers.map(({ name, state }) => `${visibleLine(name, 60)}${SERVER_STATES[state]}`).join(", ")}; through the tool mcp.`];
}
