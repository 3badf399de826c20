/** `mcp:` references of other packages over a configuration and a metadata cache, as those packages hold them. */
import { createHash } from "node:crypto";
import type { JsonObject, JsonValue } from "../../../shared/json.ts";
import { isJsonObject } from "../../../shared/json.ts";
import { namespaceProxies, parseDirectOverride, selectDirect } from "../../adapter/catalog/direct-selection.ts";
import { catalogEntries } from "../../adapter/catalog/entries.ts";
import { namespaceProxyName as proxyName } from "../../adapter/catalog/names.ts";
import { resolveMcpToolReferences as resolveReferences } from "../../adapter/catalog/references.ts";
import { freshnessOf, fromFileEntry } from "../../adapter/catalog/stored-catalog.ts";
import type { HeldCatalog } from "../../adapter/catalog/upstream-catalog.ts";
import { readConfigDocument } from "../../adapter/config/config-document.ts";
import { mergeLayers } from "../../adapter/config/merge.ts";
import type { ServerDefinition, UpstreamConfig } from "../../adapter/config/server-definition.ts";
import { computeServerHash } from "./metadata-cache.ts";

export function namespaceProxyName(server: string): string {
  return proxyName(server, sha256);
}

/**
 * @param config as `mcp.json` has it; null: none
 * @param cache as `mcp-cache.json` has it; null: nothing is known yet
 * @param directTools as `MCP_DIRECT_TOOLS` has it, in parts; undefined: what the configuration says
 */
export function resolveMcpToolReferences(
  references: readonly string[],
  config: object | null,
  cache: object | null,
  directTools?: readonly string[],
): { readonly names: readonly string[]; readonly diagnostics: readonly string[] } {
  const { servers, settings } = merged((config ?? {}) as JsonObject);
  const enabled = [...servers.values()].flatMap((server) => (server.state === "enabled" ? [server.definition] : []));
  const sources = enabled.map((definition) => ({ definition, held: heldOf(definition, cache as JsonObject | null) }));
  const { entries, selectors } = catalogEntries(sources);
  const direct = selectDirect({
    servers: sources.map(({ definition: { name, directTools: wanted }, held }) => ({ name, directTools: wanted, isListed: held !== null })),
    entries,
    selectors,
    override: parseDirectOverride(directTools?.join(",")),
    isReserved: () => false,
  }).tools;
  const namespaces = settings.namespaceProxyTools ? namespaceProxies(entries, direct, { sha256, isReserved: () => false }) : [];
  return resolveReferences(references, { servers: [...servers.keys()], entries, selectors, direct, namespaces });
}

function merged(config: JsonObject): UpstreamConfig {
  const origin = { layer: "memory", file: "the given configuration" } as const;
  const layer = { origin, inProject: false, document: readConfigDocument(structuredClone(config)), plugin: null };
  return mergeLayers([layer], { env: process.env, project: process.cwd(), projectSettings: "use", warnings: [], sources: [] });
}

/** Null: nothing is known of the server as it is configured now. */
function heldOf({ name, entry }: ServerDefinition, cache: JsonObject | null): HeldCatalog | null {
  const servers: JsonValue | undefined = cache?.["servers"];
  const stored = isJsonObject(servers) && Object.hasOwn(servers, name) ? fromFileEntry(servers[name]) : null;
  if (stored === null || stored.configHash !== computeServerHash(entry)) return null;
  return { catalog: stored.catalog, freshness: freshnessOf(stored.catalog, Date.now()) };
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
