/**
 * `/token` (RFC 6749 §3.2) and `/revoke` (RFC 7009) in front of the provider: one request per grant at a time, bounded
 * bodies, refresh answers that may be asked for twice, and families that end when a token is reused.
 */
import { isJsonObject, parseJson } from "../../shared/json.ts";
import type { BodyReader } from "../workspace/request-body.ts";
import type { ConfiguredClient } from "./configured-client.ts";
import type { Counters } from "./counters.ts";
import { sha256Hex } from "./digest.ts";
import { oauthError } from "./metadata.ts";
import { grantIdIn, normalizeResource, OWNER, readGrant, type Providers } from "./provider.ts";
import { respell } from "./redirects.ts";
import type { RefreshMemory } from "./refresh-memory.ts";
import { mayLookUp, readTokenRequest, refuseExcess, type TokenRequest } from "./token-request.ts";

export interface TokenEndpoint {
  token(request: Request, issuer: string): Promise<Response>;
  revoke(request: Request, issuer: string): Promise<Response>;
}

export interface TokenEndpointOptions {
  readonly providers: Providers;
  readonly configured: ConfiguredClient;
  readonly memory: RefreshMemory;
  readonly bodies: BodyReader;
  readonly counters: Counters;
  /** A grant was ended by what a client did. */
  readonly onEnded: () => void;
}

export function createTokenEndpoint(options: TokenEndpointOptions): TokenEndpoint {
  const { providers, configured, memory, bodies } = options;
  const inTurn = createTurns();

  /** The provider's answer. Replayed codes and revoked tokens end their grant there. */
  async function pass({ form, authorization }: TokenRequest, issuer: string, grantId: string | undefined): Promise<Response> {
    const lives = async (): Promise<boolean> => grantId !== undefined && (await readGrant(providers.kv, grantId)) !== undefined;
    const lived = await lives();
    const answer = await providers.fetch(formRequest(`${issuer}/token`, form, authorization), issuer);
    if (lived && !(await lives())) options.onEnded();
    return answer;
  }

  async function exchangeCode(asked: TokenRequest, issuer: string, grantId: string | undefined): Promise<Response> {
    const { form } = asked;
    const redirectUri = form.get("redirect_uri");
    const grant = grantId === undefined ? undefined : await readGrant(providers.kv, grantId);
    // The provider stored one spelling of the loopback address, the client may use another.
    if (redirectUri !== null && grant !== undefined) form.set("redirect_uri", respell(redirectUri, grant.redirectUri));
    const verifier = form.get("code_verifier");
    if (verifier !== null && !/^[\w.~-]{43,128}$/.test(verifier)) {
      return oauthError(400, "invalid_grant", "code_verifier must be 43 to 128 unreserved characters (RFC 7636 §4.1).");
    }
    return pass(asked, issuer, grantId);
  }

  async function refresh(asked: TokenRequest, issuer: string, grantId: string | undefined, isOurResource: boolean): Promise<Response> {
    const { form, authorization, clientId } = asked;
    const presented = form.get("refresh_token") ?? "";
    // The key covers everything that authenticates the client, so a remembered answer is only for who got it.
    const key = await sha256Hex(
      JSON.stringify([issuer, presented, clientId, form.get("client_secret"), authorization, configured.fingerprint(clientId)]),
    );
    const known = isOurResource ? await memory.recall(key, presented) : undefined;
    if (known !== undefined && (await readGrant(providers.kv, known.grantId)) !== undefined) return tokenAnswer(known.answer);
    const response = await pass(asked, issuer, grantId);
    const text = await response.text();
    if (response.ok) await rememberRefresh(memory, key, presented, text);
    else if (errorIn(text) === "invalid_grant" && (await endReusedFamily(providers, memory, presented, issuer))) options.onEnded();
    return new Response(text, { status: response.status, headers: response.headers });
  }

  return {
    async token(request, issuer) {
      const read = await readTokenRequest(request, bodies, configured);
      if (!read.ok) return read.error;
      const { form } = read.value;
      if (!form.has("grant_type")) return oauthError(400, "invalid_request", "grant_type is required.");
      form.delete("scope"); // There is one scope and every grant has exactly it: nothing to widen, nothing to refuse.
      const isOurResource = normalizeResource(form, issuer);
      const subject = form.get("grant_type") === "refresh_token" ? form.get("refresh_token") : form.get("code");
      const grantId = grantIdIn(subject ?? "");
      if (!(await mayLookUp(providers, read.value, grantId)))
        return oauthError(400, "invalid_grant", "The grant is not known, or not this client's.");
      const excess = await refuseExcess(read.value, options);
      if (excess !== undefined) return excess;
      return inTurn(grantId, () => {
        if (form.get("grant_type") === "refresh_token") return refresh(read.value, issuer, grantId, isOurResource);
        if (form.get("grant_type") === "authorization_code") return exchangeCode(read.value, issuer, grantId);
        return pass(read.value, issuer, grantId);
      });
    },
    async revoke(request, issuer) {
      const read = await readTokenRequest(request, bodies, configured);
      if (!read.ok) return read.error;
      const { form } = read.value;
      if (!form.has("token")) return oauthError(400, "invalid_request", "token is required.");
      form.delete("grant_type"); // With one, the provider would read a token request.
      const grantId = grantIdIn(form.get("token") ?? "");
      if (!(await mayLookUp(providers, read.value, grantId))) return new Response(null, { status: 200 }); // RFC 7009 §2.2: not an error.
      return (await refuseExcess(read.value, options)) ?? inTurn(grantId, () => pass(read.value, issuer, grantId));
    },
  };
}

async function rememberRefresh(memory: RefreshMemory, key: string, presented: string, text: string): Promise<void> {
  const answer = parseJson(text);
  const successor = isJsonObject(answer) ? answer["refresh_token"] : undefined;
  if (typeof successor !== "string") return;
  const grantId = grantIdIn(successor) ?? ""; // Written by the provider just now, so it may be believed.
  await memory.retire(presented, successor, grantId);
  await memory.remember(key, presented, grantId, text);
}

/** Two parties hold tokens of one family; which is the thief cannot be told, so it ends for both. Returns whether it did. */
async function endReusedFamily(providers: Providers, memory: RefreshMemory, presented: string, issuer: string): Promise<boolean> {
  const grantId = await memory.reusedGrant(presented);
  if (grantId === undefined) return false;
  await providers.helpers(issuer).revokeGrant(grantId, OWNER);
  memory.forget(grantId);
  return true;
}

/** Without `Origin`: CORS is answered in one place, ours. */
function formRequest(url: string, form: URLSearchParams, authorization: string | null): Request {
  const headers = { "content-type": "application/x-www-form-urlencoded", ...(authorization === null ? {} : { authorization }) };
  return new Request(url, { method: "POST", headers, body: form.toString() });
}

function tokenAnswer(text: string): Response {
  return new Response(text, { headers: { "content-type": "application/json", "cache-control": "no-store" } });
}

function errorIn(text: string): unknown {
  const value = parseJson(text);
  return isJsonObject(value) ? value["error"] : undefined;
}

/**
 * One at a time per grant: the provider reads, awaits and writes. Per grant and not for all, because looking up one
 * client may take ten seconds and must not keep the others waiting.
 */
function createTurns(): <T>(key: string | undefined, run: () => Promise<T>) => Promise<T> {
  const tails = new Map<string, Promise<unknown>>();
  return async (key, run) => {
    if (key === undefined) return run();
    const mine = (tails.get(key) ?? Promise.resolve()).then(run, run);
    const tail = mine.catch(() => {});
    tails.set(key, tail);
    try {
      return await mine;
    } finally {
      if (tails.get(key) === tail) tails.delete(key);
    }
  };
}
