/** What the loopback page shows. The page's server sends `DeskSnapshot` once, then `DeskEvent`s (one declaration for both sides). */
import * as v from "valibot";
import { DecisionOutcome, Grant, PendingAuthorization } from "./authorization.ts";
import { BoundedOutput } from "./bounded-output.ts";

export const LinkState = v.variant("at", [
  v.object({ at: v.literal("connecting"), since: v.number() }),
  v.object({ at: v.literal("open"), since: v.number() }),
  v.object({ at: v.literal("waiting"), since: v.number(), retryAt: v.number(), reason: v.string() }),
  /** No redial: replaced by a newer start, refused, or shutting down. */
  v.object({ at: v.literal("retired"), since: v.number(), reason: v.string() }),
]);
export type LinkState = v.InferOutput<typeof LinkState>;

export const TimelineCall = v.object({
  callId: v.string(),
  tool: v.string(),
  /** One line, made from the arguments; bounded. */
  summary: v.string(),
  client: v.string(),
  startedAt: v.number(),
  state: v.picklist(["running", "ok", "failed", "cancelled"]),
  durationMs: v.nullable(v.number()),
  output: BoundedOutput,
});
export type TimelineCall = v.InferOutput<typeof TimelineCall>;

export const DeskInfo = v.object({
  version: v.string(),
  root: v.string(),
  tools: v.array(v.string()),
  deny: v.array(v.string()),
  mcpUrls: v.array(v.string()),
  relay: v.string(),
  relayIsLocal: v.boolean(),
  oauth: v.boolean(),
  tokenSet: v.boolean(),
  /** The client that is set up by hand, without its secret; null: there is none. */
  client: v.nullable(v.object({ id: v.string(), redirects: v.nullable(v.array(v.string())) })),
  /** What confines the shell and what does not, as sentences. */
  confinement: v.array(v.string()),
  warnings: v.array(v.string()),
  startedAt: v.number(),
});
export type DeskInfo = v.InferOutput<typeof DeskInfo>;

export const DeskSnapshot = v.object({
  info: DeskInfo,
  link: LinkState,
  authorizations: v.array(PendingAuthorization),
  /** As the relay said last; null: it was not asked yet. */
  grants: v.nullable(v.array(Grant)),
  timeline: v.array(TimelineCall),
});
export type DeskSnapshot = v.InferOutput<typeof DeskSnapshot>;

export const DeskEvent = v.variant("t", [
  v.object({ t: v.literal("snapshot"), snapshot: DeskSnapshot }),
  v.object({ t: v.literal("link"), link: LinkState }),
  v.object({ t: v.literal("authorizations"), authorizations: v.array(PendingAuthorization) }),
  /** An authorization was decided on some page; every open page says so. */
  v.object({ t: v.literal("decided"), id: v.string(), outcome: DecisionOutcome.entries.outcome }),
  v.object({ t: v.literal("grants"), grants: v.array(Grant) }),
  v.object({ t: v.literal("call"), call: TimelineCall }),
  v.object({ t: v.literal("output"), callId: v.string(), delta: v.string() }),
  /** Last event of a stream that gave way to a newer page: browsers open only six connections to one address. */
  v.object({ t: v.literal("displaced") }),
]);
export type DeskEvent = v.InferOutput<typeof DeskEvent>;
