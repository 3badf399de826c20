/**
 * What `mcp:` references in other packages' files (a subagent's list of tools) mean here, and which server a tool's name is of. One that
 * means nothing is said loudly: an agent that silently has no tools is worse than one that does not start. Pure.
 */
import { visibleLine } from "../../../shared/visible-text.ts";
import type { ToolPrefix } from "../config/server-definition.ts";
import type { NamespaceProxy, SelectedTool } from "./direct-selection.ts";
import { serverPrefix } from "./names.ts";
import type { ToolSelectors } from "./selectors.ts";
import type { CatalogEntry } from "./upstream-catalog.ts";

export interface McpReference {
  readonly raw: string;
  readonly server?: string;
  readonly tool?: string;
}

/** `mcp:server` or `mcp:server/tool`. Neither part: it is no such reference, or an empty one. */
export function parseMcpReference(raw: string): McpReference {
  if (!raw.startsWith(SCHEME)) return { raw };
  const rest = raw.slice(SCHEME.length);
  const slash = rest.indexOf("/");
  const server = (slash < 0 ? rest : rest.slice(0, slash)).trim();
  const tool = slash < 0 ? "" : rest.slice(slash + 1).trim();
  return { raw, ...(server === "" ? {} : { server }), ...(tool === "" ? {} : { tool }) };
}

const SCHEME = "mcp:";

/** The server whose prefix the name bears, the longest if several do. Undefined: none, two with the same one, or without prefixes. */
export function resolveServerFromToolName(toolName: string, serverNames: readonly string[], prefix: ToolPrefix): string | undefined {
  const owners = serverNames
    .map((server) => ({ server, prefix: serverPrefix(server, prefix) }))
    .filter((owner) => owner.prefix !== "" && toolName.startsWith(`${owner.prefix}_`))
    .toSorted((a, b) => b.prefix.length - a.prefix.length);
  const [first, second] = owners;
  return first?.prefix === second?.prefix ? undefined : first?.server;
}

/** What is registered, to be referred to. */
export interface ReferenceSurface {
  /** Names of the configured servers, disabled ones included. */
  readonly servers: readonly string[];
  readonly entries: readonly CatalogEntry[];
  readonly selectors: ToolSelectors;
  readonly direct: readonly SelectedTool[];
  readonly namespaces: readonly NamespaceProxy[];
}

/** References as names of registered tools, each once, in their order; a sentence for each that means none. */
export function resolveMcpToolReferences(
  references: readonly string[],
  surface: ReferenceSurface,
): { readonly names: readonly string[]; readonly diagnostics: readonly string[] } {
  const names = new Set<string>();
  const diagnostics: string[] = [];
  for (const raw of references) {
    const meant = raw.startsWith(SCHEME) ? namesMeant(parseMcpReference(raw), surface) : [raw];
    if (typeof meant === "string") diagnostics.push(`The reference "${visibleLine(raw, 200)}" ${meant}`);
    else for (const name of meant) names.add(name);
  }
  return { names: [...names], diagnostics };
}

/** The names, or what is wrong. */
function namesMeant({ server, tool }: McpReference, surface: ReferenceSurface): readonly string[] | string {
  if (server === undefined) return 'names no server: "mcp:server" or "mcp:server/tool" was expected.';
  const isServer = surface.servers.includes(server);
  if (!isServer && tool !== undefined) return `names a server that is not configured. Configured are: ${listed(surface.servers)}.`;
  // Without such a server the one part can be a tool's name.
  const pattern = isServer ? tool : server;
  const own = isServer ? surface.entries.filter((entry) => entry.server === server) : surface.entries;
  const wanted = pattern === undefined ? own : own.filter((entry) => surface.selectors.matches(entry, [pattern]));
  if (wanted.length === 0) return nothingSaid(isServer, own.length > 0);
  const names = registeredNames(new Set(wanted), surface);
  return names.length > 0 ? names : 'means tools that are not registered by a name of their own; list the server under "directTools".';
}

function nothingSaid(isServer: boolean, isKnown: boolean): string {
  if (!isServer) return "means neither a configured server nor a known tool.";
  return isKnown
    ? "names a tool that the server does not have, or that is hidden by its filters."
    : 'means a server of which no tool is known: it is disabled, or has to be connected once (mcp({ connect: "…" })).';
}

/** Their own names, and the tools of the servers whose others can be reached in no other way. */
function registeredNames(wanted: ReadonlySet<CatalogEntry>, { direct, namespaces }: ReferenceSurface): string[] {
  const own = direct.filter(({ entry }) => wanted.has(entry));
  const reached = new Set(own.map(({ entry }) => entry));
  const others = new Set([...wanted].filter((entry) => !reached.has(entry)).map(({ server }) => server));
  const proxies = namespaces.filter(({ server }) => others.has(server));
  return [...own.map(({ entry }) => entry.displayed), ...proxies.map(({ name }) => name)];
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? "none" : visibleLine(names.join(", "), 300);
}
