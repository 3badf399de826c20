/** The request behind `/authorize` (RFC 6749 §4.1.1), as the provider understands it, or the answer that refuses it. */
import { AuthorizationError, CimdFetchError, type AuthRequest } from "@cloudflare/workers-oauth-provider";
import type { PendingAuthorization } from "../../shared/authorization.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type { ConfiguredClient } from "./configured-client.ts";
import { isPublicDocumentAddress } from "./outgoing-fetch.ts";
import { isDocumentClient, normalizeResource, type Providers } from "./provider.ts";
import { judgeRedirect, loopbackSpellings, withHostname } from "./redirects.ts";
import { displayName, errorPage } from "./waiting-page.ts";

const MAX_URL_LENGTH = 8192;

export interface AuthorizationRequest {
  readonly authRequest: AuthRequest;
  readonly redirectUri: string;
  readonly clientName: string;
  readonly configured: PendingAuthorization["configured"];
}

interface ParseOptions {
  readonly providers: Providers;
  readonly configured: ConfiguredClient;
}

/** Checks a request to `/authorize`. An error goes to the redirect address only after client and address were found to belong together. */
export async function readAuthorizationRequest(url: URL, issuer: string, options: ParseOptions): Promise<Result<AuthorizationRequest, Response>> {
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
      throw new UnnamedAddress(redirectUri);
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

/** The client configured by hand came with an address that nobody may be asked about. */
class UnnamedAddress extends Error {
  override readonly name = "UnnamedAddress";
}

function answerError(error: unknown, redirectUri: string): Response {
  if (error instanceof UnnamedAddress) {
    return errorPage(
      400,
      `The app you set up by hand wants to return to ${error.message.slice(0, 300)}, which is not among the addresses named on the workstation.`,
      "If that is its real address, start pimcp with it in --oauth-redirect, or without that flag to be asked.",
    );
  }
  if (error instanceof AuthorizationError) {
    if (error.redirectTo !== undefined) return redirectTo(respelled(error.redirectTo, redirectUri));
    return errorPage(
      400,
      `The app's request was not accepted: ${error.description}.`,
      "Its registration here may have expired, or it returns to an address it never registered: remove the connection in the app and add it anew. If you pasted an id and a secret into it, compare them with what pimcp prints.",
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
