/**
 * `GET /authorize` (RFC 6749 §4.1.1): validates, remembers the request and shows the page that waits. It raises no card
 * and grants nothing; that is `wait.ts` and the person.
 */
import { readAuthorizationRequest } from "./authorization-request.ts";
import type { ConfiguredClient } from "./configured-client.ts";
import type { Counters } from "./counters.ts";
import { randomMatchCode, randomName, sha256Hex } from "./digest.ts";
import { methodNotAllowed } from "./metadata.ts";
import { LINGER_MS, type Pending, type PendingStore } from "./pending-store.ts";
import { pinnedDocument } from "./pinned-documents.ts";
import { isDocumentClient, SCOPE, type Providers } from "./provider.ts";
import { isSameRedirect, redirectHostOf } from "./redirects.ts";
import { isSameSource, isUnknown, knownSource, visitorOf } from "./visitor.ts";
import { isSameBrowser, setWaitingCookie, waitingCookieName } from "./waiting-cookie.ts";
import { errorPage, waitingPage } from "./waiting-page.ts";

const PENDING_LIFE_MS = 10 * 60_000;
/** Per source; each one may make the relay fetch a client's document. The owner's own address is not counted. */
const OPENED_PER_HOUR = 60;
const HOUR_MS = 60 * 60_000;
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
  const parsed = await readAuthorizationRequest(new URL(request.url), issuer, options);
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
  const again = await startedBefore(request, waiting.facts, options);
  for (const id of again) options.pending.settle(id, "displaced");
  options.onDisplaced([...again, ...options.pending.add(waiting, knownSource(options.workstationAddress()))]);
  const page = renderWaiting(waiting, createdAt, !options.isAgentConnected());
  page.headers.append("set-cookie", setWaitingCookie(issuer, waiting.facts.cookieName, cookie, (PENDING_LIFE_MS + LINGER_MS) / 1000));
  return page;
}

/** Sign-ins of this browser for the same client and address: whoever starts again has given the earlier one up, and its card only confuses. */
async function startedBefore(
  request: Request,
  { request: { clientId }, redirectUri }: Pending["facts"],
  options: AuthorizeOptions,
): Promise<string[]> {
  const ids: string[] = [];
  for (const { id, facts } of options.pending.waiting(options.now())) {
    if (facts.request.clientId !== clientId || !isSameRedirect(facts.redirectUri, redirectUri)) continue;
    if (await isSameBrowser(request, facts)) ids.push(id);
  }
  return ids;
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
      configuredId: facts.configured === undefined ? null : facts.request.clientId,
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
