/** Counts per key and window, in SQLite because the object forgets its memory after ten idle seconds. */

/** Key and how many are allowed. */
export type Limit = readonly [key: string, limit: number];

export interface Counters {
  /** Counts one under every key if all are within their limits. Beyond any of them nothing is written. */
  take(limits: readonly Limit[], windowMs: number): boolean;
}

/** Whoever has more sources than this is held by no limit per source; what they leave would only fill the store. */
const MAX_ROWS = 1_000;
const LOOK_EVERY = 250;

export function createCounters(sql: SqlStorage, now: () => number): Counters {
  let added = 0;
  const add = (key: string, windowMs: number) => {
    if (added++ % LOOK_EVERY === 0) {
      sql.exec("DELETE FROM counters WHERE key IN (SELECT key FROM counters ORDER BY expires_at DESC LIMIT -1 OFFSET ?)", MAX_ROWS);
    }
    sql.exec("INSERT OR REPLACE INTO counters(key, count, expires_at) VALUES(?, 1, ?)", key, now() + windowMs);
  };
  const read = (key: string) => sql.exec<{ count: number }>("SELECT count FROM counters WHERE key = ? AND expires_at > ?", key, now()).toArray()[0];
  return {
    take(limits, windowMs) {
      const counted = limits.map(([key, limit]) => ({ key, limit, count: read(key)?.count ?? 0 }));
      if (counted.some(({ count, limit }) => count >= limit)) return false;
      for (const { key, count } of counted) {
        if (count > 0) sql.exec("UPDATE counters SET count = count + 1 WHERE key = ?", key);
        else add(key, windowMs);
      }
      return true;
    },
  };
}
