/**
 * How well and how fast tools are found, on the labelled set of `test/fixtures/search`; beside the published pi-mcp-adapter's ranking in
 * the same run where that package is installed (published-adapter.ts).
 */
import { build } from "esbuild";
import { createSearchIndex } from "../../local-agent/adapter/catalog/search.ts";
import type { CatalogEntry } from "../../local-agent/adapter/catalog/upstream-catalog.ts";
import { labelledQueries, labelledTools, manyTools, recall, type LabelledQuery } from "../support/search-set.ts";
import { medians } from "./measure.ts";
import { publishedFile } from "./published-adapter.ts";

const SIZES = [34, 2_000];

type Search = (query: string) => readonly CatalogEntry[];
/** Makes a search over these tools; what it prepares, it has prepared when it returns. */
type Ranker = (tools: readonly CatalogEntry[]) => Search;

export interface SearchCosts {
  /** By ranker: share of questions that were answered as wanted, by kind; `all` without those about nothing. */
  readonly recall: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** By ranker: milliseconds until 2,000 tools can be searched, once, in a process that has searched before. */
  readonly buildMs: ReadonlyMap<string, number>;
  /** By number of tools and ranker: median milliseconds of one search, over every fourth question. */
  readonly p50: ReadonlyMap<number, ReadonlyMap<string, number>>;
}

export async function measureSearch(): Promise<SearchCosts> {
  const published = await publishedRanker();
  const rankers = new Map<string, Ranker>([["ours", ours], ...(published === null ? [] : [["published", published] as const])]);
  const tools = labelledTools();
  const queries = labelledQueries();
  const quality = new Map([...rankers].map(([name, ranker]) => [name, recallByKind(ranker(tools), queries)]));
  const p50 = new Map<number, ReadonlyMap<string, number>>();
  const sample = queries.filter((_query, index) => index % 4 === 0);
  for (const size of SIZES) p50.set(size, await timed(rankers, manyTools(size), sample));
  const many = manyTools(2_000);
  const buildMs = new Map([...rankers].map(([name, ranker]) => [name, elapsed(() => ranker(many))]));
  return { recall: quality, buildMs, p50 };
}

const ours: Ranker = (tools) => {
  const index = createSearchIndex(tools);
  index.search({ query: "prepare", limit: 1, offset: 0 });
  return (query) => index.search({ query, limit: 12, offset: 0 }).hits.map((hit) => hit.entry);
};

function recallByKind(search: Search, queries: readonly LabelledQuery[]): Map<string, number> {
  const about = queries.filter((query) => query.right.length > 0);
  const kinds = [...Map.groupBy(queries, (query) => query.kind)].map(([kind, ofKind]) => [kind, recall(ofKind, search)] as const);
  const heldOut = recall(
    about.filter((query) => query.isHeldOut),
    search,
  );
  return new Map([["all", recall(about, search)], ["all, held out", heldOut], ...kinds]);
}

function timed(
  rankers: ReadonlyMap<string, Ranker>,
  tools: readonly CatalogEntry[],
  queries: readonly LabelledQuery[],
): Promise<Map<string, number>> {
  const subjects = [...rankers].map(([name, ranker]) => {
    const search = ranker(tools);
    let asked = 0;
    return { name, once: () => Promise.resolve(void search(queries[asked++ % queries.length]?.text ?? "")) };
  });
  return medians(subjects, 4, queries.length);
}

function elapsed(run: () => unknown): number {
  const start = performance.now();
  run();
  return performance.now() - start;
}

interface PublishedModule {
  /** Reads no more of the state than is given here. */
  rankToolMatches(state: PublishedState, query: string): readonly { readonly tool: { readonly name: string } }[];
}

interface PublishedState {
  readonly config: { readonly mcpServers: object; readonly settings: object };
  readonly toolMetadata: ReadonlyMap<string, readonly object[]>;
  readonly failureTracker: ReadonlyMap<string, number>;
  readonly manager: { getConnection(server: string): undefined };
}

/** Null: the package is not installed. */
async function publishedRanker(): Promise<Ranker | null> {
  const entry = publishedFile("search-ranking.ts");
  if (entry === null) return null;
  const bundled = await build({ entryPoints: [entry], bundle: true, write: false, format: "esm", platform: "node" });
  const source = Buffer.from(bundled.outputFiles[0]?.contents ?? []).toString("base64");
  const module = (await import(`data:text/javascript;base64,${source}`)) as PublishedModule;
  return (tools) => {
    const byName = new Map(tools.map((tool) => [tool.displayed, tool]));
    const metadata = tools.map((tool) => ({ ...tool, name: tool.displayed, originalName: tool.original }));
    const state: PublishedState = {
      config: { mcpServers: {}, settings: {} },
      toolMetadata: Map.groupBy(metadata, (tool) => tool.server),
      failureTracker: new Map(),
      manager: { getConnection: () => undefined },
    };
    const search: Search = (query) => module.rankToolMatches(state, query).flatMap(({ tool }) => byName.get(tool.name) ?? []);
    search("prepare");
    return search;
  };
}
