/** What an upstream lists, page by page, kept for a moment by the connection it was listed over. */
import type { Prompt, Resource, ResourceTemplateType, Tool } from "@modelcontextprotocol/server";
import type { JsonObject } from "../../../shared/json.ts";
import type { Clock } from "../../../shared/ports.ts";
import type { LinkRequestOptions, UpstreamLink } from "./upstream-link.ts";

interface Kept<T> {
  readonly items: Promise<readonly T[]>;
  readonly at: number;
}

export interface Listed {
  readonly tools: Kept<Tool>;
  readonly prompts: Kept<Prompt>;
  readonly resources: Kept<Resource>;
  readonly templates: Kept<ResourceTemplateType>;
}

interface Items {
  readonly tools: Tool;
  readonly prompts: Prompt;
  readonly resources: Resource;
  readonly templates: ResourceTemplateType;
}
export type ListKind = keyof Items;

const HOW = {
  tools: { method: "tools/list", member: "tools", capability: "tools" },
  prompts: { method: "prompts/list", member: "prompts", capability: "prompts" },
  resources: { method: "resources/list", member: "resources", capability: "resources" },
  templates: { method: "resources/templates/list", member: "resourceTemplates", capability: "resources" },
} as const satisfies Record<ListKind, unknown>;

/** Bounds of one list: an upstream that pages for ever, or lists without end, is cut off with what it said so far. */
const MAX_PAGES = 64;
const MAX_ITEMS = 10_000;
/** Characters of its JSON; one page alone has a bound of its own. */
const MAX_LIST_SIZE = 16 * 1024 * 1024;
/** A change that the upstream does not tell is seen after this long. */
const KEPT_MS = 30_000;

/**
 * @param how `anew`: a client asks for the list; `kept`: it is only needed to find a name
 * @throws what the upstream answered
 */
export async function listedBy<K extends ListKind>(
  link: UpstreamLink,
  kind: K,
  how: "anew" | "kept",
  ports: { readonly clock: Clock; readonly options: LinkRequestOptions },
): Promise<readonly Items[K][]> {
  if (link.capabilities[HOW[kind].capability] === undefined) return [];
  const lists = link.listed as { [L in ListKind]?: Kept<Items[L]> };
  const now = ports.clock.now();
  const kept = lists[kind];
  if (how === "kept" && kept !== undefined && now - kept.at < KEPT_MS) return kept.items;
  const items = allPages<Items[K]>(link, kind, ports.options);
  const entry: Kept<Items[K]> = { items, at: now };
  (lists as Record<ListKind, unknown>)[kind] = entry;
  // A list that failed is no list.
  items.catch(() => {
    if (lists[kind] === entry) delete lists[kind];
  });
  return items;
}

async function allPages<T>(link: UpstreamLink, kind: ListKind, options: LinkRequestOptions): Promise<readonly T[]> {
  const { method, member } = HOW[kind];
  const items: T[] = [];
  let cursor: string | undefined;
  let size = 0;
  for (let page = 0; page < MAX_PAGES && items.length < MAX_ITEMS && size < MAX_LIST_SIZE; page++) {
    const result: JsonObject = await link.list(method, cursor, options);
    const listed = (result[member] ?? []) as unknown as readonly T[];
    size += JSON.stringify(listed).length;
    for (const item of listed) items.push(item);
    const next = result["nextCursor"];
    if (typeof next !== "string" || next === cursor) break;
    cursor = next;
  }
  return items;
}
