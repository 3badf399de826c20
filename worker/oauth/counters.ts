/** Counts per key and window, in SQLite because the object forgets its memory after ten idle seconds. */

/** Key and how many are allowed. */
export type Limit = readonly [key: string, limit: number];

export interface Counters {
  /** Counts one under every key if all are within their limits. Beyond any of them nothing is written. */
  take(limits: readonly Limit[], windowMs: number): boolean;
}

export function createCounters(sql: SqlStorage, now: () => number): Counters {
  const read = (key: string) => sql.exec<{ count: number }>("SELECT count FROM counters WHERE key = ? AND expires_at > ?", key, now()).toArray()[0];
  return {
    take(limits, windowMs) {
      const counted = limits.map(([key, limit]) => ({ key, limit, count: read(key)?.count ?? 0 }));
      if (counted.some(({ count, limit }) => count >= limit)) return false;
      for (const { key, count } of counted) {
        if (count > 0) sql.exec("UPDATE counters SET count = count + 1 WHERE key = ?", key);
        else sql.exec("INSERT OR REPLACE INTO counters(key, count, expires_at) VALUES(?, 1, ?)", key, now() + windowMs);
      }
      return true;
    },
  };
}
