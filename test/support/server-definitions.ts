/** Definitions and catalogs for tests: a plain server with what the test is about. */
import type { CatalogSource } from "../../local-agent/adapter/catalog/entries.ts";
import type { HeldCatalog, UpstreamCatalog, UpstreamTool } from "../../local-agent/adapter/catalog/upstream-catalog.ts";
import type { ServerDefinition } from "../../local-agent/adapter/config/server-definition.ts";

export function serverDefinition(name: string, fields: Partial<ServerDefinition> = {}): ServerDefinition {
  return {
    name,
    transport: { kind: "stdio", command: "server", args: [], env: {}, cwd: null, inheritEnv: true, plugin: null },
    entry: { command: "server" },
    lifecycle: "lazy",
    idleTimeoutMs: 600_000,
    requestTimeoutMs: null,
    protocolVersion: "legacy",
    exposeResources: true,
    directTools: false,
    toolPrefix: "server",
    includeTools: null,
    excludeTools: [],
    searchKeywords: {},
    approveTools: false,
    debug: false,
    trace: false,
    origins: {},
    projectText: null,
    ...fields,
  };
}

export function upstreamTool(name: string, fields: Partial<UpstreamTool> = {}): UpstreamTool {
  return { name, description: `Does ${name}.`, inputSchema: { type: "object", properties: {} }, ...fields };
}

export function upstreamCatalog(fields: Partial<UpstreamCatalog> = {}): UpstreamCatalog {
  return { tools: [], resources: [], prompts: [], instructions: null, ttlMs: null, cacheScope: null, listedAt: 1_000_000, ...fields };
}

/** An enabled server that listed these tools over a connection that stands. */
export function catalogSource(
  name: string,
  tools: readonly (string | UpstreamTool)[],
  {
    fields = {},
    ...held
  }: { readonly fields?: Partial<ServerDefinition>; readonly freshness?: HeldCatalog["freshness"] } & Partial<UpstreamCatalog> = {},
): CatalogSource {
  const { freshness = "live", ...catalog } = held;
  const listed = tools.map((tool) => (typeof tool === "string" ? upstreamTool(tool) : tool));
  return { definition: serverDefinition(name, fields), held: { freshness, catalog: upstreamCatalog({ tools: listed, ...catalog }) } };
}
