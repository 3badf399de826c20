/** `pimcp config`: the upstream servers of a project and where each word of them comes from, as text for people or as JSON. */
import { statSync } from "node:fs";
import { resolve, sep } from "node:path";
import { visibleLine } from "../../shared/visible-text.ts";
import { configReport, type ConfigReport, type ReportedField, type ReportedServer } from "../adapter/config/config-report.ts";
import { expandHome } from "../adapter/config/expansion.ts";
import { EXIT, StartFailure, type ExitCode } from "../daemon/start-failure.ts";
import { createConfigFiles } from "../node/config-files.ts";
import { CONFIG_HELP, type ConfigOrder } from "./config-arguments.ts";
import { jsonLine } from "./json-line.ts";

export interface ConfigSurroundings {
  readonly cwd: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
  readonly show: (text: string) => void;
}

/** Throws `StartFailure` when there is no such directory. */
export async function runConfigCommand(order: ConfigOrder, around: ConfigSurroundings): Promise<ExitCode> {
  const { cwd, home, env, platform, show } = around;
  if (order.kind === "help") {
    show(CONFIG_HELP);
    return EXIT.asked;
  }
  const root = resolve(cwd, expandHome(order.root ?? (env["PI_AS_MCP_ROOT"] || "."), home));
  if (!isDirectory(root)) throw new StartFailure(`There is no directory ${visibleLine(root, 300)}: name the project's with --root.`);
  const configPath = order.configFile === null ? {} : { configPath: resolve(cwd, expandHome(order.configFile, home)) };
  // Everything is shown as it would be once it is trusted; what needs trust is marked.
  const config = await createConfigFiles({ cwd: root, home, env, platform, ...configPath, trustsProjectSettings: () => true }).load();
  const report = configReport(config);
  show(order.json ? jsonLine({ root, ...report }) : reportText(report, home));
  return EXIT.asked;
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Pure. `home`: what `~` stands for. */
function reportText({ servers, settings, settingsNeedTrust, sources, warnings }: ConfigReport, home: string): string {
  const path = (file: string): string => visibleLine(file.startsWith(`${home}${sep}`) ? `~${file.slice(home.length)}` : file, 300);
  const lines: string[] = [];
  if (servers.length === 0) lines.push("No MCP server is configured.", "");
  for (const server of servers) lines.push(heading(server), ...fieldLines(server.fields, path), "");
  if (settings.length > 0)
    lines.push(settingsNeedTrust ? "Settings  (the project's are used once you allow them)" : "Settings", ...fieldLines(settings, path), "");
  lines.push("Files, the later ones go before the earlier");
  const own = new Set(sources.filter(({ origin }) => origin.layer !== "host").flatMap(({ servers: names }) => names));
  for (const source of sources) lines.push(`  ${path(source.origin.file)}  ${sourceText(source, own)}`);
  if (warnings.length > 0) lines.push("", "Warnings");
  for (const { file, server, message } of warnings) {
    lines.push(`  ${path(file)}${server === null ? "" : `, ${visibleLine(server, 200)}`}: ${visibleLine(message, 600)}`);
  }
  return `${lines.join("\n")}\n`;
}

const LAYERS: Readonly<Record<string, string>> = { import: ", imported", plugin: ", Agent Plugin" };

/** Of a host nobody imported: which names it has, because those that are configured too stay as they are. */
function sourceText({ origin, found, servers: names }: ConfigReport["sources"][number], own: ReadonlySet<string>): string {
  if (!found) return "not there";
  if (origin.layer === "host") {
    const shown = names.map((name) => `${visibleLine(name, 200)}${own.has(name) ? " (configured already)" : ""}`);
    return `found: ${shown.length === 0 ? "no servers" : shown.join(", ")}`;
  }
  return `${names.length} ${names.length === 1 ? "server" : "servers"}${LAYERS[origin.layer] ?? ""}`;
}

function heading({ name, state, problem, needsTrust }: ReportedServer): string {
  const marks = [
    ...(state === "enabled" ? [] : [state]),
    ...(problem === null ? [] : [visibleLine(problem, 600)]),
    ...(needsTrust ? ["from the project: runs for a remote client once you allow it"] : []),
  ];
  return marks.length === 0 ? visibleLine(name, 200) : `${visibleLine(name, 200)}  (${marks.join("; ")})`;
}

function fieldLines(fields: readonly ReportedField[], path: (file: string) => string): string[] {
  const columns = Math.max(0, ...fields.map(({ name }) => name.length));
  return fields.map(({ name, value, origin }) => `  ${visibleLine(name, 100).padEnd(columns)}  ${visibleLine(value, 1000)}  — ${path(origin.file)}`);
}
