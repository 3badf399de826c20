/**
 * Who gives way when places run out (DESIGN D6). Pure. The oldest of the fullest source gives way, so that one source can
 * fill only its own share, and the owner's own address is never pushed out by others.
 */

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
  while (rest.length >= rules.total && free(oldestOfFullest(rest, source, rules.ownSource)));
  return freed.map((place) => place.id);
}

function oldestOfFullest(places: readonly Place[], source: string, ownSource: string | undefined): Place | undefined {
  const movable = places.filter((place) => place.source !== ownSource || source === ownSource);
  const sizes = new Map<string, number>();
  for (const place of movable) sizes.set(place.source, (sizes.get(place.source) ?? 0) + 1);
  const most = Math.max(...sizes.values());
  return movable.find((place) => sizes.get(place.source) === most);
}
