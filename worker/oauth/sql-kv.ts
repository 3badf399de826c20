/**
 * The five calls the OAuth provider makes on a KV namespace, over the object's SQLite: strongly consistent, so a token
 * works and a revocation holds from the next request on. Real KV let one code be redeemed five times.
 */
import type { Clock } from "../../shared/ports.ts";

export interface SqlKv {
  get(key: string, options?: { type?: string } | string): Promise<unknown>;
  put(key: string, value: string, options?: SqlKvPut): Promise<void>;
  delete(key: string): Promise<void>;
  list(options?: { prefix?: string; limit?: number; cursor?: string }): Promise<SqlKvPage>;
}

/** Seconds, as in Workers KV: `expiration` since the epoch, `expirationTtl` from now. */
interface SqlKvPut {
  readonly expiration?: number;
  readonly expirationTtl?: number;
  readonly metadata?: unknown;
}

interface SqlKvPage {
  readonly keys: readonly { readonly name: string; readonly expiration?: number; readonly metadata?: unknown }[];
  readonly list_complete: boolean;
  readonly cursor?: string;
}

type Row = { key: string; metadata: string | null; expires_at: number | null };

/** Expired rows are invisible at once; `sweepSqlKv` removes them later. What `mayWrite` refuses is not written, and nobody is told. */
export function createSqlKv(sql: SqlStorage, clock: Clock, mayWrite: (key: string) => boolean = () => true): SqlKv {
  const nowSeconds = () => Math.floor(clock.now() / 1000);
  return {
    async get(key, options) {
      const rows = sql.exec<{ value: string }>(
        "SELECT value FROM oauth_kv WHERE key = ? AND (expires_at IS NULL OR expires_at > ?)",
        key,
        nowSeconds(),
      );
      const value = rows.toArray()[0]?.value;
      if (value === undefined) return null;
      return (typeof options === "string" ? options : options?.type) === "json" ? (JSON.parse(value) as unknown) : value;
    },
    async put(key, value, options = {}) {
      if (!mayWrite(key)) return;
      const expiresAt = options.expiration ?? (options.expirationTtl === undefined ? null : nowSeconds() + options.expirationTtl);
      const metadata = options.metadata === undefined ? null : JSON.stringify(options.metadata);
      sql.exec("INSERT OR REPLACE INTO oauth_kv(key, value, metadata, expires_at) VALUES(?, ?, ?, ?)", key, value, metadata, expiresAt);
    },
    async delete(key) {
      sql.exec("DELETE FROM oauth_kv WHERE key = ?", key);
    },
    async list({ prefix = "", limit = 1000, cursor = "" } = {}) {
      const rows = sql
        .exec<Row>(
          `SELECT key, metadata, expires_at FROM oauth_kv
           WHERE key >= ? AND key < ? AND key > ? AND (expires_at IS NULL OR expires_at > ?) ORDER BY key LIMIT ?`,
          prefix,
          `${prefix}\u{10ffff}`, // Greater than any key with this prefix: SQLite compares UTF-8 bytes.
          cursor,
          nowSeconds(),
          limit + 1,
        )
        .toArray();
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      const keys = page.map(keyOf);
      return rows.length > limit && last !== undefined ? { keys, list_complete: false, cursor: last.key } : { keys, list_complete: true };
    },
  };
}

export function sweepSqlKv(sql: SqlStorage, nowMs: number): void {
  sql.exec("DELETE FROM oauth_kv WHERE expires_at <= ?", Math.floor(nowMs / 1000));
}

function keyOf(row: Row): SqlKvPage["keys"][number] {
  return {
    name: row.key,
    ...(row.expires_at === null ? {} : { expiration: row.expires_at }),
    ...(row.metadata === null ? {} : { metadata: JSON.parse(row.metadata) as unknown }),
  };
}
