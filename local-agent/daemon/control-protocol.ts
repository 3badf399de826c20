/**
 * What a terminal of this machine may ask the running agent, over a socket that only this account can open: one line of JSON, one line
 * back. Deliberately nothing that grants, approves or runs: a shell that a client has could ask it too.
 */
import * as v from "valibot";
import { Revocation } from "../../shared/authorization.ts";

export const ControlRequest = v.variant("method", [
  v.object({ method: v.literal("grants.list") }),
  v.object({ method: v.literal("grants.revoke"), params: Revocation }),
]);
export type ControlRequest = v.InferOutput<typeof ControlRequest>;

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
