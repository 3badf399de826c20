/** A client that registers itself and signs in, with the person's click, by plain HTTP: for tests that need a grant and no browser. */
import { createHash, randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { AuthorizationDecision } from "../../shared/authorization.ts";

export interface SignedIn {
  readonly clientId: string;
  readonly accessToken: string;
  readonly refreshToken: string;
}

const REDIRECT = "http://127.0.0.1:50999/callback";

/** `origin`: the issuer; `pageUrl`: the loopback page with its secret, where the click happens. */
export async function signIn(origin: string, pageUrl: string): Promise<SignedIn> {
  const registration = { client_name: "a test", redirect_uris: [REDIRECT], token_endpoint_auth_method: "none" };
  const registered = await fetch(`${origin}/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(registration),
  });
  const { client_id: clientId } = (await registered.json()) as { client_id: string };
  const verifier = randomBytes(32).toString("base64url");
  const code = await authorize(origin, pageUrl, clientId, verifier);
  const tokens = await token(origin, {
    grant_type: "authorization_code",
    client_id: clientId,
    code,
    code_verifier: verifier,
    redirect_uri: REDIRECT,
  });
  return { clientId, ...tokens };
}

export function refresh(origin: string, { clientId, refreshToken }: SignedIn): Promise<Omit<SignedIn, "clientId">> {
  return token(origin, { grant_type: "refresh_token", client_id: clientId, refresh_token: refreshToken });
}

async function token(origin: string, form: Record<string, string>): Promise<Omit<SignedIn, "clientId">> {
  const answer = await fetch(`${origin}/token`, { method: "POST", body: new URLSearchParams(form) });
  if (answer.status !== 200) throw new Error(`/token answered ${answer.status}: ${await answer.text()}`);
  const { access_token, refresh_token } = (await answer.json()) as { access_token: string; refresh_token: string };
  return { accessToken: access_token, refreshToken: refresh_token };
}

async function authorize(origin: string, pageUrl: string, clientId: string, verifier: string): Promise<string> {
  const { callback } = await openAndAllow(authorizeUrl(origin, { clientId, redirect: REDIRECT, verifier }), decideOnPage(pageUrl));
  return callback.searchParams.get("code") ?? "";
}

/** Where a client sends its browser, with PKCE. */
export function authorizeUrl(origin: string, of: { readonly clientId: string; readonly redirect: string; readonly verifier: string }): URL {
  const query = new URLSearchParams({
    response_type: "code",
    client_id: of.clientId,
    redirect_uri: of.redirect,
    code_challenge: createHash("sha256").update(of.verifier).digest("base64url"),
    code_challenge_method: "S256",
    state: "s",
  });
  return new URL(`${origin}/authorize?${query}`);
}

/** The person's answer to the card of this id; resolves with what became of it. */
export type Decide = (decision: AuthorizationDecision) => Promise<string | undefined>;

export interface Allowed {
  /** What the waiting page showed, as HTML. */
  readonly page: string;
  /** Where the browser was sent in the end, with what the issuer gave it for the client. */
  readonly callback: URL;
}

/**
 * A browser without scripts or window: opens the address, waits with the page's cookie and gives the address it is then sent to.
 * `via`: for an issuer that plain `fetch` does not reach. Throws what came instead of the waiting page.
 */
export async function openAndAllow(authorizeUrl: URL, decide: Decide, via: typeof fetch = fetch): Promise<Allowed> {
  const waiting = await via(authorizeUrl, { redirect: "manual" });
  const page = await waiting.text();
  if (waiting.status !== 200) {
    const words = page.replace(/<(style|script)[^]*?<\/\1>|<[^>]*>/g, " ").replace(/\s+/g, " ");
    const instead = waiting.headers.get("location") ?? words.trim();
    throw new Error(`the issuer answered ${waiting.status} instead of asking the person: ${instead}`);
  }
  const id = /data-id="([^"]+)"/.exec(page)?.[1] ?? "";
  const at = /data-at="([^"]+)"/.exec(page)?.[1] ?? "";
  const code = /id="code">([^<]+)</.exec(page)?.[1]?.replaceAll(" ", "");
  const cookie = waiting.headers.get("set-cookie")?.split(";")[0] ?? "";
  const outcome = via(new URL(`${at}?id=${id}`, authorizeUrl), { headers: { cookie } });
  await allow({ id, allow: true, ...(code !== undefined && { code }) }, decide);
  const { redirect } = (await (await outcome).json()) as { redirect: string };
  return { page, callback: new URL(redirect) };
}

/** Until the card has risen there is nothing to decide, which the answer says. */
async function allow(decision: AuthorizationDecision, decide: Decide): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    if ((await decide(decision)) === "allowed") return;
    await sleep(50);
  }
  throw new Error("the card did not rise");
}

/** `pageUrl`: the loopback page with its secret. */
export function decideOnPage(pageUrl: string): Decide {
  const { origin, hash } = new URL(pageUrl);
  return async (decision) => {
    const answer = await fetch(`${origin}/api/decide`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${hash.slice(1)}` },
      body: JSON.stringify(decision),
    });
    return ((await answer.json()) as { outcome?: string }).outcome;
  };
}
