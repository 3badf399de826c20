/** The host's own tools among what a search finds. A model that looks for a way to do something may have one already. */
import type { CatalogEntry } from "../catalog/upstream-catalog.ts";
import { visibleBlock } from "../../../shared/visible-text.ts";
import type { SearchMode } from "./proxy-request.ts";

export interface HostTool {
  readonly name: string;
  readonly description: string;
}

/** More of them would push out of sight what was looked for. */
const MAX_FOUND = 5;

/** By words as the others are, or by the pattern, which was compiled for them before. They are on the first page only. */
export async function findHostTools(tools: readonly HostTool[], { query, regex, server, offset }: SearchMode): Promise<readonly CatalogEntry[]> {
  if (tools.length === 0 || server !== undefined || offset > 0) return [];
  const entries = tools.map(asEntry);
  if (!regex) {
    // As for the catalog: with the first search, not with the start.
    const { createSearchIndex } = await import("../catalog/search.ts");
    const { hits } = createSearchIndex(entries).search({ query, limit: MAX_FOUND, offset: 0 });
    return hits.map(({ entry }) => entry);
  }
  const { regexSearch } = await import("../catalog/regex-search.ts");
  const found = regexSearch(entries, { pattern: query, limit: MAX_FOUND, offset: 0 });
  return found.ok ? found.value.hits : [];
}

function asEntry({ name, description }: HostTool): CatalogEntry {
  return {
    server: "",
    original: name,
    displayed: name,
    kind: "tool",
    resourceUri: null,
    title: null,
    description: visibleBlock(description),
    inputSchema: { type: "object" },
    outputSchema: null,
    annotations: null,
    keywords: [],
    freshness: "live",
  };
}
