/** A configuration in words: each server, each field, the file that set it, and what is wrong. Pure. */
import { visibleLine } from "../../../shared/visible-text.ts";
import type { ConfigReport, ReportedField, ReportedServer } from "./config-report.ts";

/** Everything, for a terminal. @param home absolute: what `~` stands for */
export function configText({ servers, settings, settingsNeedTrust, sources, warnings }: ConfigReport, home: string): string {
  const path = pathsBelow(home);
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

/** One server: each field with the file that set it. */
export function serverText(server: ReportedServer, home: string): string {
  return [heading(server), ...fieldLines(server.fields, pathsBelow(home))].join("\n");
}

function pathsBelow(home: string): (file: string) => string {
  const isBelow = (file: string): boolean => file.startsWith(home) && /^[/\\]/.test(file.slice(home.length));
  return (file) => visibleLine(isBelow(file) ? `~${file.slice(home.length)}` : file, 300);
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
