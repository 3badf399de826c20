/**
 * Asks an upstream what it offers. Whatever it answers, the list stays within bounds: pages that never end, giant catalogs and items
 * that are not what they should be cost the server's own entries, not the adapter.
 */
import { isSpecType, type Client } from "@modelcontextprotocol/client";
import * as v from "valibot";
import type { Log } from "../../../shared/ports.ts";
import type { UpstreamCatalog } from "../catalog/upstream-catalog.ts";
import { declaresValidHeaders } from "./header-declarations.ts";
import type { UpstreamFacts, UsedUpstream } from "./upstream-pool.ts";

/** Bounds of one list. Sizes in characters of JSON. */
const MAX_PAGES = 200;
const MAX_ITEMS = { tools: 5000, resources: 5000, prompts: 1000 } as const;
const MAX_ITEM_SIZE = 256 * 1024;
/** Everything that looks into an item, JSON.stringify included, goes as deep as it is; the parser alone does not mind. */
const MAX_ITEM_DEPTH = 256;
const MAX_LIST_SIZE = 16 * 1024 * 1024;
const MAX_KEY = 4096;
const MAX_INSTRUCTIONS = 64 * 1024;

export interface Listing {
  readonly client: Client;
  readonly facts: UpstreamFacts;
  readonly instructions: string | null;
  readonly requestOptions: UsedUpstream["requestOptions"];
  /** What was known before: kept for a part that cannot be listed now. */
  readonly previous: UpstreamCatalog | null;
  readonly withResources: boolean;
  readonly now: number;
  readonly log: Log;
  readonly server: string;
}

/** Rejects when the tools cannot be listed; resources and prompts then stay as they were. */
export async function listCatalog(listing: Listing): Promise<UpstreamCatalog> {
  const { facts, previous } = listing;
  const tools = facts.capabilities.tools === undefined ? NOTHING : await listAll(listing, "tools");
  const asksHeaders = facts.era === "modern" && facts.wire === "streamable-http";
  const resources = listing.withResources && facts.capabilities.resources !== undefined;
  const prompts = facts.capabilities.prompts !== undefined;
  return {
    tools: tools.items.filter(isSpecType.Tool).filter((tool) => !asksHeaders || declaresValidHeaders(tool)),
    resources: resources ? await optional(listing, "resources", isSpecType.Resource, previous?.resources) : [],
    prompts: prompts ? await optional(listing, "prompts", isSpecType.Prompt, previous?.prompts) : [],
    instructions: listing.instructions?.slice(0, MAX_INSTRUCTIONS) ?? null,
    // In the modern revision the hint is mandatory, and one that is missing counts as "stale at once".
    ttlMs: tools.ttlMs ?? (facts.era === "modern" ? 0 : null),
    cacheScope: tools.cacheScope,
    listedAt: listing.now,
  };
}

type ListName = keyof typeof MAX_ITEMS;

interface Listed {
  readonly items: readonly unknown[];
  readonly ttlMs: number | null;
  readonly cacheScope: "public" | "private" | null;
}

const NOTHING: Listed = { items: [], ttlMs: null, cacheScope: null };

/** The items are looked at one by one: a single one that is malformed must not hide the others. */
const pageSchema = v.looseObject({
  nextCursor: v.fallback(v.optional(v.string()), undefined),
  ttlMs: v.fallback(v.optional(v.pipe(v.number(), v.minValue(0))), undefined),
  cacheScope: v.fallback(v.optional(v.picklist(["public", "private"])), undefined),
});

async function optional<T>(listing: Listing, list: ListName, is: (item: unknown) => item is T, kept: readonly T[] = []): Promise<readonly T[]> {
  try {
    return (await listAll(listing, list)).items.filter(is);
  } catch {
    // Many servers declare what they do not serve; their tools work all the same.
    listing.log.event("warn", "upstream.list-failed", { server: listing.server, list });
    return kept;
  }
}

async function listAll(listing: Listing, list: ListName): Promise<Listed> {
  const kept = createBoundedList(list);
  const cursors = new Set<string>();
  let cursor: string | undefined;
  let first: v.InferOutput<typeof pageSchema> | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const params = cursor === undefined ? {} : { cursor };
    const page = await listing.client.request({ method: `${list}/list`, params }, pageSchema, listing.requestOptions());
    first ??= page;
    const items = page[list];
    const more = kept.add(Array.isArray(items) ? items : []);
    cursor = page.nextCursor;
    // A cursor seen before would lead round in a circle.
    if (!more || cursor === undefined || cursors.has(cursor)) break;
    cursors.add(cursor);
  }
  if (kept.dropped() > 0) listing.log.event("warn", "upstream.items-dropped", { server: listing.server, list, count: kept.dropped() });
  return { items: kept.items, ttlMs: first?.ttlMs ?? null, cacheScope: first?.cacheScope ?? null };
}

interface BoundedList {
  readonly items: readonly unknown[];
  dropped(): number;
  /** False: there is no room for more. */
  add(items: readonly unknown[]): boolean;
}

function createBoundedList(list: ListName): BoundedList {
  const kept: unknown[] = [];
  const seen = new Set<string>();
  let size = 0;
  let dropped = 0;

  const keep = (item: unknown): void => {
    const name = identity(item);
    const length = name === undefined || seen.has(name) || isDeeper(item, MAX_ITEM_DEPTH) ? Infinity : JSON.stringify(item).length;
    if (name === undefined || length > MAX_ITEM_SIZE || size + length > MAX_LIST_SIZE || kept.length >= MAX_ITEMS[list]) {
      dropped++;
      return;
    }
    seen.add(name);
    kept.push(item);
    size += length;
  };

  const add = (items: readonly unknown[]): boolean => {
    for (const item of items) keep(item);
    return kept.length < MAX_ITEMS[list] && size < MAX_LIST_SIZE;
  };

  return { items: kept, dropped: () => dropped, add };
}

/** A resource is known by its URI, everything else by its name; undefined: it has neither, and is of no use. */
function identity(item: unknown): string | undefined {
  if (typeof item !== "object" || item === null) return undefined;
  const key = "uri" in item ? item.uri : "name" in item ? item.name : undefined;
  return typeof key === "string" && key !== "" && key.length <= MAX_KEY ? key : undefined;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1));
}
