/** What `import … from "pi-relay/metadata-cache"` gives. */
import type { MetadataCache, ServerCacheEntry, ServerEntry } from "./types.js";

/** `mcp-cache.json` in Pi's directory. */
export declare function getMetadataCachePath(): string;

/** Null: there is none, or it is of another kind or version. */
export declare function loadMetadataCache(): MetadataCache | null;

/** @param env what its placeholders mean; this process's without it */
export declare function computeServerHash(definition: ServerEntry, env?: Readonly<Record<string, string | undefined>>): string;

/**
 * Whether it is of the server as it is configured, and not too old: a week, or as long as the server said.
 * @param maxAgeMs less than that; 0 or less: no other bound
 */
export declare function isServerCacheValid(
  entry: ServerCacheEntry,
  definition: ServerEntry,
  maxAgeMs?: number,
  env?: Readonly<Record<string, string | undefined>>,
): boolean;
