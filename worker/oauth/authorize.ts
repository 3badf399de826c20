/**
 * `GET /authorize` (RFC 6749 §4.1.1): validates, remembers the request and shows the page that waits. It raises no card
 * and grants nothing; that is `wait.ts` and the person.
 */
import { AuthorizationError, CimdFetchError, type AuthRequest } from "@cloudflare/workers-oauth-provider";
import type { PendingAuthorization } from "../../shared/authorization.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type { ConfiguredClient } from "./configured-client.ts";
import type { Counters } from "./counters.ts";
import { randomMatchCode, randomName, sha256Hex } from "./digest.ts";
import { methodNotAllowed } from "./metadata.ts";
import { isPublicDocumentAddress } from "./outgoing-fetch.ts";
import type { Pending, PendingStore } from "./pending-store.ts";
import { pinnedDocument } from "./pinned-documents.ts";
import { isDocumentClient, normalizeResource, SCOPE, type Providers } from "./provider.ts";
import { judgeRedirect, loopbackSpellings, redirectHostOf, withHostname } from "./redirects.ts";
import { isSameSource, isUnknown, knownSource, visitorOf } from "./visitor.ts";
import { setWaitingCookie, waitingCookieName } from "./waiting-cookie.ts";
import { displayName, errorPage, waitingPage } from "./waiting-page.ts";

const PENDING_LIFE_MS = 10 * 60_000;
/** Per source; each one may make the relay fetch a client's document. The owner's own address is not counted. */
const OPENED_PER_HOUR = 60;
const HOUR_MS = 60 * 60_000;
const MAX_URL_LENGTH = 8192;
/** How often the page reloads itself where scripts do not run. */
const RELOAD_SECONDS = 5;

export interface AuthorizeOptions {
  readonly providers: Providers;
  readonly configured: ConfiguredClient;
  readonly pending: PendingStore;
  readonly counters: Counters;
  readonly now: () => number;
  readonly workstationAddress: () => string | undefined;
  /** Whether only this machine can reach the issuer, under any of its addresses. */
  readonly isLocal: () => boolean;
  readonly isAgentConnected: () => boolean;
  /** Requests that gave way: their pages learn it now. */
  readonly onDisplaced: (ids: readonly string[]) => void;
}

/** Answers `/authorize`: the waiting page, a redirect with an error, or a local error page when no redirect is safe. */
export async function authorize(request: Request, issuer: string, options: AuthorizeOptions): Promise<Response> {
  if (request.method === "HEAD") return new Response(null, { status: 200, headers: { "cache-control": "no-store" } });
  if (request.method !== "GET") return methodNotAllowed("GET, HEAD");
  // A page that is only fetched in advance must leave no trace; browsers ask again when it is really opened.
  if (/prefetch|prerender/i.test(request.headers.get("sec-purpose") ?? request.headers.get("purpose") ?? "")) {
    return errorPage(503, "This page is not prepared in advance.", "Open it again.");
  }
  if (!isNavigation(request.headers)) {
    return errorPage(403, "Another page asked for this one in the background.", "A sign-in starts in a window of its own: start it in the app.");
  }
  const visitor = visitorOf(request);
  const sameAddress = isSameSource(visitor.source, options.workstationAddress());
  const isCounted = isUnknown(visitor.source) ? asksForFetch(request) : sameAddress !== true;
  if (isCounted && !options.counters.take([[`authorize:${visitor.source}`, OPENED_PER_HOUR]], HOUR_MS)) {
    return errorPage(429, "Too many sign-ins were started from this address.", "Wait an hour, then start again in the app.");
  }
  const parsed = await parse(new URL(request.url), issuer, options);
  if (!parsed.ok) return parsed.error;
  const { authRequest, redirectUri, clientName, configured } = parsed.value;
  const cookie = randomName(24);
  const createdAt = options.now();
  const waiting: Omit<Pending, "state" | "raised"> = {
    id: randomName(18),
    source: visitor.source,
    createdAt,
    expiresAt: createdAt + PENDING_LIFE_MS,
    facts: {
      issuer,
      request: authRequest,
      redirectUri,
      clientName,
      ...(configured === undefined ? {} : { configured }),
      allowedBefore: options.pending.wasAllowed(authRequest.clientId, redirectHostOf(redirectUri)),
      code: options.isLocal() ? null : randomMatchCode(),
      cookieName: waitingCookieName(issuer),
      cookieHash: await sha256Hex(cookie),
      address: visitor.address,
      country: visitor.country,
      browser: visitor.browser,
      sameAddress,
    },
  };
  options.onDisplaced(options.pending.add(waiting, knownSource(options.workstationAddress())));
  const page = renderWaiting(waiting, createdAt, !options.isAgentConnected());
  page.headers.append("set-cookie", setWaitingCookie(issuer, waiting.facts.cookieName, cookie, PENDING_LIFE_MS / 1000));
  return page;
}

/** Whether the relay would fetch a document that it has no copy of: nobody may make it do that without end. */
function asksForFetch(request: Request): boolean {
  const clientId = new URL(request.url).searchParams.get("client_id") ?? "";
  return isDocumentClient(clientId) && pinnedDocument(clientId) === undefined;
}

/**
 * Whether a window or tab shows the answer (W3C Fetch Metadata). An image, frame or `fetch` of any web page could otherwise take
 * the owner's places, from the owner's address. Older browsers and other programs say nothing of the kind, except Node's
 * `fetch`, which sends the mode alone.
 */
function isNavigation(headers: Headers): boolean {
  const [site, dest, mode] = ["site", "dest", "mode"].map((name) => headers.get(`sec-fetch-${name}`) ?? undefined);
  if (site === undefined && dest === undefined) return true;
  return (dest ?? "document") === "document" && (mode ?? "navigate") === "navigate";
}

export function renderWaiting({ id, expiresAt, facts }: Pick<Pending, "id" | "expiresAt" | "facts">, now: number, away: boolean): Response {
  return waitingPage(
    {
      id,
      clientName: facts.clientName,
      // Whoever came by a link of somebody else's sees where that leads.
      redirect: facts.configured === "new" ? facts.redirectUri : redirectHostOf(facts.redirectUri),
      scopeAsked: facts.request.scope,
      scopeGranted: [SCOPE],
      code: facts.code,
      secondsLeft: Math.ceil((expiresAt - now) / 1000),
      away,
      waitPath: new URL(`${facts.issuer}/authorize/wait`).pathname,
    },
    RELOAD_SECONDS,
  );
}

interface Parsed {
  readonly authRequest: AuthRequest;
  readonly redirectUri: string;
  readonly clientName: string;
  readonly configured: PendingAuthorization["configured"];
}

type ParseOptions = Pick<AuthorizeOptions, "providers" | "configured">;

async function parse(url: URL, issuer: string, options: ParseOptions): Promise<Result<Parsed, Response>> {
  const refused = refuseEarly(url);
  if (refused !== undefined) return err(refused);
  normalizeResource(url.searchParams, issuer);
  const redirectUri = url.searchParams.get("redirect_uri") ?? "";
  try {
    const { authRequest, configured } = await parseForClient(url, issuer, options);
    const complaint = judgeChallenge(authRequest, configured !== undefined);
    if (complaint !== undefined) {
      const { state } = authRequest;
      throw new AuthorizationError("invalid_request", {
        description: complaint,
        // Nothing goes to an address that nobody allowed, an error neither.
        ...(configured === "new" ? {} : { redirectUri, state, issuer }),
      });
    }
    const client = await options.providers.helpers(issuer).lookupClient(authRequest.clientId);
    const scope = authRequest.scope.slice(0, 20).map((value) => value.slice(0, 100));
    return ok({ authRequest: { ...authRequest, scope }, redirectUri, clientName: displayName(client?.clientName ?? ""), configured });
  } catch (error) {
    return err(answerError(error, redirectUri));
  }
}

/**
 * The provider's reading of the request. The client that was configured by hand, and no other, may come with an address that nobody
 * knows yet: the person decides about that too, unless the addresses were named in advance.
 */
async function parseForClient(
  url: URL,
  issuer: string,
  { providers, configured }: ParseOptions,
): Promise<{ readonly authRequest: AuthRequest; readonly configured: PendingAuthorization["configured"] }> {
  const redirectUri = url.searchParams.get("redirect_uri") ?? "";
  const parseWith = (candidate?: string) =>
    parseAnySpelling(url, redirectUri, (spelled) =>
      providers.helpers(issuer, candidate).parseAuthRequest(new Request(`${issuer}/authorize?${spelled}`)),
    );
  if (!configured.is(url.searchParams.get("client_id") ?? "")) return { authRequest: await parseWith(), configured: undefined };
  try {
    return { authRequest: await parseWith(), configured: configured.isStrict() ? "named" : "approved" };
  } catch (error) {
    if (!isUnknownAddress(error)) throw error;
    if (configured.isStrict() || !/^https?:/i.test(redirectUri)) {
      throw new AuthorizationError("invalid_request", { description: `it may not return to ${redirectUri.slice(0, 300)}` });
    }
    try {
      return { authRequest: await parseWith(redirectUri), configured: "new" };
    } catch (inner) {
      throw inner instanceof AuthorizationError ? new AuthorizationError(inner.code, { description: inner.description }) : inner;
    }
  }
}

/** With a redirect the address was accepted and something else is wrong. */
function isUnknownAddress(error: unknown): boolean {
  return error instanceof AuthorizationError && error.redirectTo === undefined;
}

/** RFC 7636 §4.2: a S256 challenge is 43 base64url characters; anything else could never be answered. A secret may stand for it only where a person put both in place. */
function judgeChallenge({ codeChallenge }: AuthRequest, mayLeaveOut: boolean): string | undefined {
  if (codeChallenge === undefined) return mayLeaveOut ? undefined : "code_challenge is required";
  return /^[\w-]{43}$/.test(codeChallenge) ? undefined : "code_challenge must be the base64url SHA-256 of the verifier";
}

/** Checks that need no client, so that nothing is fetched or looked up for them. */
function refuseEarly(url: URL): Response | undefined {
  const START_AGAIN = "Start again in the app; if it happens again, remove the connection there and add it anew.";
  if (url.href.length > MAX_URL_LENGTH) return errorPage(414, "The app sent a request that is too long.", START_AGAIN);
  const names = [...url.searchParams.keys()].filter((name) => name !== "resource");
  const repeated = names.find((name, at) => names.indexOf(name) !== at);
  // RFC 6749 §3.1: which of two values counts would be a matter of taste, and so of attack.
  if (repeated !== undefined) return errorPage(400, `The app sent "${repeated.slice(0, 40)}" twice.`, START_AGAIN);
  const judgement = judgeRedirect(url.searchParams.get("redirect_uri") ?? "");
  if (judgement.verdict !== "usable") return errorPage(400, `The app's return address ${judgement.reason}.`, START_AGAIN);
  const clientId = url.searchParams.get("client_id") ?? "";
  // It is shown to the person: letters and blanks that look like others have no place in it.
  if (isDocumentClient(clientId) && !(isPublicDocumentAddress(clientId) && /^[\x21-\x7e]{1,1000}$/.test(clientId))) {
    return errorPage(400, "The app is named by an address that is not a public one.", START_AGAIN);
  }
  return undefined;
}

/** Tries the return address as written, then under the other loopback names. The first error counts if none fits. */
async function parseAnySpelling(url: URL, redirectUri: string, parseOne: (query: string) => Promise<AuthRequest>): Promise<AuthRequest> {
  let first: unknown;
  for (const spelling of loopbackSpellings(redirectUri)) {
    const query = new URLSearchParams(url.searchParams);
    query.set("redirect_uri", spelling);
    try {
      return await parseOne(query.toString());
    } catch (error) {
      if (!isUnknownAddress(error)) throw error;
      first ??= error;
    }
  }
  throw first;
}

function answerError(error: unknown, redirectUri: string): Response {
  if (error instanceof AuthorizationError) {
    if (error.redirectTo !== undefined) return redirectTo(respelled(error.redirectTo, redirectUri));
    return errorPage(
      400,
      `The app's request was not accepted: ${error.description}.`,
      "Its registration here may have expired, or it returns to an address it never registered. Remove the connection in the app and add it anew.",
    );
  }
  if (error instanceof CimdFetchError) {
    return errorPage(
      400,
      "The app's own description could not be read from its address.",
      "Try again in a minute; if it stays so, the app has a problem.",
    );
  }
  throw error;
}

/** The provider's redirect, back under the loopback name the client used. */
export function respelled(location: string, redirectUri: string): string {
  const { protocol, hostname } = new URL(redirectUri);
  return protocol === "http:" ? withHostname(location, hostname) : location;
}

export function redirectTo(location: string): Response {
  return new Response(null, { status: 302, headers: { location, "cache-control": "no-store", "referrer-policy": "no-referrer" } });
}
