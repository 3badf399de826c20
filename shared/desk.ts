/** What the loopback page shows. The page's server sends `DeskSnapshot` once, then `DeskEvent`s (one declaration for both sides). */
import * as v from "valibot";
import { ApprovalCard, ApprovalEnd } from "./approval.ts";
import { HumanClient, HumanEntry, Mark, NewSaid, NewTyped } from "./human/entry.ts";
import { DecisionOutcome, Grant, PendingAuthorization } from "./authorization.ts";
import { BoundedOutput } from "./bounded-output.ts";
import { FormCard } from "./upstream-form.ts";

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
  /** MCP servers of the workstation that clients can use. */
  mcpServers: v.array(v.object({ name: v.string(), state: v.picklist(["on", "exposed", "waits", "disabled", "unusable"]) })),
  deny: v.array(v.string()),
  mcpUrls: v.array(v.string()),
  relay: v.string(),
  relayIsLocal: v.boolean(),
  oauth: v.boolean(),
  tokenSet: v.boolean(),
  /** The client that is set up by hand, without its secret; null: there is none. */
  client: v.nullable(v.object({ id: v.string(), redirects: v.nullable(v.array(v.string())) })),
  /** Whether clients can talk with the person (`--human`). */
  human: v.boolean(),
  /** Tools whose every call waits for a click. */
  approve: v.array(v.string()),
  /** How long a blocking call waits at most, in milliseconds, for a client of which nothing is known. */
  waitMs: v.number(),
  /** The same for a client that is known to bear more. */
  patientWaitMs: v.number(),
  /** Whether the page's secret is the person's own (`--ui-token`); its value is never here. */
  uiToken: v.boolean(),
  /** What confines the shell and what does not, as sentences. */
  confinement: v.array(v.string()),
  warnings: v.array(v.string()),
  startedAt: v.number(),
});
export type DeskInfo = v.InferOutput<typeof DeskInfo>;

/** A client that waits for the person right now. */
export const Waiting = v.object({ client: HumanClient, questionId: v.nullable(v.string()), since: v.number(), until: v.number() });
export type Waiting = v.InferOutput<typeof Waiting>;

/** A client that called lately, and may be written to. */
export const SeenClient = v.object({ ...HumanClient.entries, lastAt: v.number() });
export type SeenClient = v.InferOutput<typeof SeenClient>;

/** The conversation as the page shows it; absent without `--human`. */
export const ConversationView = v.object({
  /** In order of arrival: the latest ones, the bound is the desk's. */
  entries: v.array(HumanEntry),
  /** Said here and not yet kept by the relay: safe on this machine's disk, and sent when it is back. */
  unsent: v.array(v.variant("kind", [NewSaid, NewTyped])),
  /** False until the relay has told what was said before this start. */
  isLoaded: v.boolean(),
  waiting: v.nullable(Waiting),
  /** Latest first. */
  clients: v.array(SeenClient),
});
export type ConversationView = v.InferOutput<typeof ConversationView>;

export const DeskSnapshot = v.object({
  info: DeskInfo,
  link: LinkState,
  authorizations: v.array(PendingAuthorization),
  /** As the relay said last; null: it was not asked yet. */
  grants: v.nullable(v.array(Grant)),
  timeline: v.array(TimelineCall),
  approvals: v.array(ApprovalCard),
  /** Questions of MCP servers. */
  forms: v.array(FormCard),
  /** Exact calls that were allowed for the sitting. */
  remembered: v.number(),
  conversation: v.nullable(ConversationView),
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
  v.object({ t: v.literal("forms"), forms: v.array(FormCard) }),
  v.object({ t: v.literal("approvals"), approvals: v.array(ApprovalCard) }),
  v.object({ t: v.literal("remembered"), remembered: v.number() }),
  /** A card is over; every open page says so. */
  v.object({ t: v.literal("approval_over"), id: v.string(), end: ApprovalEnd }),
  /** A new entry, or the same one changed: by id. */
  v.object({ t: v.literal("entry"), entry: HumanEntry }),
  v.object({ t: v.literal("marks"), marks: v.array(Mark) }),
  /** Whatever else of the conversation changed, whole. */
  v.object({ t: v.literal("conversation"), ...v.omit(ConversationView, ["entries"]).entries }),
  /** Last event of a stream that gave way to a newer page: browsers open only six connections to one address. */
  v.object({ t: v.literal("displaced") }),
]);
export type DeskEvent = v.InferOutput<typeof DeskEvent>;
