/** What the loopback page shows. The page's server sends `DeskSnapshot` once, then `DeskEvent`s (one declaration for both sides). */
import * as z from "zod/mini";
import { DecisionOutcome, PendingAuthorization } from "./authorization.ts";
import { BoundedOutput } from "./bounded-output.ts";

export const LinkState = z.discriminatedUnion("at", [
  z.object({ at: z.literal("connecting"), since: z.number() }),
  z.object({ at: z.literal("open"), since: z.number() }),
  z.object({ at: z.literal("waiting"), since: z.number(), retryAt: z.number(), reason: z.string() }),
  /** No redial: replaced by a newer start, refused, or shutting down. */
  z.object({ at: z.literal("retired"), since: z.number(), reason: z.string() }),
]);
export type LinkState = z.infer<typeof LinkState>;

export const TimelineCall = z.object({
  callId: z.string(),
  tool: z.string(),
  /** One line, made from the arguments; bounded. */
  summary: z.string(),
  client: z.string(),
  startedAt: z.number(),
  state: z.enum(["running", "ok", "failed", "cancelled"]),
  durationMs: z.nullable(z.number()),
  output: BoundedOutput,
});
export type TimelineCall = z.infer<typeof TimelineCall>;

export const DeskInfo = z.object({
  version: z.string(),
  root: z.string(),
  tools: z.array(z.string()),
  deny: z.array(z.string()),
  mcpUrls: z.array(z.string()),
  relay: z.string(),
  relayIsLocal: z.boolean(),
  oauth: z.boolean(),
  tokenSet: z.boolean(),
  /** What confines the shell and what does not, as sentences. */
  confinement: z.array(z.string()),
  warnings: z.array(z.string()),
  startedAt: z.number(),
});
export type DeskInfo = z.infer<typeof DeskInfo>;

export const DeskSnapshot = z.object({
  info: DeskInfo,
  link: LinkState,
  authorizations: z.array(PendingAuthorization),
  timeline: z.array(TimelineCall),
});
export type DeskSnapshot = z.infer<typeof DeskSnapshot>;

export const DeskEvent = z.discriminatedUnion("t", [
  z.object({ t: z.literal("snapshot"), snapshot: DeskSnapshot }),
  z.object({ t: z.literal("link"), link: LinkState }),
  z.object({ t: z.literal("info"), info: DeskInfo }),
  z.object({ t: z.literal("authorizations"), authorizations: z.array(PendingAuthorization) }),
  /** An authorization was decided on some page; every open page says so. */
  z.object({ t: z.literal("decided"), id: z.string(), outcome: DecisionOutcome.shape.outcome }),
  z.object({ t: z.literal("call"), call: TimelineCall }),
  z.object({ t: z.literal("output"), callId: z.string(), delta: z.string() }),
  /** Last event of a stream that gave way to a newer page: browsers open only six connections to one address. */
  z.object({ t: z.literal("displaced") }),
]);
export type DeskEvent = z.infer<typeof DeskEvent>;
