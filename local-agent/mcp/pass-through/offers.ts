/** What all exposed upstreams offer to one client, by the names it sees, and whose each of it is. */
import type { Prompt, Resource, ResourceTemplateType, Tool } from "@modelcontextprotocol/server";
import type { Clock, Log, Timers } from "../../../shared/ports.ts";
import { err, type Result } from "../../../shared/result.ts";
import type { Caller } from "./caller.ts";
import type { Connections } from "./connections.ts";
import { fitsTemplate } from "./fits-template.ts";
import { listedBy, type ListKind } from "./listed.ts";
import type { Passage } from "./passage.ts";
import type { LinkRequestOptions, LinkUse } from "./upstream-link.ts";

export interface Offered<T> {
  readonly upstream: string;
  readonly displayed: string;
  /** As the upstream lists it. */
  readonly item: T;
}

export interface Offers<T> {
  readonly offered: readonly Offered<T>[];
  /** Sentences: upstreams that could not be asked. */
  readonly failures: readonly string[];
}

type How = "anew" | "kept";

export interface OffersPorts {
  readonly passage: Passage;
  readonly connections: Connections;
  readonly clock: Clock;
  readonly log: Log;
  readonly timers: Timers;
  /** An upstream is there that a list was answered without. */
  readonly onLate: (principalId: string) => void;
}

interface Named {
  readonly name: string;
}

const LIST_MS = 30_000;
/** A list is answered without an upstream that is still being started then. */
const START_MS = 20_000;

export function toolsOf(ports: OffersPorts, caller: Caller, taken: ReadonlySet<string>, how: How): Promise<Offers<Tool>> {
  return named(ports, taken, all<Tool>(ports, caller, "tools", how), (upstream, tool) => ports.passage.admits(upstream, tool.name));
}

export function promptsOf(ports: OffersPorts, caller: Caller, taken: ReadonlySet<string>, how: How): Promise<Offers<Prompt>> {
  return named(ports, taken, all<Prompt>(ports, caller, "prompts", how), () => true);
}

export async function resourcesOf(ports: OffersPorts, caller: Caller, how: How): Promise<Offers<Resource>> {
  const { listed, failures } = await all<Resource>(ports, caller, "resources", how);
  return { offered: once(listed.map(({ upstream, item }) => ({ upstream, item, displayed: item.uri }))), failures };
}

export async function templatesOf(ports: OffersPorts, caller: Caller, how: How): Promise<Offers<ResourceTemplateType>> {
  const { listed, failures } = await all<ResourceTemplateType>(ports, caller, "templates", how);
  return { offered: once(listed.map(({ upstream, item }) => ({ upstream, item, displayed: item.uriTemplate }))), failures };
}

/** By its list, else by its templates; with one upstream it is that one's in any case. */
export async function ownerOfResource(ports: OffersPorts, caller: Caller, uri: string): Promise<string | null> {
  const { upstreams } = ports.passage;
  const [only] = upstreams;
  if (upstreams.length === 1 && only !== undefined) return only;
  const { offered } = await resourcesOf(ports, caller, "kept");
  const listed = offered.find((resource) => resource.displayed === uri);
  if (listed !== undefined) return listed.upstream;
  const templates = await templatesOf(ports, caller, "kept");
  return templates.offered.find(({ displayed }) => displayed === uri || fitsTemplate(displayed, uri))?.upstream ?? null;
}

async function all<T>(ports: OffersPorts, caller: Caller, kind: ListKind, how: How) {
  const failures: string[] = [];
  const lists = await Promise.all(
    ports.passage.upstreams.map(async (upstream) => {
      try {
        const listing = ports.connections.use(upstream, caller, askedBy(caller, upstream), (link) =>
          withinListTime(ports.timers, (options) => listedBy(link, kind, how, { clock: ports.clock, options })),
        );
        const items = await inTime(ports, caller.principal.id, listing);
        if (items.ok) return items.value.map((item) => ({ upstream, item: item as T }));
        failures.push(`${upstream}: ${items.error}`);
      } catch (error) {
        ports.log.event("warn", "passage.unlisted", { upstream, kind, error: error instanceof Error ? error.name : typeof error });
        failures.push(`${upstream} did not list what it offers.`);
      }
      return [];
    }),
  );
  return { listed: lists.flat(), failures };
}

/** From when the upstream is there: a start has a time of its own. */
async function withinListTime<T>(timers: Timers, list: (options: LinkRequestOptions) => Promise<T>): Promise<T> {
  const over = new AbortController();
  const stop = timers.after(LIST_MS, () => over.abort(new Error(`no list within ${LIST_MS / 1000} s`)));
  return list({ signal: over.signal, timeoutMs: LIST_MS }).finally(stop);
}

async function inTime<T>({ timers, onLate }: OffersPorts, principalId: string, listing: Promise<Result<T, string>>): Promise<Result<T, string>> {
  const { promise: late, resolve } = Promise.withResolvers<null>();
  const stop = timers.after(START_MS, () => resolve(null));
  const listed = await Promise.race([listing, late]).finally(stop);
  if (listed !== null) return listed;
  listing.then(
    (outcome) => outcome.ok && onLate(principalId),
    () => {}, // It is listed again when somebody asks.
  );
  return err("It is still being started. Try again in a moment.");
}

function askedBy({ ask }: Caller, upstream: string): LinkUse {
  return ask === undefined ? {} : { onQuestion: ask(upstream) };
}

/** Ours and names kept for us are never an upstream's; of two with one name neither is offered, so that none stands in for another. */
async function named<T extends Named>(
  { passage, log }: OffersPorts,
  taken: ReadonlySet<string>,
  listing: Promise<{ readonly listed: readonly { readonly upstream: string; readonly item: T }[]; readonly failures: readonly string[] }>,
  admits: (upstream: string, item: T) => boolean,
): Promise<Offers<T>> {
  const isFree = (name: string): boolean => !taken.has(name) && !passage.reserved.has(name);
  const { listed, failures } = await listing;
  const offered: Offered<T>[] = [];
  for (const { upstream, item } of listed) {
    if (!admits(upstream, item)) continue;
    const own = passage.upstreams.length === 1 && isFree(item.name) ? item.name : passage.displayed(upstream, item.name);
    if (isFree(own)) offered.push({ upstream, item, displayed: own });
    else log.event("warn", "passage.hidden", { upstream });
  }
  const counts = new Map<string, number>();
  for (const { displayed } of offered) counts.set(displayed, (counts.get(displayed) ?? 0) + 1);
  return { offered: offered.filter(({ displayed }) => counts.get(displayed) === 1), failures };
}

/** The first that has it: the order of the upstreams is the person's. */
function once<T>(offered: readonly Offered<T>[]): readonly Offered<T>[] {
  const seen = new Set<string>();
  return offered.filter(({ displayed }) => !seen.has(displayed) && seen.add(displayed));
}
