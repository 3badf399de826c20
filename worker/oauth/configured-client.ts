/**
 * The client a person configures by hand: its id and secret were pasted into a hosted product, which says only afterwards where it
 * returns to (docs/spec/oauth.md OA100 to OA110). Its record is not stored but made from the agent's deposits at every look, so a
 * pair that was replaced is unknown from the next request on. Stored are only the addresses the person allowed.
 */
import type { Deposits } from "../../shared/wire/frames.ts";
import { sameSecret } from "./digest.ts";
import { isSameRedirect } from "./redirects.ts";
import type { SqlKv } from "./sql-kv.ts";

/** What the person reads instead of a name the client gave itself: this one never says any. */
const NAME = "App set up by hand";
/** Each one is a click of the person; the oldest goes. */
const MAX_APPROVED = 50;

export interface ConfiguredClient {
  is(clientId: string): boolean;
  /** Whether these are its id and the SHA-256 of its secret. */
  isPair(clientId: string, sha256: string): boolean;
  /** What a remembered answer depends on beside the request; "" for every other client. */
  fingerprint(clientId: string): string;
  /** Whether its addresses were named in advance: then the person is not asked about another one. */
  isStrict(): boolean;
  /** Whether this client, if it is still the one, may return there by now. */
  knows(clientId: string, redirectUri: string): boolean;
  /** For the client that asked, which may be another than the one of today. */
  approve(clientId: string, redirectUri: string, now: number): void;
  /** Forgets an address, or all of this client: the next sign-in with it is a new one again. Of another client nothing is known. */
  forget(clientId: string, redirectUri: string): void;
  forgetAll(): void;
  /** The store as the provider sees it: with the record of this client, which may also return to `candidate`. */
  over(kv: SqlKv, candidate?: string): SqlKv;
}

export function createConfiguredClient(sql: SqlStorage, deposits: () => Deposits | undefined): ConfiguredClient {
  const client = () => deposits()?.client;
  const approved = (id: string) =>
    sql
      .exec<{ uri: string }>("SELECT redirect_uri AS uri FROM approved_redirects WHERE client_id = ?", id)
      .toArray()
      .map(({ uri }) => uri);
  const addresses = (id: string) => client()?.redirects ?? approved(id);
  const recordOf = (key: string, candidate?: string) => {
    const known = client();
    if (known === undefined || key !== `client:${known.id}`) return undefined;
    return {
      clientId: known.id,
      clientSecret: known.sha256,
      clientName: NAME,
      redirectUris: [...addresses(known.id), ...(candidate === undefined ? [] : [candidate])],
      grantTypes: ["authorization_code", "refresh_token"],
      responseTypes: ["code"],
      // Without the provider's mark that a method was chosen, the secret may come by Basic or in the body.
      tokenEndpointAuthMethod: "client_secret_basic",
      registrationDate: 0,
    };
  };
  return {
    is: (clientId) => client()?.id === clientId,
    isPair: (clientId, sha256) => client()?.id === clientId && sameSecret(sha256, client()?.sha256 ?? ""),
    fingerprint: (clientId) => (client()?.id === clientId ? (client()?.sha256 ?? "") : ""),
    knows: (clientId, redirectUri) => client()?.id === clientId && addresses(clientId).some((known) => isSameRedirect(known, redirectUri)),
    isStrict: () => client()?.redirects != null,
    approve(clientId, redirectUri, now) {
      sql.exec("INSERT OR REPLACE INTO approved_redirects(client_id, redirect_uri, at) VALUES(?, ?, ?)", clientId, redirectUri, now);
      // Gone for good: one that was only left out of sight would be known again when others are forgotten.
      sql.exec(
        `DELETE FROM approved_redirects WHERE client_id = ?1 AND redirect_uri IN
         (SELECT redirect_uri FROM approved_redirects WHERE client_id = ?1 ORDER BY at DESC LIMIT -1 OFFSET ?2)`,
        clientId,
        MAX_APPROVED,
      );
    },
    forget(clientId, redirectUri) {
      for (const known of approved(clientId)) {
        if (!isSameRedirect(known, redirectUri)) continue;
        sql.exec("DELETE FROM approved_redirects WHERE client_id = ? AND redirect_uri = ?", clientId, known);
      }
    },
    forgetAll() {
      sql.exec("DELETE FROM approved_redirects");
    },
    over: (kv, candidate) => ({ ...kv, get: async (key, options) => recordOf(key, candidate) ?? kv.get(key, options) }),
  };
}
