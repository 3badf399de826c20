/**
 * Access tokens that were validated once, in memory: decrypting what one carries takes a good part of a small call. Whether a token is
 * still good is never remembered: its record is looked up every time, and revoking deletes the record (OA81).
 */
import { grantIdIn, OWNER, type ValidToken } from "./provider.ts";
import type { SqlKv } from "./sql-kv.ts";

/** More clients than one workstation has at a time. */
const MAX_SEEN = 256;

export interface SeenTokens {
  /** What `validate` said of this token of this issuer, if its record is still there; else what it says now. `hash`: SHA-256 of the token. */
  check(token: string, hash: string, issuer: string): Promise<ValidToken | null>;
}

export function createSeenTokens(kv: SqlKv, validate: (token: string, issuer: string) => Promise<ValidToken | null>): SeenTokens {
  const seen = new Map<string, ValidToken>();
  return {
    async check(token, hash, issuer) {
      const key = `${issuer} ${hash}`;
      const known = seen.get(key);
      if (known !== undefined && (await kv.get(`token:${OWNER}:${grantIdIn(token)}:${hash}`)) !== null) return known;
      const valid = await validate(token, issuer);
      seen.delete(key);
      if (valid !== null) {
        if (seen.size >= MAX_SEEN) seen.delete([...seen.keys()][0] ?? "");
        seen.set(key, valid);
      }
      return valid;
    },
  };
}
