/** Catalogs that are kept as long as the test runs. */
import type { MetadataStore, StoredCatalog } from "../../local-agent/adapter/ports.ts";

export function memoryMetadataStore(kept: readonly (readonly [string, StoredCatalog])[] = []): MetadataStore {
  const entries = new Map<string, StoredCatalog>(kept);
  return {
    read: async () => new Map(entries),
    write: async (server, entry) => void entries.set(server, structuredClone(entry)),
  };
}
