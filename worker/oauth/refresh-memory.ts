/**
 * What the provider does not remember about refresh tokens: the answer to a refresh, so that asking twice is harmless, and
 * which tokens were exchanged, so that a stolen one is noticed (RFC 9700 §4.14.2).
 */
import { sha256Hex } from "./digest.ts";

/** Clients refresh in parallel from several processes and addresses, and retry after a lost answer. */
const REFRESH_GRACE_MS = 60_000;
/** As long as a refresh token lives. */
const RETIRED_LIFE_MS = 30 * 24 * 60 * 60_000;

export interface RefreshMemory {
  /** The remembered answer to the same request, or `undefined`. `key` must cover the client's authentication. */
  recall(key: string, presented: string): Promise<{ readonly grantId: string; readonly answer: string } | undefined>;
  remember(key: string, presented: string, grantId: string, answer: string): Promise<void>;
  /** `presented` was exchanged for `successor`. A successor that was never used is retired with it. */
  retire(presented: string, successor: string, grantId: string): Promise<void>;
  /** The grant of a token that was exchanged longer ago than the grace: whoever presents it is not the client, or not alone. */
  reusedGrant(presented: string): Promise<string | undefined>;
  forget(grantId: string): void;
  sweep(now: number): number | undefined;
}

export function createRefreshMemory(sql: SqlStorage, now: () => number): RefreshMemory {
  const put = (hash: string, grantId: string, successor: string) =>
    sql.exec("INSERT OR REPLACE INTO retired_refresh(hash, grant_id, successor, retired_at) VALUES(?, ?, ?, ?)", hash, grantId, successor, now());
  return {
    async recall(key, presented) {
      const row = sql
        .exec<{ grant_id: string; sealed: ArrayBuffer }>("SELECT grant_id, sealed FROM refresh_answers WHERE key = ? AND expires_at > ?", key, now())
        .toArray()[0];
      return row === undefined ? undefined : { grantId: row.grant_id, answer: await unseal(row.sealed, presented) };
    },
    async remember(key, presented, grantId, answer) {
      const sealed = await seal(answer, presented);
      sql.exec(
        "INSERT OR REPLACE INTO refresh_answers(key, grant_id, sealed, expires_at) VALUES(?, ?, ?, ?)",
        key,
        grantId,
        sealed,
        now() + REFRESH_GRACE_MS,
      );
    },
    async retire(presented, successor, grantId) {
      const [hash, next] = await Promise.all([sha256Hex(presented), sha256Hex(successor)]);
      const before = sql.exec<{ successor: string }>("SELECT successor FROM retired_refresh WHERE hash = ?", hash).toArray()[0];
      if (before !== undefined && before.successor !== next) put(before.successor, grantId, next);
      put(hash, grantId, next);
    },
    async reusedGrant(presented) {
      const row = sql
        .exec<{ grant_id: string }>(
          "SELECT grant_id FROM retired_refresh WHERE hash = ? AND retired_at <= ?",
          await sha256Hex(presented),
          now() - REFRESH_GRACE_MS,
        )
        .toArray()[0];
      return row?.grant_id;
    },
    forget(grantId) {
      sql.exec("DELETE FROM refresh_answers WHERE grant_id = ?", grantId);
      sql.exec("DELETE FROM retired_refresh WHERE grant_id = ?", grantId);
    },
    sweep(now) {
      sql.exec("DELETE FROM refresh_answers WHERE expires_at <= ?", now);
      sql.exec("DELETE FROM retired_refresh WHERE retired_at <= ?", now - RETIRED_LIFE_MS);
      const { first } = sql.exec<{ first: number | null }>("SELECT min(expires_at) AS first FROM refresh_answers").one();
      return first ?? undefined;
    },
  };
}

/**
 * Answers hold live tokens, so they lie in the store only encrypted under the token that was presented: reading the
 * storage gives nobody a grant. A token has 192 random bits, hence a plain hash will do as key derivation.
 */
async function keyFrom(presented: string): Promise<CryptoKey> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`pi-relay refresh answer\0${presented}`));
  return crypto.subtle.importKey("raw", digest, "AES-GCM", false, ["encrypt", "decrypt"]);
}

const IV_BYTES = 12;

async function seal(text: string, presented: string): Promise<ArrayBuffer> {
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
  const cipher = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, await keyFrom(presented), new TextEncoder().encode(text));
  const sealed = new Uint8Array(IV_BYTES + cipher.byteLength);
  sealed.set(iv);
  sealed.set(new Uint8Array(cipher), IV_BYTES);
  return sealed.buffer;
}

async function unseal(sealed: ArrayBuffer, presented: string): Promise<string> {
  const iv = new Uint8Array(sealed.slice(0, IV_BYTES));
  return new TextDecoder().decode(await crypto.subtle.decrypt({ name: "AES-GCM", iv }, await keyFrom(presented), sealed.slice(IV_BYTES)));
}
