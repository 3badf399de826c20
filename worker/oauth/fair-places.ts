/**
 * Who gives way when places run out (DESIGN D6). Pure. It is the oldest of the fullest source in the fullest group, so that one
 * network can fill only its own share, however many addresses it has, and the owner's own address is never pushed out by others.
 */
import { groupOf } from "./visitor.ts";

export interface Place {
  readonly id: string;
  readonly source: string;
  readonly since: number;
}

export interface PlaceRules {
  readonly total: number;
  /** No limit per source when absent. */
  readonly perSource?: number;
  /** Source of the owner's own address; its places go only to make room for itself. */
  readonly ownSource?: string | undefined;
}

/** Ids that must go so that one more of `source` fits. */
export function placesToFree(places: readonly Place[], source: string, rules: PlaceRules): readonly string[] {
  const freed: Place[] = [];
  let rest = places.toSorted((a, b) => a.since - b.since);
  const free = (place: Place | undefined) => {
    if (place === undefined) return false;
    freed.push(place);
    rest = rest.filter((other) => other !== place);
    return true;
  };
  const mine = () => rest.filter((place) => place.source === source);
  while (rules.perSource !== undefined && mine().length >= rules.perSource) free(mine()[0]);
  while (rest.length >= rules.total && free(firstToGo(rest, source, rules.ownSource)));
  return freed.map((place) => place.id);
}

function firstToGo(places: readonly Place[], newcomer: string, ownSource: string | undefined): Place | undefined {
  const movable = places.filter((place) => place.source !== ownSource || newcomer === ownSource);
  const inGroup = fullest(movable, groupOf(newcomer), (place) => groupOf(place.source));
  return fullest(inGroup, newcomer, (place) => place.source)[0];
}

/**
 * The places that share the commonest key; of several such keys the one whose first place is oldest. The newcomer counts, so a
 * network that is there already makes room for itself when all have as many.
 */
function fullest(places: readonly Place[], newcomer: string, keyOf: (place: Place) => string): readonly Place[] {
  const shares = [...Map.groupBy(places, keyOf)].map(([key, share]) => ({ share, size: share.length + (key === newcomer ? 1 : 0) }));
  const most = Math.max(...shares.map(({ size }) => size));
  return shares.find(({ size }) => size === most)?.share ?? [];
}
