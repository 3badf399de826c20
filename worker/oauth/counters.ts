/** Counts per key and window, in SQLite because the object forgets its memory after ten idle seconds. */

export interface Counters {
  /** Counts one and says whether it is within `limit`. Beyond the limit nothing is written. */
  take(key: string, limit: number, windowMs: number): boolean;
}

export function createCounters(sql: SqlStorage, now: () => number): Counters {
  return {
    take(key, limit, windowMs) {
      const row = sql.exec<{ count: number }>("SELECT count FROM counters WHERE key = ? AND expires_at > ?", key, now()).toArray()[0];
      if (row === undefined) {
        sql.exec("INSERT OR REPLACE INTO counters(key, count, expires_at) VALUES(?, 1, ?)", key, now() + windowMs);
        return limit > 0;
      }
      if (row.count >= limit) return false;
      sql.exec("UPDATE counters SET count = count + 1 WHERE key = ?", key);
      return true;
    },
  };
}
