/** Authorizations in progress, in SQLite: a decision outlives the object's sleep and a redeploy. */
import type { AuthRequest } from "@cloudflare/workers-oauth-provider";
import type { PendingAuthorization } from "../../shared/authorization.ts";
import { placesToFree } from "./fair-places.ts";

/** `waiting` → `allowed` | `denied` | `displaced`. A row goes when its browser collects the outcome, or when it expires. */
type PendingState = "waiting" | "allowed" | "denied" | "displaced";

/** What was true when the page was opened; never changed afterwards. */
interface PendingFacts {
  readonly issuer: string;
  readonly request: AuthRequest;
  /** As the client wrote it; `request.redirectUri` may name the same loopback address by another name. */
  readonly redirectUri: string;
  readonly clientName: string;
  /** How the client that was configured by hand knows this address; absent for every other client. */
  readonly configured?: PendingAuthorization["configured"];
  readonly allowedBefore: boolean;
  /** What the waiting page shows and the person types; `null` for a loopback issuer. */
  readonly code: string | null;
  readonly cookieName: string;
  /** SHA-256 of the cookie's value: the store alone opens no door. */
  readonly cookieHash: string;
  readonly address: string;
  readonly country: string;
  readonly browser: string;
  readonly sameAddress: boolean | null;
}

export interface Pending {
  readonly id: string;
  readonly state: PendingState;
  /** Whether its card is up. It rises when the waiting page's cookie first comes back, so prefetchers raise none. */
  readonly raised: boolean;
  readonly source: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly facts: PendingFacts;
}

/** At most this many wait at once, and this many of one source. */
const TOTAL = 8;
const PER_SOURCE = 2;
/** Displaced ones whose pages have not asked yet; the pages of older ones learn that it is over. */
const MAX_DISPLACED = 64;
/** How long the outcome of an expired request stays, for its page to learn of it. */
export const LINGER_MS = 60_000;

export interface PendingStore {
  /** Adds one and returns the ids that had to give way (now `displaced`). */
  add(pending: Omit<Pending, "state" | "raised">, ownSource: string | undefined): readonly string[];
  find(id: string): Pending | undefined;
  /** Undecided, not expired. */
  waiting(now: number): readonly Pending[];
  /** Raised, undecided, not expired; oldest first. */
  cards(now: number): readonly Pending[];
  raise(id: string): void;
  settle(id: string, state: Exclude<PendingState, "waiting">): void;
  /** Allowed ones whose code was not collected yet are denied. */
  withdrawAllowed(): void;
  remove(id: string): void;
  wasAllowed(clientId: string, redirectHost: string): boolean;
  rememberAllowed(clientId: string, redirectHost: string, now: number): void;
  /** Deletes what is over. Returns when the next is due, or `undefined`. */
  sweep(now: number): number | undefined;
}

type Row = { id: string; state: string; raised: number; source: string; created_at: number; expires_at: number; facts: string };

export function createPendingStore(sql: SqlStorage): PendingStore {
  const settle = (id: string, state: PendingState) => {
    sql.exec("UPDATE pending_authorizations SET state = ? WHERE id = ? AND state = 'waiting'", state, id);
  };
  return {
    add(pending, ownSource) {
      const waiting = sql
        .exec<{ id: string; source: string; since: number }>(
          "SELECT id, source, created_at AS since FROM pending_authorizations WHERE state = 'waiting' AND expires_at > ?",
          pending.createdAt,
        )
        .toArray();
      const displaced = placesToFree(waiting, pending.source, { total: TOTAL, perSource: PER_SOURCE, ownSource });
      for (const id of displaced) settle(id, "displaced");
      sql.exec(
        `DELETE FROM pending_authorizations WHERE state = 'displaced' AND id IN
         (SELECT id FROM pending_authorizations WHERE state = 'displaced' ORDER BY created_at DESC, id LIMIT -1 OFFSET ?)`,
        MAX_DISPLACED,
      );
      sql.exec(
        "INSERT INTO pending_authorizations(id, state, raised, source, created_at, expires_at, facts) VALUES(?, 'waiting', 0, ?, ?, ?, ?)",
        pending.id,
        pending.source,
        pending.createdAt,
        pending.expiresAt,
        JSON.stringify(pending.facts),
      );
      return displaced;
    },
    find: (id) => sql.exec<Row>("SELECT * FROM pending_authorizations WHERE id = ?", id).toArray().map(pendingOf)[0],
    waiting: (now) => sql.exec<Row>("SELECT * FROM pending_authorizations WHERE state = 'waiting' AND expires_at > ?", now).toArray().map(pendingOf),
    cards: (now) =>
      sql
        .exec<Row>("SELECT * FROM pending_authorizations WHERE state = 'waiting' AND raised = 1 AND expires_at > ? ORDER BY created_at", now)
        .toArray()
        .map(pendingOf),
    raise(id) {
      sql.exec("UPDATE pending_authorizations SET raised = 1 WHERE id = ?", id);
    },
    settle,
    withdrawAllowed() {
      sql.exec("UPDATE pending_authorizations SET state = 'denied' WHERE state = 'allowed'");
    },
    remove(id) {
      sql.exec("DELETE FROM pending_authorizations WHERE id = ?", id);
    },
    wasAllowed: (clientId, redirectHost) =>
      sql.exec("SELECT 1 FROM allowed_before WHERE client_id = ? AND redirect_host = ?", clientId, redirectHost).toArray().length > 0,
    rememberAllowed(clientId, redirectHost, now) {
      sql.exec("INSERT OR REPLACE INTO allowed_before(client_id, redirect_host, at) VALUES(?, ?, ?)", clientId, redirectHost, now);
    },
    sweep(now) {
      sql.exec("DELETE FROM pending_authorizations WHERE expires_at <= ?", now - LINGER_MS);
      const { first } = sql.exec<{ first: number | null }>("SELECT min(expires_at) AS first FROM pending_authorizations").one();
      return first === null ? undefined : first + LINGER_MS;
    },
  };
}

function pendingOf(row: Row): Pending {
  return {
    id: row.id,
    state: row.state as PendingState,
    raised: row.raised === 1,
    source: row.source,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    facts: JSON.parse(row.facts) as PendingFacts,
  };
}
