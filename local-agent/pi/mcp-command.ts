/** `/mcp`: what the person can see and do about MCP servers in Pi. Every answer is text, in every mode. */
import { nearest } from "../../shared/nearest.ts";
import type { Adapter } from "../adapter/adapter.ts";
import type { UpstreamConfig } from "../adapter/config/server-definition.ts";
import { serverReports, type ServerReport } from "../adapter/proxy/server-report.ts";
import { configReport } from "../adapter/config/config-report.ts";
import { configText, serverText } from "../adapter/config/config-text.ts";
import { warningLine } from "../adapter/config/warning-line.ts";
import { direct } from "./direct-command.ts";
import { SUBCOMMAND_NAMES } from "./mcp-completions.ts";
import { info, NOTHING, OF_PROGRAM, unknownServer, type CommandAnswer, type McpCommandParts, type Subcommand } from "./mcp-subcommand.ts";
import { token } from "./token-command.ts";

const SUBCOMMANDS: Readonly<Record<(typeof SUBCOMMAND_NAMES)[number], Subcommand>> = {
  status,
  tools: ({ adapter }) => info(toolsText(adapter)),
  prompts: ({ adapter }) => info(promptsText(adapter)),
  reconnect,
  disable: (parts, server) => setDisabled(parts, server, true),
  enable: (parts, server) => setDisabled(parts, server, false),
  direct,
  token,
  config,
  setup: (parts) => later("Guided setup", parts),
  edit: (parts) => later("Editing the files from here", parts),
  logout: (parts) => later("Signing in to MCP servers, and out of them,", parts),
};

/** Runs what was typed after `/mcp`; nothing: the status. */
export async function runMcpCommand(parts: McpCommandParts, typed: string): Promise<CommandAnswer> {
  const [name = "", ...words] = typed.trim().split(/\s+/);
  const subcommand = SUBCOMMAND_NAMES.find((known) => known === (name || "status"));
  if (subcommand === undefined) {
    const near = nearest(name, SUBCOMMAND_NAMES);
    return {
      text: `/mcp has no ${name}${near === undefined ? "" : `; did you mean ${near}?`} It knows: ${SUBCOMMAND_NAMES.join(", ")}.`,
      level: "error",
    };
  }
  return SUBCOMMANDS[subcommand](parts, words.length === 0 ? undefined : words.join(" "));
}

async function reconnect({ adapter, signal }: McpCommandParts, server: string | undefined): Promise<CommandAnswer> {
  const { pool } = adapter;
  const all = pool.servers().filter((name) => pool.state(name).at !== "disabled");
  if (server !== undefined && !pool.servers().includes(server)) return unknownServer(server, pool.servers());
  const lines = await Promise.all(
    (server === undefined ? all : [server]).map(async (name) => {
      const connected = await pool.connect(name, { signal, caller: { kind: "pi" }, ignoreBackoff: true, replace: true });
      return `${name}: ${connected.ok ? `connected, ${toolCount(adapter, name)}` : connected.error.message}`;
    }),
  );
  return info(lines.length === 0 ? NOTHING : lines.join("\n"));
}

async function setDisabled({ adapter, edits }: McpCommandParts, server: string | undefined, disabled: boolean): Promise<CommandAnswer> {
  const word = disabled ? "disable" : "enable";
  if (edits === null) return { text: `/mcp ${word} is not available here: ${OF_PROGRAM}`, level: "warning" };
  if (server === undefined) return { text: `Name a server: /mcp ${word} <server>.`, level: "error" };
  if (!adapter.pool.servers().includes(server)) return unknownServer(server, adapter.pool.servers());
  try {
    const file = await edits.setDisabled(server, disabled);
    return info(`${server} is ${disabled ? "disabled" : "enabled"} in ${file}. Run /reload to apply it.`);
  } catch (error) {
    return { text: error instanceof Error ? error.message : String(error), level: "error" };
  }
}

/** [PI79] As `pimcp config` says it, for the session as it was read. */
function config({ adapter, home }: McpCommandParts, server: string | undefined): CommandAnswer {
  const report = configReport(adapter.config);
  if (server === undefined) return info(configText(report, home).trimEnd());
  const found = report.servers.find(({ name }) => name === server);
  return found === undefined ? unknownServer(server, adapter.pool.servers()) : info(serverText(found, home));
}

function status(parts: McpCommandParts): CommandAnswer {
  const { config } = parts.adapter;
  const lines = serverLines(parts).map(({ line }) => line);
  const warnings = config.warnings.map(warningLine);
  return info([...(lines.length === 0 ? [NOTHING] : lines), ...foundHosts(config), ...warnings].join("\n"));
}

/** [PI70] Other programs' files that were looked for and are not used, with the names that would not come from there anyway. */
function foundHosts({ servers, settings, sources }: UpstreamConfig): readonly string[] {
  if (settings.hostConfigDiscovery !== "prompt") return [];
  return sources.flatMap(({ origin, found, servers: names }) => {
    if (origin.layer !== "host" || !found || names.length === 0) return [];
    const shown = names.map((name) => `${name}${servers.has(name) ? " (configured already)" : ""}`);
    return [`Found and not used: ${origin.file} with ${shown.join(", ")}. "imports" or "hostConfigDiscovery": "on" uses it.`];
  });
}

/** Each server: how it stands, what it offers, which files say so. */
export function serverLines({ adapter, now }: McpCommandParts): readonly { readonly name: string; readonly line: string }[] {
  return serverReports(adapter.pool, adapter.entries(), now()).map((report) => ({ name: report.name, line: serverLine(adapter, report) }));
}

function serverLine({ pool }: Adapter, { name, status, toolCount, failedAgoSeconds, cause }: ServerReport): string {
  const ago = failedAgoSeconds === null || status !== "failed" ? "" : ` ${failedAgoSeconds} s ago`;
  const why = cause === null || status === "untrusted" ? "" : `: ${cause}`;
  return `${name}: ${standing(pool, name, status)}${ago}, ${counted(toolCount)}${originText(pool, name)}${why}`;
}

function toolCount(adapter: Adapter, name: string): string {
  return counted(adapter.entries().filter(({ server }) => server === name).length);
}

function counted(tools: number): string {
  return `${tools} ${tools === 1 ? "tool" : "tools"}`;
}

function standing(pool: Adapter["pool"], name: string, status: ServerReport["status"]): string {
  const state = pool.state(name);
  if (state.at === "connected") return `connected (${state.facts.protocolVersion}, ${state.facts.wire})`;
  if (state.at === "untrusted" && !state.denied) return "of this project, which Pi does not trust; /trust changes that for the next start";
  return STANDING[status];
}

const STANDING: Readonly<Record<ServerReport["status"], string>> = {
  connected: "connected",
  connecting: "connecting",
  cached: "not connected",
  "not-connected": "not connected",
  failed: "failed",
  "needs-auth": "needs a login",
  disabled: "disabled",
  untrusted: "not allowed to run",
  invalid: "not usable",
};

function originText(pool: Adapter["pool"], server: string): string {
  const files = new Set(Object.values(pool.definition(server)?.origins ?? {}).map(({ file }) => file));
  return files.size === 0 ? "" : ` (${[...files].join(", ")})`;
}

function toolsText(adapter: Adapter): string {
  const names = adapter.entries().map(({ displayed }) => displayed);
  return names.length === 0 ? "No tools are known yet. Connect with /mcp reconnect." : names.join("\n");
}

function promptsText(adapter: Adapter): string {
  const lines = adapter.promptCommands().map(({ command, prompt }) => {
    const args = (prompt.arguments ?? []).map(({ name, required }) => (required === true ? `<${name}>` : `[${name}]`)).join(" ");
    return `/${command}${args === "" ? "" : ` ${args}`}${prompt.description === undefined ? "" : `: ${prompt.description}`}`;
  });
  return lines.length === 0 ? "No prompts are known yet. Connect with /mcp reconnect." : lines.join("\n");
}

function later(what: string, { edits }: McpCommandParts): CommandAnswer {
  if (edits === null) return { text: `${what} is not available here: ${OF_PROGRAM}`, level: "warning" };
  return { text: `${what} comes in a later version. Edit .mcp.json or ~/.config/mcp/mcp.json instead, then run /reload.`, level: "warning" };
}
