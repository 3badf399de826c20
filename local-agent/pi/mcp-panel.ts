/** `/mcp` in a terminal: the servers with their state, and what can be done with each. Dialogs of Pi, one after the other. */
import type { ExtensionUIContext } from "@earendil-works/pi-coding-agent";
import { visibleBlock, visibleLine } from "../../shared/visible-text.ts";
import { serverReports, totalsOf } from "../adapter/proxy/server-report.ts";
import { runMcpCommand, serverLines } from "./mcp-command.ts";
import type { McpCommandParts } from "./mcp-subcommand.ts";

const RECONNECT_ALL = "Reconnect all";
const CLOSE = "Close";
const BACK = "Back";

/** [PI60] Until the person closes it. */
export async function runPanel(ui: Pick<ExtensionUIContext, "select" | "notify">, parts: McpCommandParts): Promise<void> {
  for (;;) {
    const servers = serverLines(parts);
    const labels = servers.map(({ line }) => visibleLine(line, 200));
    const general = servers.length === 0 ? [CLOSE] : [RECONNECT_ALL, CLOSE];
    const picked = await ui.select(title(parts), [...labels, ...general]);
    if (picked === undefined || picked === CLOSE) return;
    if (picked === RECONNECT_ALL) await say(ui, parts, "reconnect");
    else await serverMenu(ui, parts, servers[labels.indexOf(picked)]?.name ?? "");
  }
}

async function serverMenu(ui: Pick<ExtensionUIContext, "select" | "notify">, parts: McpCommandParts, server: string): Promise<void> {
  const { pool } = parts.adapter;
  const isDisabled = pool.state(server).at === "disabled";
  const hasDirect = parts.adapter.directTools().some(({ entry }) => entry.server === server);
  const actions: Readonly<Record<string, string>> = isDisabled
    ? { Enable: `enable ${server}` }
    : {
        [pool.state(server).at === "connected" ? "Reconnect" : "Connect"]: `reconnect ${server}`,
        Disable: `disable ${server}`,
        [hasDirect ? "Keep its tools behind mcp" : "Show its tools to the model by name"]: `direct ${server} ${hasDirect ? "off" : "on"}`,
      };
  const shown = Object.keys(actions);
  const picked = await ui.select(visibleLine(serverLines(parts).find(({ name }) => name === server)?.line ?? server), [
    ...shown,
    ...(isDisabled ? [] : ["Tools"]),
    BACK,
  ]);
  if (picked === "Tools") ui.notify(toolLines(parts, server), "info");
  const command = picked === undefined ? undefined : actions[picked];
  if (command !== undefined) await say(ui, parts, command);
}

async function say(ui: Pick<ExtensionUIContext, "notify">, parts: McpCommandParts, command: string): Promise<void> {
  const { text, level } = await runMcpCommand(parts, command);
  ui.notify(visibleBlock(text), level);
}

function title({ adapter }: McpCommandParts): string {
  const { config, pool } = adapter;
  const files = config.sources.filter(({ found }) => found).map(({ origin }) => origin.file);
  const { connectedCount } = totalsOf(serverReports(pool, [], 0));
  const warnings = config.warnings.length === 0 ? "" : ` /mcp status shows ${config.warnings.length} warnings.`;
  return `MCP servers: ${pool.servers().length}, ${connectedCount} connected. ${files.length === 0 ? "No file configures any." : `From ${files.map((file) => visibleLine(file, 200)).join(", ")}.`}${warnings}`;
}

function toolLines({ adapter }: McpCommandParts, server: string): string {
  const names = adapter.entries().flatMap((entry) => (entry.server === server ? [visibleLine(entry.displayed, 200)] : []));
  return names.length === 0 ? `Nothing is known of the tools of ${visibleLine(server, 100)} yet: connect first.` : names.join("\n");
}
