/**
 * What the audit log has (`audit.jsonl`, one entry a line): who was allowed what, by whom, and when. Arguments are there as their
 * hash unless the person asked for them; what the person wrote is there as its length.
 */
import * as v from "valibot";
import type { JsonValue } from "./json.ts";

/** Every entry: `at` is ISO 8601 in UTC, `agent` the process that wrote it. */
const EVERY = { at: v.string(), agent: v.number() } as const;

/** SHA-256 in hexadecimal of the canonical JSON (`canonicalJson`) of the arguments that would run. */
const CALL = { tool: v.string(), callId: v.string(), principal: v.string(), client: v.string(), argsSha256: v.string() } as const;

export const CallAudit = v.object({
  event: v.picklist([
    "approval.asked",
    "approval.allowed_once",
    /** This call, and from now on the same one of the same client. */
    "approval.allowed_sitting",
    /** Allowed by an earlier `allowed_sitting`. */
    "approval.passed",
    "approval.denied",
    /** Its call ended, its client left, the link was lost, or the decision could not be recorded: nothing was run. */
    "approval.withdrawn",
  ]),
  ...CALL,
  /** Characters of the reason that was given with a denial. */
  reasonChars: v.optional(v.number()),
  /** Why it was withdrawn. */
  why: v.optional(v.string()),
  /** Only with `--audit-full`, and only up to `AUDIT_ARGS_CHARS`. */
  args: v.optional(v.custom<JsonValue>(() => true)),
  /** Instead of `args` when they are longer: the beginning of their canonical JSON. */
  argsHead: v.optional(v.string()),
});
export type CallAudit = v.InferOutput<typeof CallAudit>;

const AuthorizationAudit = v.object({
  event: v.literal("authorization.decided"),
  id: v.string(),
  outcome: v.string(),
  client: v.string(),
  redirectHost: v.string(),
});

const GrantsAudit = v.object({ event: v.literal("grants.revoked"), all: v.boolean(), ids: v.array(v.string()), revoked: v.number() });

/** What was allowed for the sitting is asked about again. */
const ForgottenAudit = v.object({ event: v.literal("approvals.forgotten"), calls: v.number() });

/** An MCP server of a project's own files may run, as this very entry, or may not. An empty name: the project's settings. */
const ServerAudit = v.object({
  event: v.picklist(["server.allowed", "server.denied"]),
  server: v.string(),
  files: v.array(v.string()),
  /** Of what was shown. */
  entrySha256: v.string(),
});

const AgentAudit = v.object({
  event: v.picklist(["agent.started", "agent.stopped"]),
  root: v.string(),
  /** Tools whose every call waits for a click. */
  guarded: v.array(v.string()),
});

/** What a part tells; when it happened and who wrote it is added where it is written. */
export const AuditEvent = v.variant("event", [CallAudit, AuthorizationAudit, GrantsAudit, ForgottenAudit, ServerAudit, AgentAudit]);
export type AuditEvent = v.InferOutput<typeof AuditEvent>;

export const AuditEntry = v.intersect([v.object(EVERY), AuditEvent]);
export type AuditEntry = v.InferOutput<typeof AuditEntry>;

/** Characters of arguments that one entry holds. */
export const AUDIT_ARGS_CHARS = 64 * 1024;

export interface AuditTrail {
  /** Resolves when the entry is on disk. Rejects with a sentence when it is not: whatever it was to allow is then not allowed. */
  record(event: AuditEvent): Promise<void>;
}
