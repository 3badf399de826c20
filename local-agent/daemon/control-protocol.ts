/**
 * What a terminal of this machine may ask the running agent, over a socket that only this account can open: one line of JSON, one line
 * back. A shell that a client has runs as this account too, and could ask the same. What decides needs the match code of a waiting page,
 * which neither the agent nor this channel knows; a loopback issuer has none, and there the wall is another account or an OS sandbox
 * (docs/security.md). The commands that decide refuse to run inside a tool's shell (`process-marker.ts`).
 */
import * as v from "valibot";
import { AuthorizationDecision, PendingAuthorization, Revocation } from "../../shared/authorization.ts";

export const ControlRequest = v.variant("method", [
  v.object({ method: v.literal("grants.list") }),
  v.object({ method: v.literal("grants.revoke"), params: Revocation }),
  /** The file of created tokens has changed. */
  v.object({ method: v.literal("tokens.reload") }),
  v.object({ method: v.literal("authorization.list") }),
  v.object({ method: v.literal("authorization.decide"), params: AuthorizationDecision }),
]);
export type ControlRequest = v.InferOutput<typeof ControlRequest>;

/** Answer to `authorization.list`: what waits, and what would be handed over. */
export const WaitingList = v.object({ root: v.string(), tools: v.array(v.string()), pending: v.array(PendingAuthorization) });
export type WaitingList = v.InferOutput<typeof WaitingList>;

/** Answer to `tokens.reload`: where the tokens hold now, preferred address first. An older agent does not say. */
export const TokensReloaded = v.object({ mcpUrls: v.optional(v.array(v.string()), []) });
export type TokensReloaded = v.InferOutput<typeof TokensReloaded>;

/** `message` is a sentence for a person. */
export const ControlAnswer = v.variant("ok", [
  v.object({ ok: v.literal(true), result: v.unknown() }),
  v.object({ ok: v.literal(false), message: v.string() }),
]);
export type ControlAnswer = v.InferOutput<typeof ControlAnswer>;

export const CONTROL_LIMITS = {
  requestChars: 64 * 1024,
  /** A list of grants comes in one frame of the link, so it is no longer than one. */
  answerChars: 2 * 1024 * 1024,
  connections: 16,
  /** From the connection to the answer. */
  deadlineMs: 20_000,
} as const;
