/** How far a kept catalog may be relied on. Pure. */
import type { Freshness, UpstreamCatalog } from "../catalog/upstream-catalog.ts";

const MAX_AGE_MS = 7 * 24 * 3_600_000;

/** Without a hint a catalog counts for seven days, with one that long at most; one that is past its time stays usable as an index. */
export function freshnessOf(catalog: UpstreamCatalog, now: number): Freshness {
  const age = now - catalog.listedAt;
  return age >= 0 && age < Math.min(catalog.ttlMs ?? MAX_AGE_MS, MAX_AGE_MS) ? "cached" : "stale";
}
