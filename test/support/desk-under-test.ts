/** A real desk with example facts, and the relay's side of a decision as a recording fake. */
import { randomUUID } from "node:crypto";
import type { AuthorizationDecision, DecisionOutcome, Grant, PendingAuthorization, Revocation } from "../../shared/authorization.ts";
import type { DeskInfo } from "../../shared/desk.ts";
import { createDesk, type Desk, type DeskOptions } from "../../local-agent/desk/desk.ts";
import type { TrustMemory } from "../../local-agent/desk/server-trust.ts";
import { silentLog } from "../../local-agent/node/log-sinks.ts";
import { systemClock, systemTimers } from "../../local-agent/node/system-time.ts";

export const EXAMPLE_INFO: DeskInfo = {
  version: "0.1.0",
  root: "/home/ada/projects/engine",
  tools: ["read", "write", "edit", "ls", "grep", "find", "bash"],
  mcpServers: [],
  deny: [".ssh", ".aws", ".gnupg", ".git-credentials", ".netrc", ".config/gcloud"],
  mcpUrls: ["https://relay.example.workers.dev/mcp"],
  relay: "https://relay.example.workers.dev",
  relayIsLocal: false,
  oauth: true,
  tokenSet: true,
  client: { id: "pimcp-h05_kLnEyqe0", redirects: null },
  human: false,
  approve: [],
  waitMs: 45_000,
  patientWaitMs: 90_000,
  uiToken: false,
  confinement: ["File tools stay inside the folder.", "Shell commands run as you and are not confined to the folder."],
  warnings: [],
  startedAt: Date.now() - 65_000,
};

export function exampleAuthorization(changes: Partial<PendingAuthorization> = {}): PendingAuthorization {
  const now = Date.now();
  return {
    id: "authorization-1",
    redirectHost: "claude.ai",
    redirectUri: "https://claude.ai/api/mcp/auth_callback",
    clientId: "https://claude.ai/oauth/mcp-oauth-client-metadata",
    clientName: "Claude",
    scopeAsked: ["mcp", "openid"],
    scopeGranted: ["mcp"],
    allowedBefore: false,
    opened: { address: "203.0.113.9", country: "Germany", browser: "Chrome on macOS", at: now - 12_000, sameAddress: true },
    codeRequired: true,
    expiresAt: now + 580_000,
    ...changes,
  };
}

export function exampleGrant(changes: Partial<Grant> = {}): Grant {
  const now = Date.now();
  return {
    id: "grant-1",
    clientId: "https://claude.ai/oauth/mcp-oauth-client-metadata",
    clientName: "Claude",
    redirectHost: "claude.ai",
    scope: ["mcp"],
    createdAt: now - 3 * 3_600_000,
    lastUsedAt: now - 600_000,
    expiresAt: now + 29 * 24 * 3_600_000,
    ...changes,
  };
}

export interface DeskUnderTest {
  readonly desk: Desk;
  /** What reached the relay. */
  readonly decisions: AuthorizationDecision[];
  /** What lives at the relay: a test adds, a revocation removes. */
  readonly grants: Grant[];
  readonly revocations: Revocation[];
}

export const UNGUARDED: DeskOptions["approvals"] = {
  guarded: [],
  auditFull: false,
  audit: { record: () => Promise.resolve() },
  newId: randomUUID,
  log: silentLog,
};

/** The relay of this desk knows the code `KITE-42`. */
export function deskUnderTest(options: Partial<DeskOptions> = {}): DeskUnderTest {
  const decisions: AuthorizationDecision[] = [];
  const grants: Grant[] = [];
  const revocations: Revocation[] = [];
  const desk = createDesk({
    trust: { root: EXAMPLE_INFO.root, memory: memoryOfTrust() },
    info: EXAMPLE_INFO,
    clock: systemClock,
    timers: systemTimers,
    grants: {
      list: () => Promise.resolve([...grants]),
      revoke({ ids }) {
        revocations.push({ ids });
        const ended = grants.filter((grant) => ids === "all" || ids.includes(grant.id));
        for (const grant of ended) grants.splice(grants.indexOf(grant), 1);
        return Promise.resolve({ revoked: ended.length });
      },
    },
    approvals: UNGUARDED,
    ...options,
    decide(decision) {
      decisions.push(decision);
      return options.decide?.(decision) ?? Promise.resolve({ outcome: outcomeOf(decision) });
    },
  });
  return { desk, decisions, grants, revocations };
}

function outcomeOf(decision: AuthorizationDecision): DecisionOutcome["outcome"] {
  if (!decision.allow) return "denied";
  return decision.code === undefined || decision.code === "KITE-42" ? "allowed" : "wrong_code";
}

/** Allowed servers of one test. */
export function memoryOfTrust(): TrustMemory {
  const allowed = new Set<string>();
  return { has: (hash) => allowed.has(hash), add: ({ entrySha256 }) => Promise.resolve(void allowed.add(entrySha256)) };
}
