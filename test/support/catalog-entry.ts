import type { CatalogEntry } from "../../local-agent/adapter/catalog/upstream-catalog.ts";

/** A tool as a catalog holds it; shown as `<server>_<original>` unless said otherwise. */
export function catalogEntry(entry: Pick<CatalogEntry, "server" | "original"> & Partial<CatalogEntry>): CatalogEntry {
  return {
    displayed: `${entry.server}_${entry.original}`,
    kind: "tool",
    resourceUri: null,
    title: null,
    description: "",
    inputSchema: { type: "object" },
    outputSchema: null,
    annotations: null,
    keywords: [],
    freshness: "live",
    ...entry,
  };
}
