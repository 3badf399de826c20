/**
 * Which tool a model means by a name (docs/spec/upstream-catalog.md). A guess between two tools is never made: several that fit equally
 * well are an answer of their own. Pure; whoever asks connects servers and asks again.
 */
import type { ToolPrefix } from "../config/server-definition.ts";
import { serverForm, serverPrefix } from "./names.ts";
import type { ToolSelectors } from "./selectors.ts";
import { suggestEntries } from "./suggest.ts";
import type { CatalogEntry, Freshness } from "./upstream-catalog.ts";

export interface AskedTool {
  readonly name: string;
  /** The server it must be on. */
  readonly server?: string | undefined;
}

export interface ResolvableServer {
  readonly name: string;
  readonly toolPrefix: ToolPrefix;
  /** `backoff`: it failed a moment ago and is not tried again yet; what it offers is not offered meanwhile. */
  readonly standing: "usable" | "disabled" | "backoff";
  /** How what is known of its tools was learned; null: nothing is known. */
  readonly known: Freshness | null;
}

export interface ResolveContext {
  readonly entries: readonly CatalogEntry[];
  readonly selectors: ToolSelectors;
  /** Every configured server, disabled ones included. */
  readonly servers: readonly ResolvableServer[];
  /** Whether the host has a tool of its own by this name. */
  readonly isNative: (name: string) => boolean;
}

export type Resolution =
  | { readonly at: "found"; readonly entry: CatalogEntry }
  /** Several fit; with a server named, on that one. */
  | { readonly at: "ambiguous"; readonly candidates: readonly CatalogEntry[] }
  /** The list of this server's tools is not of now: it may have the tool. Connect, and resolve again. */
  | { readonly at: "connect-first"; readonly server: string }
  | { readonly at: "disabled" | "backoff" | "server-not-found"; readonly server: string }
  /** It is one of the host's own tools, to be called as such. */
  | { readonly at: "native"; readonly name: string }
  | {
      readonly at: "missing";
      readonly suggestions: readonly CatalogEntry[];
      readonly hintServer: string | null;
      /** Usable servers of which nothing is known yet: it could be theirs. */
      readonly unlisted: readonly string[];
    };

export function resolveEntry(asked: AskedTool, context: ResolveContext): Resolution {
  if (asked.server !== undefined && asked.server !== "") return onServer(asked.name, asked.server, context);
  const { name } = asked;
  const found = anywhere(name, context);
  if (found !== null) return found;
  const owner = ownerOf(name, context.servers);
  if (owner !== null) {
    const refused = refusal(owner);
    if (refused !== null) return refused;
  }
  if (context.isNative(name)) return { at: "native", name };
  if (owner !== null && owner.known !== "live") return { at: "connect-first", server: owner.name };
  const unlisted = context.servers.filter(({ standing, known }) => standing === "usable" && known === null);
  return missing(name, context.entries, owner?.name ?? null, unlisted);
}

/** The server whose prefix a name bears: the longest that fits. Null: none, or several. */
function ownerOf<T extends Pick<ResolvableServer, "name" | "toolPrefix">>(name: string, servers: readonly T[]): T | null {
  let longest = 0;
  let owners = new Set<T>();
  for (const server of servers) {
    for (const prefix of prefixesOf(server)) {
      if (prefix.length < longest || prefix === "" || name.length <= prefix.length + 1 || !name.startsWith(`${prefix}_`)) continue;
      if (prefix.length > longest) owners = new Set();
      longest = prefix.length;
      owners.add(server);
    }
  }
  const [owner, other] = owners;
  return other === undefined ? (owner ?? null) : null;
}

function onServer(name: string, asked: string, { entries, selectors, servers }: ResolveContext): Resolution {
  const meant = meantServer(
    asked,
    servers.map((each) => each.name),
  );
  const server = servers.find((each) => each.name === meant);
  if (server === undefined) return { at: "server-not-found", server: asked };
  const refused = refusal(server);
  if (refused !== null) return refused;
  const own = entries.filter((entry) => entry.server === server.name);
  const fits = firstFit(waysToMean(name, selectors), own);
  const [entry, other] = fits;
  if (entry !== undefined) return other === undefined ? { at: "found", entry } : { at: "ambiguous", candidates: fits };
  if (server.known !== "live") return { at: "connect-first", server: server.name };
  return missing(name, own, server.name);
}

/** From the surest to the most forgiving. */
function waysToMean(name: string, selectors: ToolSelectors): readonly ((entry: CatalogEntry) => boolean)[] {
  const folded = fold(name);
  return [
    ({ displayed }) => displayed === name,
    ({ original }) => original === name,
    (entry) => selectors.namesOf(entry).has(name),
    ({ displayed }) => fold(displayed) === folded,
    ({ original }) => fold(original) === folded,
    (entry) => [...selectors.namesOf(entry)].some((each) => fold(each) === folded),
  ];
}

function firstFit(ways: ReturnType<typeof waysToMean>, entries: readonly CatalogEntry[]): CatalogEntry[] {
  for (const way of ways) {
    const fits = entries.filter(way);
    if (fits.length > 0) return fits;
  }
  return [];
}

/** Null: no tool that is known fits. */
function anywhere(name: string, context: ResolveContext): Resolution | null {
  const fits = firstFit(waysToMean(name, context.selectors), context.entries);
  const [entry, other] = fits;
  if (entry === undefined) return null;
  if (other !== undefined) return { at: "ambiguous", candidates: fits };
  // What a server in backoff offers counts when it is the only one: the answer then says why it cannot be called.
  const server = context.servers.find(({ name }) => name === entry.server);
  const refused = server === undefined ? null : refusal(server);
  if (refused !== null) return refused;
  return (entry.displayed === name ? null : rival(name, entry, context)) ?? { at: "found", entry };
}

/**
 * A server can call its tool what another one's is shown as. Whoever asks by such a name and is not known to mean this tool may mean the
 * other, which is only not listed yet, has failed a moment ago, or lost the name in a contest.
 */
function rival(name: string, entry: CatalogEntry, { entries, selectors, servers }: ResolveContext): Resolution | null {
  const folded = fold(name);
  for (const server of servers) {
    if (server.name === entry.server || server.standing === "disabled" || !bearsPrefix(name, server)) continue;
    const refused = refusal(server);
    if (refused !== null) return refused;
    const alike = entries.filter((each) => each.server === server.name && [...selectors.namesOf(each)].some((own) => fold(own) === folded));
    if (alike.length > 0) return { at: "ambiguous", candidates: [entry, ...alike] };
    if (server.known === null || server.known === "stale") return { at: "connect-first", server: server.name };
  }
  return null;
}

function bearsPrefix(name: string, server: ResolvableServer): boolean {
  return [...prefixesOf(server)].some((prefix) => prefix !== "" && name.startsWith(`${prefix}_`));
}

function refusal({ name, standing }: ResolvableServer): Resolution | null {
  return standing === "usable" ? null : { at: standing, server: name };
}

/** By its name, or by the only name that differs in hyphens, underscores, dots or case, or is as it is shown in prefixes. */
export function meantServer(asked: string, names: readonly string[]): string | null {
  if (names.includes(asked)) return asked;
  const folded = fold(asked).toLowerCase();
  const [alike, other] = names.filter((name) => fold(name).toLowerCase() === folded || serverForm(name) === asked);
  return other === undefined ? (alike ?? null) : null;
}

function prefixesOf({ name, toolPrefix }: Pick<ResolvableServer, "name" | "toolPrefix">): Set<string> {
  const prefixes = ([toolPrefix, "server", "short", "mcp"] as const).map((mode) => serverPrefix(name, mode));
  return new Set([...prefixes, ...prefixes.map(fold)]);
}

function fold(name: string): string {
  return name.replaceAll(/[-.]/g, "_");
}

function missing(name: string, entries: readonly CatalogEntry[], hintServer: string | null, unlisted: readonly ResolvableServer[] = []): Resolution {
  return { at: "missing", suggestions: suggestEntries(name, entries, hintServer), hintServer, unlisted: unlisted.map((server) => server.name) };
}
