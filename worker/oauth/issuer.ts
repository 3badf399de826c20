/**
 * The workspace's OAuth issuer and the gate of its `/mcp` (DESIGN D5, D6; docs/spec/oauth.md). Owns the tables of grants,
 * clients and pending authorizations; the object owns when it is asked and when it is swept.
 */
import type { AuthorizationDecision, DecisionOutcome, Grant, PendingAuthorization, RevocationOutcome } from "../../shared/authorization.ts";
import type { Clock } from "../../shared/ports.ts";
import type { Principal } from "../../shared/principal.ts";
import { err, type Result } from "../../shared/result.ts";
import type { Deposits } from "../../shared/wire/frames.ts";
import { refusal } from "../respond.ts";
import { locate } from "../routes.ts";
import { hasTables, openTables } from "../workspace/tables.ts";
import { authenticate } from "./authenticate.ts";
import { authorize } from "./authorize.ts";
import { createStrangersBodies } from "./body.ts";
import { createConfiguredClient } from "./configured-client.ts";
import { createCounters } from "./counters.ts";
import { preflight, RESOURCE_METADATA_PATHS, resourceMetadata, SERVER_METADATA_PATHS, serveDocument, serverMetadata, withCors } from "./metadata.ts";
import { createGrants } from "./grants.ts";
import { guardOutgoingFetch } from "./outgoing-fetch.ts";
import { createPendingStore } from "./pending-store.ts";
import { createProviders } from "./provider.ts";
import { isLocalIssuer } from "./redirects.ts";
import { createRefreshMemory } from "./refresh-memory.ts";
import { createRegistration } from "./registration.ts";
import { createSeenTokens } from "./seen-tokens.ts";
import { createSqlKv, sweepSqlKv } from "./sql-kv.ts";
import { createTokenEndpoint } from "./token-endpoint.ts";
import { isFromLoopback } from "./visitor.ts";
import { cardOf, createWaitingRoom } from "./wait.ts";

export interface IssuerOptions {
  readonly storage: DurableObjectStorage;
  /** `undefined` before the first hello ever; then the object answers 503 itself and asks nothing here. */
  readonly deposits: () => Deposits | undefined;
  /** Public address the agent's socket came from. */
  readonly workstationAddress: () => string | undefined;
  readonly isAgentConnected: () => boolean;
  readonly clock: Clock;
  readonly waitUntil: (promise: Promise<unknown>) => void;
  /** Passed to the provider. */
  readonly env: unknown;
  /** The list of cards changed: push `pending()` to the agent. */
  readonly pendingChanged: () => void;
  /** There is a new grant, or one ended by what its client did. */
  readonly grantsChanged: () => void;
}

export interface Issuer {
  /**
   * Answers the OAuth routes; `undefined` if the path is none of them, or OAuth is off. `issuer` is the canonical origin
   * the request came to, already checked against the deposits, with the workspace's prefix.
   */
  fetch(request: Request, issuer: string): Promise<Response | undefined>;
  /** Principal of a request to `/mcp`, or the 401 or 403 to answer with. */
  authenticate(request: Request, issuer: string): Promise<Result<Principal, Response>>;
  /** The cards that are up. */
  pending(): readonly PendingAuthorization[];
  decide(decision: AuthorizationDecision): Promise<DecisionOutcome>;
  /** What lives of all that was allowed, newest first. */
  grants(): readonly Grant[];
  isGranted(grantId: string): boolean;
  /** Ends grants with all their tokens, from the next request on; ids that are not known are no error. */
  revoke(ids: readonly string[] | "all"): Promise<RevocationOutcome>;
  /** The workstation has come or gone. */
  agentMoved(): void;
  /** Deletes what is expired. Returns when to call again (ms since the epoch), `undefined` if there is nothing to wait for. */
  sweep(): number | undefined;
}

/** Makes no table and writes nothing until it is first asked, which the object does only after an authenticated hello. */
export function createIssuer(options: IssuerOptions): Issuer {
  let parts: Parts | undefined;
  const open = () => (parts ??= assemble(options));
  return {
    async fetch(request, issuer) {
      if (options.deposits()?.oauth !== true) return undefined;
      const url = new URL(request.url);
      const { route: kind, path } = locate(url.pathname);
      const route = kind === "oauth" ? routeOf(path) : undefined;
      if (route === undefined) return undefined;
      if (route.cors && request.method === "OPTIONS") return preflight();
      // The issuer is what was configured: neither Host nor a forwarded header has a say in it.
      const ours = new Request(`${new URL(issuer).origin}${url.pathname}${url.search}`, request);
      // What reaches a public issuer from loopback came through a proxy or tunnel: that is nobody's address.
      if (isFromLoopback(ours) && !isLocal(options)) ours.headers.delete("cf-connecting-ip");
      const response = await route.answer(open(), ours, issuer);
      return route.cors ? withCors(response) : response;
    },
    async authenticate(request, issuer) {
      const deposits = options.deposits();
      if (deposits === undefined) return err(refusal(503, "not_ready", "No workstation has connected to this relay yet."));
      return authenticate(request, issuer, deposits, open());
    },
    pending: () =>
      hasTables(options.storage)
        ? open()
            .pending.cards(options.clock.now())
            .map((one) => cardOf(one, open().configured))
        : [],
    decide: async (decision) => (hasTables(options.storage) ? open().room.decide(decision) : { outcome: "gone" }),
    grants: () => (hasTables(options.storage) ? open().grants.list() : []),
    isGranted: (id) => hasTables(options.storage) && open().grants.has(id),
    async revoke(ids) {
      if (!hasTables(options.storage)) return { revoked: 0 };
      const revoked = await revoke(open(), ids);
      options.pendingChanged(); // A card may have called an address known that is not any more.
      return { revoked };
    },
    agentMoved: () => parts?.room.agentMoved(),
    sweep: () => (hasTables(options.storage) ? sweep(open(), options) : undefined),
  };
}

/** By every address it has, never by the one a request came to: that one the caller chose. */
function isLocal(options: IssuerOptions): boolean {
  return isLocalIssuer(options.deposits()?.origins ?? []);
}

/** With all that was granted goes what was allowed and not collected yet, which would be a grant a moment later, and every address. */
async function revoke({ grants, pending, room, configured }: Parts, ids: readonly string[] | "all"): Promise<number> {
  if (ids === "all") {
    pending.withdrawAllowed();
    room.withdraw();
    configured.forgetAll();
  }
  return grants.revoke(ids);
}

type Parts = ReturnType<typeof assemble>;

function assemble(options: IssuerOptions) {
  const now = () => options.clock.now();
  guardOutgoingFetch(now);
  const { sql } = openTables(options.storage);
  const ended = new Set<string>();
  const configured = createConfiguredClient(sql, options.deposits);
  const kv = createSqlKv(sql, options.clock, (key) => !ended.has(key.split(":")[2] ?? ""));
  const providers = createProviders({ kv, configured, env: options.env, waitUntil: options.waitUntil });
  const counters = createCounters(sql, now);
  const pending = createPendingStore(sql);
  const bodies = createStrangersBodies();
  const memory = createRefreshMemory(sql, now);
  const registration = createRegistration({ providers, sql, counters, bodies, now });
  const { isAgentConnected, workstationAddress } = options;
  const grants = createGrants({
    providers,
    memory,
    sql,
    now,
    issuer: () => options.deposits()?.origins[0] ?? "https://localhost",
    onRevoked: ({ clientId, redirectUri }) => configured.forget(clientId, redirectUri),
    ended,
  });
  const onUsed = (clientId: string) => {
    registration.markUsed(clientId);
    options.grantsChanged();
  };
  const room = createWaitingRoom({ providers, configured, pending, now, isAgentConnected, onUsed, onChanged: options.pendingChanged });
  const onDisplaced = (ids: readonly string[]) => room.displace(ids);
  const opening = {
    providers,
    configured,
    pending,
    counters,
    now,
    workstationAddress,
    isLocal: () => isLocal(options),
    isAgentConnected,
    onDisplaced,
  };
  const seenTokens = createSeenTokens(kv, (token, issuer) => providers.validate(token, issuer));
  return {
    sql,
    now,
    providers,
    seenTokens,
    configured,
    pending,
    memory,
    registration,
    grants,
    room,
    opening,
    tokens: createTokenEndpoint({ providers, configured, memory, bodies, counters, onEnded: options.grantsChanged }),
  };
}

interface Route {
  /** Readable by any web origin. The pages are not: they are for a person's own browser window. */
  readonly cors: boolean;
  readonly answer: (parts: Parts, request: Request, issuer: string) => Promise<Response>;
}

const ROUTES: Readonly<Record<string, Route>> = {
  "/register": { cors: true, answer: (parts, request, issuer) => parts.registration.fetch(request, issuer) },
  "/token": { cors: true, answer: (parts, request, issuer) => parts.tokens.token(request, issuer) },
  "/revoke": { cors: true, answer: (parts, request, issuer) => parts.tokens.revoke(request, issuer) },
  "/authorize": { cors: false, answer: (parts, request, issuer) => authorize(request, issuer, parts.opening) },
  "/authorize/wait": { cors: false, answer: (parts, request) => parts.room.fetch(request) },
};
const RESOURCE_METADATA: Route = { cors: true, answer: (_parts, request, issuer) => serveDocument(request, () => resourceMetadata(issuer)) };
const SERVER_METADATA: Route = {
  cors: true,
  answer: (parts, request, issuer) => serveDocument(request, () => serverMetadata(parts.providers, issuer)),
};

function routeOf(path: string): Route | undefined {
  if (RESOURCE_METADATA_PATHS.has(path)) return RESOURCE_METADATA;
  if (SERVER_METADATA_PATHS.has(path)) return SERVER_METADATA;
  return Object.hasOwn(ROUTES, path) ? ROUTES[path] : undefined;
}

/** Sweeping is housekeeping only (everything expired is already invisible), so it never runs more often than this. */
const SWEEP_PAUSE_MS = 60_000;

function sweep({ sql, pending, memory, registration, grants }: Parts, options: IssuerOptions): number | undefined {
  const now = options.clock.now();
  const before = pending.cards(0).length;
  sweepSqlKv(sql, now);
  grants.sweep();
  sql.exec("DELETE FROM counters WHERE expires_at <= ?", now);
  const due = [pending.sweep(now), memory.sweep(now), registration.sweep(now), nextExpiry(sql)].filter((time) => time !== undefined);
  if (pending.cards(0).length !== before) options.pendingChanged();
  return due.length === 0 ? undefined : Math.max(now + SWEEP_PAUSE_MS, Math.min(...due));
}

function nextExpiry(sql: SqlStorage): number | undefined {
  const { at } = sql
    .exec<{ at: number | null }>(
      `SELECT min(at) AS at FROM (SELECT min(expires_at) * 1000 AS at FROM oauth_kv
       UNION ALL SELECT min(expires_at) FROM counters UNION ALL SELECT min(retired_at) + 2592000000 FROM retired_refresh)`,
    )
    .one();
  return at ?? undefined;
}
