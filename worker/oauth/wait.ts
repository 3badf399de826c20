/**
 * `GET /authorize/wait`: what the waiting page asks. The first question that brings its cookie raises the card; the one
 * that finds a decision takes it along, and only then is a code minted, so a code exists only where its browser is.
 */
import { authorizationErrorRedirect, type AuthorizationErrorCode } from "@cloudflare/workers-oauth-provider";
import type { AuthorizationDecision, DecisionOutcome, PendingAuthorization } from "../../shared/authorization.ts";
import { jsonAnswer } from "../respond.ts";
import { redirectTo, respelled } from "./authorization-request.ts";
import { renderWaiting } from "./authorize.ts";
import { sameSecret } from "./digest.ts";
import { methodNotAllowed } from "./metadata.ts";
import type { ConfiguredClient } from "./configured-client.ts";
import type { Pending, PendingStore } from "./pending-store.ts";
import { grantIdIn, OWNER, SCOPE, type Providers, type TokenProps } from "./provider.ts";
import { redirectHostOf } from "./redirects.ts";
import { isSameBrowser, setWaitingCookie } from "./waiting-cookie.ts";
import { errorPage } from "./waiting-page.ts";

/** Below every proxy's patience. */
const POLL_MS = 20_000;
/** Open questions per request: more tabs than that are not one person. */
const MAX_POLLS = 4;

export interface WaitingRoomOptions {
  readonly providers: Providers;
  readonly configured: ConfiguredClient;
  readonly pending: PendingStore;
  readonly now: () => number;
  readonly isAgentConnected: () => boolean;
  readonly onUsed: (clientId: string) => void;
  readonly onChanged: () => void;
}

export interface WaitingRoom {
  fetch(request: Request): Promise<Response>;
  decide(decision: AuthorizationDecision): Promise<DecisionOutcome>;
  displace(ids: readonly string[]): void;
  /** The workstation has come or gone: pages that wait say so at once. */
  agentMoved(): void;
  /** All that was granted is being taken back: with it goes what is being collected at this moment. */
  withdraw(): void;
}

export function createWaitingRoom(options: WaitingRoomOptions): WaitingRoom {
  const { pending } = options;
  const bells = createBells();
  let withdrawals = 0;
  const settle = (one: Pending, state: "allowed" | "denied") => {
    pending.settle(one.id, state);
    bells.ring(one.id);
    options.onChanged();
  };
  return {
    async fetch(request) {
      if (request.method !== "GET") return methodNotAllowed("GET");
      const url = new URL(request.url);
      const asPage = url.searchParams.has("page");
      const id = url.searchParams.get("id") ?? "";
      const found = pending.find(id);
      if (found === undefined) return ended(asPage, 404, "This request is over. Start again in the app.");
      if (!(await isSameBrowser(request, found.facts))) return ended(asPage, 403, "This request was opened in another browser. Go on there.");
      if (found.state === "waiting" && !found.raised && found.expiresAt > options.now()) {
        pending.raise(id);
        options.onChanged();
      }
      if (found.state === "waiting" && !asPage) await bells.wait(id, Math.min(POLL_MS, found.expiresAt - options.now()));
      return answer(pending.find(id), asPage, { ...options, withdrawals: () => withdrawals });
    },
    async decide(decision) {
      const found = pending.find(decision.id);
      if (found === undefined || found.state !== "waiting" || !found.raised || found.expiresAt <= options.now()) return { outcome: "gone" };
      if (!decision.allow) {
        settle(found, "denied");
        return { outcome: "denied" };
      }
      const { code, request, redirectUri } = found.facts;
      if (code !== null && !sameSecret((decision.code ?? "").normalize("NFKC").replace(/[\s-]/g, ""), code)) {
        settle(found, "denied"); // One try: a second one would be a guess.
        return { outcome: "wrong_code" };
      }
      if (standingOf(found.facts, options.configured) === "new") options.configured.approve(request.clientId, request.redirectUri, options.now());
      pending.rememberAllowed(request.clientId, redirectHostOf(redirectUri), options.now());
      settle(found, "allowed");
      return { outcome: "allowed" };
    },
    displace(ids) {
      for (const id of ids) bells.ring(id);
      if (ids.length > 0) options.onChanged();
    },
    agentMoved: () => bells.ringAll(),
    withdraw() {
      withdrawals += 1;
    },
  };
}

/** How the address of the client configured by hand is known by now: one that was approved may have been forgotten since the page was opened. */
function standingOf({ configured: opened, request }: Pending["facts"], configured: ConfiguredClient): PendingAuthorization["configured"] {
  if (opened === undefined) return undefined;
  if (!configured.knows(request.clientId, request.redirectUri)) return "new";
  return configured.isStrict() ? "named" : "approved";
}

export function cardOf({ id, expiresAt, createdAt, facts }: Pending, known: ConfiguredClient): PendingAuthorization {
  const configured = standingOf(facts, known);
  return {
    id,
    redirectHost: redirectHostOf(facts.redirectUri),
    redirectUri: facts.redirectUri,
    clientId: facts.request.clientId,
    clientName: facts.clientName,
    scopeAsked: facts.request.scope,
    scopeGranted: [SCOPE],
    ...(configured === undefined ? {} : { configured }),
    allowedBefore: facts.allowedBefore,
    opened: { address: facts.address, country: facts.country, browser: facts.browser, at: createdAt, sameAddress: facts.sameAddress },
    codeRequired: facts.code !== null,
    expiresAt,
  };
}

interface Collecting extends WaitingRoomOptions {
  readonly withdrawals: () => number;
}

async function answer(found: Pending | undefined, asPage: boolean, options: Collecting): Promise<Response> {
  if (found === undefined) return ended(asPage, 404, "This request was finished in another tab.");
  const away = !options.isAgentConnected();
  if (found.state === "waiting" && found.expiresAt > options.now()) {
    return asPage ? renderWaiting(found, options.now(), away) : jsonAnswer(200, { waiting: true, away });
  }
  // Removed before anything is awaited: of two questions at once only one collects.
  options.pending.remove(found.id);
  if (found.state === "waiting") options.onChanged(); // It has run out just now.
  const response = sendOn(await outcomeOf(found, options), found.facts.redirectUri, asPage);
  response.headers.append("set-cookie", setWaitingCookie(found.facts.issuer, found.facts.cookieName, "", 0));
  return response;
}

/** What the page says last, and where the browser goes then: nowhere, if nobody allowed the address. */
interface Outcome {
  readonly message: string;
  readonly location?: string;
}

function sendOn({ message, location }: Outcome, redirectUri: string, asPage: boolean): Response {
  if (location === undefined) return ended(asPage, 403, message);
  const redirect = respelled(location, redirectUri);
  return asPage ? redirectTo(redirect) : jsonAnswer(200, { redirect, message });
}

/** With a code, or with an error and our `iss` (RFC 9207). */
async function outcomeOf({ state, facts }: Pending, options: Collecting): Promise<Outcome> {
  const failed = (code: AuthorizationErrorCode, message: string): Outcome =>
    standingOf(facts, options.configured) === "new" ? { message } : { message, location: authorizationErrorRedirect(facts.request, code, message) };
  switch (state) {
    case "denied":
      return failed("access_denied", "The person at the workstation did not allow it.");
    case "displaced":
      return failed("temporarily_unavailable", "This sign-in gave way to newer ones. Start again in the app.");
    case "waiting":
      return failed("access_denied", "Nobody answered within 10 minutes. Start again in the app.");
    case "allowed": {
      const props: TokenProps = { clientName: facts.clientName };
      const helpers = options.providers.helpers(facts.issuer);
      const withdrawals = options.withdrawals();
      try {
        const done = await helpers.completeAuthorization({
          request: facts.request,
          userId: OWNER,
          metadata: { clientName: facts.clientName, redirectHost: redirectHostOf(facts.redirectUri) },
          scope: [SCOPE],
          props,
          revokeExistingGrants: false, // The default would log out the same client's other devices.
        });
        if (options.withdrawals() !== withdrawals) {
          await helpers.revokeGrant(grantIdIn(new URL(done.redirectTo).searchParams.get("code") ?? "") ?? "", OWNER);
          return failed("access_denied", "Access was taken back before it was given.");
        }
        options.onUsed(facts.request.clientId);
        return { message: "Allowed. You can close this page if nothing else happens.", location: done.redirectTo };
      } catch {
        // The client was deleted, or its document changed or vanished, since the page was opened.
        return failed("server_error", "The app could not be looked up again. Start again in the app.");
      }
    }
  }
}

function ended(asPage: boolean, status: number, message: string): Response {
  return asPage ? errorPage(status, message, "You can close this page.") : jsonAnswer(status, { message });
}

/** Wakes the questions that wait for a request. In memory: a sleeping object has none open. */
function createBells(): { wait(id: string, atMostMs: number): Promise<void>; ring(id: string): void; ringAll(): void } {
  const waiting = new Map<string, Set<() => void>>();
  return {
    wait: (id, atMostMs) =>
      new Promise((resolve) => {
        const others = waiting.get(id) ?? new Set();
        waiting.set(id, others);
        for (const oldest of others) {
          if (others.size < MAX_POLLS) break;
          oldest();
        }
        const wake = () => {
          clearTimeout(timer);
          others.delete(wake);
          if (others.size === 0 && waiting.get(id) === others) waiting.delete(id);
          resolve();
        };
        const timer = setTimeout(wake, Math.max(0, atMostMs));
        waiting.set(id, others.add(wake));
      }),
    ring(id) {
      for (const wake of waiting.get(id) ?? []) wake();
    },
    ringAll() {
      for (const wakes of waiting.values()) for (const wake of wakes) wake();
    },
  };
}
