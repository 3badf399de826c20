/** `mcp({search})`: tools found by words or by a pattern, a page at a time. */
import type { AdapterCall, AdapterResult } from "../../adapter.ts";
import type { Page } from "../../catalog/search-page.ts";
import type { CatalogEntry } from "../../catalog/upstream-catalog.ts";
import type { SearchHit } from "../../catalog/search.ts";
import { describeParameters } from "../../catalog/describe-parameters.ts";
import type { Result } from "../../../../shared/result.ts";
import { err, ok } from "../../../../shared/result.ts";
import { findHostTools } from "../host-tools.ts";
import type { ProxyParts } from "../proxy-parts.ts";
import { disabledFailure, noSuchServer, quoted, serverNamed, waitsForRetry } from "../proxy-parts.ts";
import type { SearchMode } from "../proxy-request.ts";
import { foundLines, takesNothing, toolLine } from "../tool-lines.ts";
import { answerProblem, answerText } from "./answer.ts";

export type FoundPage = Page<SearchHit>;
export interface SearchProblem {
  readonly code: string;
  readonly message: string;
}

/** What both `mcp` and a script search with. The server is checked here. */
export async function findTools(
  asked: { readonly query: string; readonly server: string | undefined; readonly regex: boolean; readonly limit: number; readonly offset: number },
  parts: ProxyParts,
): Promise<Result<FoundPage, SearchProblem>> {
  const { query, limit, offset } = asked;
  const server = asked.server === undefined ? undefined : serverNamed(asked.server, parts);
  if (server === null) return err({ code: "server_not_found", message: noSuchServer(asked.server ?? "", parts) });
  const standing = parts.view.servers().find(({ name }) => name === server)?.standing;
  if (server !== undefined && standing === "disabled") return err(disabledFailure(server, parts));
  if (server !== undefined && standing === "backoff") return err(waitsForRetry(server, parts));
  const { entries, index } = parts.view.offered();
  if (!asked.regex) return ok((await index()).search({ query, server, limit, offset }));
  const { regexSearch } = await import("../../catalog/regex-search.ts");
  const found = regexSearch(entries, { pattern: query, server, limit, offset });
  return found.ok ? ok({ ...found.value, hits: found.value.hits.map((entry) => ({ entry, score: 0 })) }) : found;
}

export async function searchMode(asked: SearchMode, parts: ProxyParts, { caller }: Pick<AdapterCall, "caller">): Promise<AdapterResult> {
  const details = { mode: "search", query: asked.query, ...(asked.server === undefined ? {} : { server: asked.server }) };
  const found = await findTools(asked, parts);
  if (!found.ok) return answerProblem(parts.presenter, found.error, details);
  const { hits, total, nextOffset } = found.value;
  // [CL56] A remote client does not have the tools of the host, and knows its own.
  const own = caller.kind === "pi" ? await findHostTools(parts.hostTools(), asked) : [];
  const connectingServers = parts.pool.connecting();
  const activated = hits.flatMap(({ entry }) => (parts.pool.definition(entry.server)?.directTools === "search" ? [entry.displayed] : []));
  return answerText(parts.presenter, [...own.map(ownLine), textOf(asked, found.value, own.length > 0, parts)].join("\n"), {
    ...details,
    matches: hits.map(({ entry, score }) => ({ server: entry.server, tool: entry.displayed, score })),
    count: hits.length,
    total,
    hasMore: nextOffset !== null,
    nextOffset,
    ...(connectingServers.length === 0 ? {} : { connectingServers }),
    ...(own.length === 0 ? {} : { hostTools: own.map(({ displayed }) => displayed) }),
    ...(activated.length === 0 ? {} : { activated }),
  });
}

function ownLine(entry: CatalogEntry): string {
  return `[pi tool] ${toolLine(entry)}`;
}

function textOf(asked: SearchMode, { hits, total, nextOffset }: FoundPage, isAnswered: boolean, parts: ProxyParts): string {
  const notes = [...(nextOffset === null ? [] : [`More: offset ${nextOffset}.`]), ...oldLists(hits), ...absentees(parts)];
  if (hits.length === 0) {
    const none =
      total > 0
        ? `There are ${total} tools in all, and none from offset ${asked.offset} on.`
        : `No ${isAnswered ? "MCP " : ""}tool was found for ${quoted(asked.query)}.`;
    return [none, ...notes, ...(total > 0 ? [] : ["Other words may help; mcp({}) lists the servers."])].join("\n");
  }
  const found = hits.map(({ entry }) => foundLines(entry, asked.includeSchemas ? parametersOf(entry) : null));
  const head = total > hits.length ? `${hits.length} of ${total} tools:` : `${total} ${total === 1 ? "tool" : "tools"}:`;
  return [head, ...found, ...(notes.length === 0 ? [] : ["", ...notes])].join("\n");
}

/** [CL63] One tool with a manual for parameters must not push the others out of sight. */
const PARAMETER_CHARS = 1_500;

function parametersOf({ inputSchema, displayed }: CatalogEntry): string | null {
  if (takesNothing(inputSchema)) return null;
  const { text } = describeParameters(inputSchema);
  return text.length <= PARAMETER_CHARS ? text : `(many parameters: mcp({describe: ${JSON.stringify(displayed)}}))`;
}

/** [CL68] Once for all of them: before a server is connected, most lists are such. */
function oldLists(hits: readonly SearchHit[]): readonly string[] {
  const servers = [...new Set(hits.flatMap(({ entry }) => (entry.freshness === "stale" ? [entry.server] : [])))];
  return servers.length === 0 ? [] : [`From an old list, which a call makes anew: ${names(servers)}.`];
}

/** [CL61] Whose tools could not be among those found, and why. */
function absentees({ pool, view }: ProxyParts): readonly string[] {
  const connecting = pool.connecting().filter((name) => pool.held(name) === null);
  const locked = view.unlisted().filter((name) => pool.state(name).at === "needs-auth");
  const unlisted = view.unlisted().filter((name) => !connecting.includes(name) && !locked.includes(name));
  const failed = view.inBackoff();
  return [
    ...(connecting.length === 0 ? [] : [`Still connecting, search again in a moment: ${names(connecting)}.`]),
    ...(unlisted.length === 0 ? [] : [`Not looked into yet: ${names(unlisted)}; mcp({connect: "name"}) lists one's tools.`]),
    ...(locked.length === 0 ? [] : [`Left out, because it wants a login: ${names(locked)}.`]),
    ...(failed.length === 0 ? [] : [`Left out, because it failed a moment ago: ${names(failed)}.`]),
  ];
}

function names(servers: readonly string[]): string {
  const shown = servers.slice(0, 20).map(quoted).join(", ");
  return servers.length > 20 ? `${shown} and ${servers.length - 20} more` : shown;
}
