/** What all configured servers offer at this moment, made anew only when something changed. */
import type { Clock } from "../../shared/ports.ts";
import type { Catalog } from "./catalog/entries.ts";
import { catalogEntries } from "./catalog/entries.ts";
import type { ResolvableServer, ResolveContext } from "./catalog/resolve.ts";
import type { SearchIndex } from "./catalog/search.ts";
import type { CatalogEntry } from "./catalog/upstream-catalog.ts";
import type { UpstreamConfig } from "./config/server-definition.ts";
import type { UpstreamPool } from "./upstream/upstream-pool.ts";

export interface CatalogView {
  /** Everything that is known, servers included that cannot be called just now. */
  all(): Catalog;
  /** [CL60] What is offered to be found: nothing of a server that failed a moment ago. */
  offered(): { readonly entries: readonly CatalogEntry[]; readonly index: () => Promise<SearchIndex> };
  /** The tool as it is known now; null: it is not offered any more. */
  current(entry: CatalogEntry): CatalogEntry | null;
  servers(): readonly ResolvableServer[];
  /** Servers whose tools are left out of what is offered. */
  inBackoff(): readonly string[];
  /** Usable servers of which nothing is known yet. */
  unlisted(): readonly string[];
  resolveContext(): ResolveContext;
  close(): void;
}

export function createCatalogView(parts: {
  readonly pool: UpstreamPool;
  readonly config: UpstreamConfig;
  readonly clock: Clock;
  readonly isNative: (name: string) => boolean;
}): CatalogView {
  const { pool, config, clock } = parts;
  let catalog: Catalog | null = null;
  let offered: { readonly without: string; readonly entries: readonly CatalogEntry[]; readonly index: () => Promise<SearchIndex> } | null = null;
  const unsubscribe = pool.subscribe((event) => {
    if (event.t === "catalog") {
      catalog = null;
      offered = null;
    }
  });

  const view: CatalogView = {
    all: () => (catalog ??= catalogEntries(sources())),
    offered() {
      const failed = view.inBackoff();
      const without = JSON.stringify(failed);
      if (offered?.without !== without) {
        const entries = view.all().entries.filter(({ server }) => !failed.includes(server));
        offered = { without, entries, index: lazyIndex(entries) };
      }
      return offered;
    },
    current: (entry) => view.all().entries.find((each) => each.server === entry.server && each.original === entry.original) ?? null,
    servers: () => [...config.servers.values()].map(({ name }) => standingOf(name)),
    inBackoff: () => view.servers().flatMap(({ name, standing }) => (standing === "backoff" ? [name] : [])),
    unlisted: () => view.servers().flatMap(({ name, standing, known }) => (standing === "usable" && known === null ? [name] : [])),
    resolveContext: () => ({ entries: view.all().entries, selectors: view.all().selectors, servers: view.servers(), isNative: parts.isNative }),
    close: unsubscribe,
  };
  return view;

  function sources(): Parameters<typeof catalogEntries>[0] {
    return [...config.servers.values()].flatMap((server) =>
      server.state === "enabled" ? [{ definition: server.definition, held: pool.held(server.name) }] : [],
    );
  }

  function standingOf(name: string): ResolvableServer {
    const state = pool.state(name);
    const toolPrefix = pool.definition(name)?.toolPrefix ?? config.settings.toolPrefix;
    const known = pool.held(name)?.freshness ?? null;
    if (state.at === "disabled" || state.at === "invalid") return { name, toolPrefix, standing: "disabled", known };
    return { name, toolPrefix, standing: state.at === "failed" && state.retryAt > clock.now() ? "backoff" : "usable", known };
  }
}

/** With the first search: words, their stems and what tells words of joined scripts apart take a tenth of a start to prepare. */
function lazyIndex(entries: readonly CatalogEntry[]): () => Promise<SearchIndex> {
  let index: Promise<SearchIndex> | undefined;
  return () => (index ??= import("./catalog/search.ts").then(({ createSearchIndex }) => createSearchIndex(entries)));
}
