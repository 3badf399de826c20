/** What the person granted and may take back: the provider's records as a list, when each was last used, and their end. */
import type { Grant } from "../../shared/authorization.ts";
import { OWNER, readGrant, type Providers } from "./provider.ts";
import type { RefreshMemory } from "./refresh-memory.ts";

/** The platform bills rows written, and a person reads hours and days. */
const USE_WRITTEN_EVERY_MS = 60 * 60_000;
/** More than a person has; the list has to fit one frame of the link. */
const MAX_LISTED = 300;
const PREFIX = `grant:${OWNER}:`;

export interface Grants {
  /** All that live, whichever issuer they were given by; newest first. */
  list(): readonly Grant[];
  has(grantId: string): boolean;
  /** Ends these, or all, at once: records, tokens, remembered answers. Ids that are not known count for nothing. */
  revoke(ids: readonly string[] | "all"): Promise<number>;
  /** A request came with a valid token of this grant. */
  used(grantId: string): void;
  sweep(): void;
}

export interface GrantsOptions {
  readonly providers: Providers;
  readonly memory: RefreshMemory;
  readonly sql: SqlStorage;
  readonly now: () => number;
  /** Any issuer will do: they share one store. */
  readonly issuer: () => string;
  /** Called once for each grant that is ended. */
  readonly onRevoked: (grant: { readonly clientId: string; readonly redirectUri: string }) => void;
  /**
   * Ids that may never be written again. A refresh or an exchange that read the grant before it was ended would otherwise bring it back
   * when it goes on. In memory: what is under way does not outlive it either.
   */
  readonly ended: Set<string>;
}

export function createGrants({ providers, memory, sql, now, issuer, onRevoked, ended }: GrantsOptions): Grants {
  const written = new Map<string, number>();
  const list = (): readonly Grant[] =>
    sql
      .exec<Row>(
        `SELECT value, expires_at, used_at FROM oauth_kv LEFT JOIN grant_uses ON grant_id = substr(key, ?)
         WHERE key >= ? AND key < ? AND expires_at > ?`,
        PREFIX.length + 1,
        PREFIX,
        `${PREFIX}\u{10ffff}`,
        Math.floor(now() / 1000),
      )
      .toArray()
      .map(grantOf)
      .toSorted((one, other) => other.createdAt - one.createdAt);
  return {
    list: () => list().slice(0, MAX_LISTED),
    has: (id) => sql.exec("SELECT 1 FROM oauth_kv WHERE key = ? AND expires_at > ?", PREFIX + id, Math.floor(now() / 1000)).toArray().length > 0,
    async revoke(ids) {
      const known = list().map((grant) => grant.id);
      const ending = ids === "all" ? known : known.filter((id) => ids.includes(id));
      for (const id of ending) ended.add(id);
      for (const id of ending) {
        const grant = await readGrant(providers.kv, id);
        await providers.helpers(issuer()).revokeGrant(id, OWNER);
        if (grant !== undefined) onRevoked(grant);
        memory.forget(id);
        sql.exec("DELETE FROM grant_uses WHERE grant_id = ?", id);
      }
      return ending.length;
    },
    used(grantId) {
      const last = written.get(grantId) ?? sql.exec<Use>("SELECT used_at FROM grant_uses WHERE grant_id = ?", grantId).toArray()[0]?.used_at ?? 0;
      written.set(grantId, last);
      if (now() - last < USE_WRITTEN_EVERY_MS) return;
      sql.exec("INSERT OR REPLACE INTO grant_uses(grant_id, used_at) VALUES(?, ?)", grantId, now());
      written.set(grantId, now());
    },
    sweep() {
      sql.exec(
        "DELETE FROM grant_uses WHERE grant_id NOT IN (SELECT substr(key, ?) FROM oauth_kv WHERE key >= ? AND key < ?)",
        PREFIX.length + 1,
        PREFIX,
        `${PREFIX}\u{10ffff}`,
      );
    },
  };
}

type Use = { used_at: number };
type Row = { value: string; expires_at: number; used_at: number | null };

/** As the pinned provider writes it, with the metadata of `wait.ts`. Times in seconds. */
interface GrantRecord {
  readonly id: string;
  readonly clientId: string;
  readonly scope: string[];
  readonly createdAt: number;
  readonly metadata: { readonly clientName: string; readonly redirectHost: string };
}

function grantOf(row: Row): Grant {
  const { id, clientId, scope, createdAt, metadata } = JSON.parse(row.value) as GrantRecord;
  return { id, clientId, ...metadata, scope, createdAt: createdAt * 1000, lastUsedAt: row.used_at, expiresAt: row.expires_at * 1000 };
}
