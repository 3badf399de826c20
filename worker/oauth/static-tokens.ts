/** Tokens made on the workstation. The relay knows only their SHA-256. */
import type { Principal } from "../../shared/principal.ts";
import type { Deposits } from "../../shared/wire/frames.ts";

type StaticTokens = Deposits["staticTokens"];

/** Encoded once for each list: up to 256 are compared at every request. */
const encoded = new WeakMap<StaticTokens, readonly Uint8Array[]>();

/**
 * All are compared, each in constant time, so that the time taken says nothing about which or how nearly. `now`: ms since the epoch;
 * an expired token is as good as unknown.
 */
export function matchStaticToken(sha256: string, tokens: StaticTokens, now: number): Principal | undefined {
  const encoder = new TextEncoder();
  const hashes = encoded.get(tokens) ?? tokens.map((token) => encoder.encode(token.sha256));
  encoded.set(tokens, hashes);
  const given = encoder.encode(sha256);
  let match: Principal | undefined;
  for (const [at, { id, name, scope, expiresAt = Infinity }] of tokens.entries()) {
    const hash = hashes[at];
    const isSame = hash?.byteLength === given.byteLength && crypto.subtle.timingSafeEqual(given, hash);
    if (isSame && now < expiresAt) match = { id: `token:${id}`, kind: "token", name, scope: [...scope] };
  }
  return match;
}
