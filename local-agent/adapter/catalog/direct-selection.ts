/** Which tools are offered by their own names, beside the one proxy tool (docs/spec/upstream-catalog.md). Pure. */
import { visibleLine } from "../../../shared/visible-text.ts";
import type { DirectTools } from "../config/server-definition.ts";
import type { CatalogWarning } from "./entries.ts";
import { namespaceProxyName } from "./names.ts";
import type { ToolSelectors } from "./selectors.ts";
import type { CatalogEntry } from "./upstream-catalog.ts";

/** An enabled server. */
interface DirectServer {
  readonly name: string;
  readonly directTools: DirectTools;
  /** Whether its tools are known, connected or not. */
  readonly isListed: boolean;
}

export interface DirectChoice {
  readonly servers: readonly DirectServer[];
  readonly entries: readonly CatalogEntry[];
  readonly selectors: ToolSelectors;
  /** Takes the place of what the servers configure; null: it does not. */
  readonly override: DirectOverride | null;
  /** Names the host has tools of its own by; the built-in ones are known here. */
  readonly isReserved: (name: string) => boolean;
}

export interface SelectedTool {
  readonly entry: CatalogEntry;
  /** False: registered, but shown only after a search found it. */
  readonly shown: boolean;
}

export interface DirectSelection {
  readonly tools: readonly SelectedTool[];
  /** Servers with tools to be offered that are not known yet. */
  readonly awaited: readonly string[];
  readonly warnings: readonly CatalogWarning[];
}

/** Tools by server: `"all"`, or names of its tools. Nothing in it: no tool is direct. */
export type DirectOverride = ReadonlyMap<string, "all" | readonly string[]>;

/** Tools of Pi, which remote clients have by the same names. */
export const PI_TOOLS: ReadonlySet<string> = new Set(["read", "bash", "powershell", "edit", "write", "grep", "find", "ls"]);
/** Those and ours: whoever replaced one of these would be called in its place. */
const BUILT_IN: ReadonlySet<string> = new Set([...PI_TOOLS, "mcp", "mcpScript"]);
/** The most that every model provider takes; with one longer name some refuse the whole request. */
const MAX_NAME = 64;

/** `MCP_DIRECT_TOOLS`: `server`, `server/tool` or `__none__`, separated by commas. Null: not set. */
export function parseDirectOverride(text: string | undefined): DirectOverride | null {
  const parts = (text ?? "").split(",").map((part) => part.trim());
  if (parts.every((part) => part === "")) return null;
  const chosen = new Map<string, "all" | readonly string[]>();
  for (const part of parts) {
    const [, server = "", tool = ""] = /^([^/]*)\/?(.*)$/s.exec(part) ?? [];
    if (server === "" || server === NONE) continue;
    const before = chosen.get(server) ?? [];
    chosen.set(server, tool === "" || before === "all" ? "all" : [...before, tool]);
  }
  return chosen;
}

const NONE = "__none__";

export function selectDirect(choice: DirectChoice): DirectSelection {
  const warnings = unknownServers(choice);
  const tools: SelectedTool[] = [];
  const awaited: string[] = [];
  const byServer = Map.groupBy(choice.entries, ({ server }) => server);
  for (const server of choice.servers) {
    const wanted = wantedOf(server, choice.override);
    if (wanted === false || (typeof wanted === "object" && wanted.length === 0)) continue;
    if (!server.isListed) {
      awaited.push(server.name);
      continue;
    }
    const own = byServer.get(server.name) ?? [];
    const { taken, idle } = meant(own, wanted, choice.selectors);
    const reasons = idle.map((name) => `No tool of it is "${line(name)}", which is to be offered directly.`);
    for (const entry of taken) {
      const reason = refusalOf(entry.displayed, choice.isReserved);
      if (reason === null) tools.push({ entry, shown: wanted !== "search" });
      else reasons.push(`"${line(entry.displayed)}" ${reason}; it can be called through "mcp".`);
    }
    if (choice.override !== null && own.length === 0) reasons.push("It is to be offered directly and has no tool that is.");
    warnings.push(...reasons.map((message) => ({ server: server.name, message })));
  }
  return { tools, awaited, warnings };
}

/** A tool that stands for all of one server's. */
export interface NamespaceProxy {
  readonly name: string;
  readonly server: string;
}

/**
 * One for each server with known tools of which some are not offered by their own names. Two servers that would get one name get none, and
 * no other tool's name is taken.
 */
export function namespaceProxies(
  entries: readonly CatalogEntry[],
  direct: readonly SelectedTool[],
  options: { readonly sha256: (text: string) => string; readonly isReserved: (name: string) => boolean },
): readonly NamespaceProxy[] {
  const shown = new Set(direct.filter((tool) => tool.shown).map(({ entry }) => entry));
  const names = new Set(direct.map(({ entry }) => entry.displayed));
  const servers = [...new Set(entries.filter((entry) => !shown.has(entry)).map(({ server }) => server))];
  const wanted = Map.groupBy(servers, (server) => namespaceProxyName(server, options.sha256));
  return [...wanted].flatMap(([name, [server, other]]) => {
    const isFree = other === undefined && !names.has(name) && !options.isReserved(name);
    return server !== undefined && isFree ? [{ name, server }] : [];
  });
}

function unknownServers({ override, servers }: DirectChoice): CatalogWarning[] {
  const known = new Set(servers.map(({ name }) => name));
  const unknown = [...(override?.keys() ?? [])].filter((name) => !known.has(name));
  return unknown.map((server) => ({ server, message: "Its tools are to be offered directly, but no enabled server is called so." }));
}

function wantedOf({ name, directTools }: DirectServer, override: DirectOverride | null): DirectTools {
  if (override === null) return directTools;
  const chosen = override.get(name);
  return chosen === undefined ? false : chosen === "all" || chosen;
}

/** `idle`: what was named and means no tool. */
function meant(
  own: readonly CatalogEntry[],
  wanted: DirectTools,
  selectors: ToolSelectors,
): { taken: readonly CatalogEntry[]; idle: readonly string[] } {
  if (typeof wanted !== "object") return { taken: own, idle: [] };
  return {
    taken: own.filter((entry) => selectors.matches(entry, wanted)),
    idle: wanted.filter((name) => !own.some((entry) => selectors.matches(entry, [name]))),
  };
}

function refusalOf(name: string, isReserved: (name: string) => boolean): string | null {
  if (BUILT_IN.has(name) || isReserved(name)) return "is the name of another tool here and is not offered directly";
  return name.length > MAX_NAME ? `is longer than ${MAX_NAME} characters and is not offered directly` : null;
}

function line(text: string): string {
  return visibleLine(text, 100);
}
