/** What one upstream server offers, as it was listed, and how fresh that list is. */
import type { Prompt, Resource, Tool } from "@modelcontextprotocol/client";

export type UpstreamTool = Tool;
export type UpstreamResource = Resource;
export type UpstreamPrompt = Prompt;

export interface UpstreamCatalog {
  readonly tools: readonly UpstreamTool[];
  readonly resources: readonly UpstreamResource[];
  readonly prompts: readonly UpstreamPrompt[];
  /** The server's own guidance; null: it gave none. */
  readonly instructions: string | null;
  /** `ttlMs` of `tools/list`; null: none was given. */
  readonly ttlMs: number | null;
  readonly cacheScope: "public" | "private" | null;
  /** When it was listed, in milliseconds since the epoch. */
  readonly listedAt: number;
}

/**
 * `live`: listed over the present connection. `cached`: kept from an earlier one and still valid. `stale`: kept, past its time or of a server
 * that gives none (`ttlMs` 0 or absent in a modern answer); usable as an index, listed again on the next connection.
 */
export type Freshness = "live" | "cached" | "stale";

export interface HeldCatalog {
  readonly catalog: UpstreamCatalog;
  readonly freshness: Freshness;
}

/** Something a model can call: a tool of an upstream, or one of its resources as a tool. */
export interface CatalogEntry {
  readonly server: string;
  /** The upstream's name of the tool; of a resource the generated `read_…`. */
  readonly original: string;
  /** The name under which it is shown and called, unique over all servers. */
  readonly displayed: string;
  readonly kind: "tool" | "resource";
  /** Only of a resource. */
  readonly resourceUri: string | null;
  readonly title: string | null;
  readonly description: string;
  /** JSON Schema of the arguments; an object schema always. */
  readonly inputSchema: UpstreamTool["inputSchema"];
  readonly outputSchema: UpstreamTool["outputSchema"] | null;
  readonly annotations: UpstreamTool["annotations"] | null;
  /** Its server runs it as an MCP task and in no other way. */
  readonly onlyAsTask?: true;
  /** Extra words it is found by. */
  readonly keywords: readonly string[];
  readonly freshness: Freshness;
}
