/**
 * `/token` (RFC 6749 §3.2) and `/revoke` (RFC 7009) in front of the provider: one request per grant at a time, bounded
 * bodies, refresh answers that may be asked for twice, and families that end when a token is reused.
 */
import { isJsonObject, parseJson } from "../../shared/json.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type { BodyReader } from "../workspace/request-body.ts";
import { readText } from "./body.ts";
import { basicClient, encodedBasic } from "./basic-credentials.ts";
import type { ConfiguredClient } from "./configured-client.ts";
import type { Counters } from "./counters.ts";
import { sha256Hex } from "./digest.ts";
import { methodNotAllowed, oauthError } from "./metadata.ts";
import { grantIdIn, isDocumentClient, normalizeResource, OWNER, readGrant, type Providers } from "./provider.ts";
import { respell } from "./redirects.ts";
import type { RefreshMemory } from "./refresh-memory.ts";
import { visitorOf } from "./visitor.ts";

const MAX_BYTES = 16 * 1024;
const HOUR_MS = 60 * 60_000;
/** Of one client from one address. A client refreshes twice a day, and some of them several times at once. */
const PER_HOUR = 600;

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
}

/** What a client sent. */
interface Asked {
  readonly form: URLSearchParams;
  /** The header, with Basic credentials encoded. */
  readonly authorization: string | null;
}

export function createTokenEndpoint({ providers, configured, memory, bodies, counters }: TokenEndpointOptions): TokenEndpoint {
  const inTurn = createTurns();
  const pass = ({ form, authorization }: Asked, issuer: string) => providers.fetch(formRequest(`${issuer}/token`, form, authorization), issuer);

  async function exchangeCode(asked: Asked, issuer: string): Promise<Response> {
    const { form } = asked;
    const grantId = grantIdIn(form.get("code") ?? "");
    const redirectUri = form.get("redirect_uri");
    const grant = grantId === undefined ? undefined : await readGrant(providers.kv, grantId);
    // The provider stored one spelling of the loopback address, the client may use another.
    if (redirectUri !== null && grant !== undefined) form.set("redirect_uri", respell(redirectUri, grant.redirectUri));
    const verifier = form.get("code_verifier");
    if (verifier !== null && !/^[\w.~-]{43,128}$/.test(verifier)) {
      return oauthError(400, "invalid_grant", "code_verifier must be 43 to 128 unreserved characters (RFC 7636 §4.1).");
    }
    return pass(asked, issuer);
  }

  async function refresh(asked: Asked, issuer: string, isOurResource: boolean): Promise<Response> {
    const { form, authorization } = asked;
    const presented = form.get("refresh_token") ?? "";
    // The key covers everything that authenticates the client, so a remembered answer is only for who got it.
    const key = await sha256Hex(JSON.stringify([issuer, presented, form.get("client_id"), form.get("client_secret"), authorization]));
    const known = isOurResource ? await memory.recall(key, presented) : undefined;
    if (known !== undefined && (await readGrant(providers.kv, known.grantId)) !== undefined) return tokenAnswer(known.answer);
    const response = await pass(asked, issuer);
    const text = await response.text();
    if (response.ok) await rememberRefresh(memory, key, presented, text);
    else if (errorIn(text) === "invalid_grant") await endReusedFamily(providers, memory, presented, issuer);
    return new Response(text, { status: response.status, headers: response.headers });
  }

  /** The request's form and credentials, or the refusal. */
  async function read(request: Request): Promise<Result<Asked, Response>> {
    const read = await readForm(request, bodies);
    if (!read.ok) return read;
    const form = read.value;
    const authorization = await encodedBasic(request.headers.get("authorization"), configured);
    const basicId = basicClient(authorization);
    // The id beside Basic credentials is no second proof; several products send it.
    if (basicId !== "" && form.get("client_id") === basicId && !hasRepeated(form)) form.delete("client_id");
    const clientId = form.get("client_id") ?? basicId;
    // Counted for known clients only, each for itself: a secret that a person chose could be guessed, and a client that asks without end
    // must not keep the others from their tokens.
    const mayGoOn = !(await providers.isStored(clientId)) || counters.take([[`token:${visitorOf(request).source} ${clientId}`, PER_HOUR]], HOUR_MS);
    return mayGoOn ? ok({ form, authorization }) : err(tooMany());
  }

  return {
    async token(request, issuer) {
      const asked = await read(request);
      if (!asked.ok) return asked.error;
      const { form } = asked.value;
      if (!form.has("grant_type")) return oauthError(400, "invalid_request", "grant_type is required.");
      form.delete("scope"); // There is one scope and every grant has exactly it: nothing to widen, nothing to refuse.
      const isOurResource = normalizeResource(form, issuer);
      const subject = form.get("grant_type") === "refresh_token" ? form.get("refresh_token") : form.get("code");
      const grantId = grantIdIn(subject ?? "");
      if (!(await mayAsk(providers, asked.value, grantId))) return oauthError(400, "invalid_grant", "The grant is not known, or not this client's.");
      if (hasRepeated(form)) return pass(asked.value, issuer); // Refused there.
      return inTurn(grantId, () => {
        if (form.get("grant_type") === "refresh_token") return refresh(asked.value, issuer, isOurResource);
        if (form.get("grant_type") === "authorization_code") return exchangeCode(asked.value, issuer);
        return pass(asked.value, issuer);
      });
    },
    async revoke(request, issuer) {
      const asked = await read(request);
      if (!asked.ok) return asked.error;
      const { form } = asked.value;
      if (!form.has("token")) return oauthError(400, "invalid_request", "token is required.");
      form.delete("grant_type"); // With one, the provider would read a token request.
      const grantId = grantIdIn(form.get("token") ?? "");
      if (!(await mayAsk(providers, asked.value, grantId))) return new Response(null, { status: 200 }); // RFC 7009 §2.2: not an error.
      return inTurn(grantId, () => pass(asked.value, issuer));
    },
  };
}

function tooMany(): Response {
  return oauthError(429, "temporarily_unavailable", `At most ${PER_HOUR} requests an hour of one client from one address.`, {
    "retry-after": "3600",
  });
}

/**
 * Whether the provider may look the client up. For a client named by an address that means a fetch, so a stranger could
 * use us to send requests: it must name the client of an existing grant.
 */
async function mayAsk(providers: Providers, { form, authorization }: Asked, grantId: string | undefined): Promise<boolean> {
  const clientId = form.get("client_id") ?? "";
  if (isDocumentClient(clientId)) return grantId !== undefined && (await readGrant(providers.kv, grantId))?.clientId === clientId;
  // The id may also come by Basic, which such a client cannot use, or only inside an assertion, which is not read here.
  return !isDocumentClient(basicClient(authorization)) && (clientId !== "" || !form.has("client_assertion"));
}

async function rememberRefresh(memory: RefreshMemory, key: string, presented: string, text: string): Promise<void> {
  const answer = parseJson(text);
  const successor = isJsonObject(answer) ? answer["refresh_token"] : undefined;
  if (typeof successor !== "string") return;
  const grantId = grantIdIn(successor) ?? ""; // Written by the provider just now, so it may be believed.
  await memory.retire(presented, successor, grantId);
  await memory.remember(key, presented, grantId, text);
}

/** Two parties hold tokens of one family; which is the thief cannot be told, so it ends for both. */
async function endReusedFamily(providers: Providers, memory: RefreshMemory, presented: string, issuer: string): Promise<void> {
  const grantId = await memory.reusedGrant(presented);
  if (grantId === undefined) return;
  await providers.helpers(issuer).revokeGrant(grantId, OWNER);
  memory.forget(grantId);
}

async function readForm(request: Request, bodies: BodyReader): Promise<Result<URLSearchParams, Response>> {
  if (request.method !== "POST") return err(methodNotAllowed("POST, OPTIONS"));
  const type = (request.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase();
  if (type !== "application/x-www-form-urlencoded") {
    return err(oauthError(400, "invalid_request", "Content-Type must be application/x-www-form-urlencoded."));
  }
  const body = await readText(bodies, request, MAX_BYTES, () => oauthError(400, "invalid_request", `The body is at most ${MAX_BYTES} bytes long.`));
  return body.ok ? ok(new URLSearchParams(body.value)) : body;
}

/** Without `Origin`: CORS is answered in one place, ours. */
function formRequest(url: string, form: URLSearchParams, authorization: string | null): Request {
  const headers = { "content-type": "application/x-www-form-urlencoded", ...(authorization === null ? {} : { authorization }) };
  return new Request(url, { method: "POST", headers, body: form.toString() });
}

function hasRepeated(form: URLSearchParams): boolean {
  const names = [...form.keys()];
  return names.some((name, at) => name !== "resource" && names.indexOf(name) !== at);
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
