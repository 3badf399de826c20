/**
 * The human channel on the link: calls of the agent to the relay (`human.append` …) and back. Parameters and results are
 * apart, because the relay needs the first and the agent the second, and the relay's size is budgeted.
 * Rules: docs/spec/human.md.
 */
import * as v from "valibot";
import { Asked, EntryId, HumanEntry, HumanImage, Mark, NewAsked, NewSaid, NewTyped, Said, Typed } from "./entry.ts";
import { HUMAN_LIMITS } from "./limits.ts";

const principalId = v.pipe(v.string(), v.minLength(1), v.maxLength(200));
const part = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(31));

export const HUMAN_PARAMS = {
  /** Idempotent by the entry's id. */
  "human.append": v.object({ entry: v.variant("kind", [NewSaid, NewTyped]) }),
  /** Attaches to an open question of this client with the same text and options instead of asking twice. */
  "human.ask": v.object({ entry: NewAsked }),
  /**
   * Everything that waits for this client, oldest first, for the answer of exchange `x`. The relay commits when that
   * exchange settles, and gives the messages back to the queue when it fails. Null commits at once. Asked again for the
   * same `x`, it answers with what is leased to `x` already: the first answer may have been lost with the link.
   */
  "human.take": v.object({ principalId, x: v.nullable(v.pipe(v.number(), v.integer(), v.minValue(1))) }),
  /**
   * The call that took messages for exchange `x` was cancelled before it could answer: they go back to the queue as
   * repeats, although the exchange may end well. Nothing taken for `x`: no effect.
   */
  "human.release": v.object({ x: v.pipe(v.number(), v.integer(), v.minValue(1)) }),
  /** A question of this client, and its answer however often that was delivered. */
  "human.question": v.object({ principalId, id: EntryId }),
  /** One piece of an image, in order; the message that names the image follows. Unnamed ones are swept after a day. */
  "human.image.put": v.object({
    image: HumanImage,
    part,
    parts: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(32)),
    data: v.pipe(v.string(), v.maxLength(HUMAN_LIMITS.imagePartChars)),
  }),
  "human.image.get": v.object({ id: EntryId, part }),
  /** The entries before place `before`; null: the latest ones. */
  "human.history": v.object({ before: v.nullable(v.number()) }),
} as const;
export type HumanMethod = keyof typeof HUMAN_PARAMS;
export type HumanParams<M extends HumanMethod> = v.InferOutput<(typeof HUMAN_PARAMS)[M]>;

export const HUMAN_RESULTS = {
  /**
   * `kept` now or `known` already; `full`: 10,000 messages wait, nothing was kept; `answered`: its question was answered
   * before by another message, nothing was kept.
   */
  "human.append": v.variant("outcome", [
    v.object({ outcome: v.picklist(["kept", "known"]), entry: v.variant("kind", [Said, Typed]) }),
    v.object({ outcome: v.picklist(["full", "answered"]) }),
  ]),
  "human.ask": v.variant("outcome", [
    v.object({ outcome: v.picklist(["asked", "attached"]), entry: Asked }),
    v.object({ outcome: v.literal("too_many") }),
  ]),
  /** `left`: how many still wait, because one answer has a bound. */
  "human.take": v.object({ messages: v.array(Typed), left: v.number() }),
  "human.release": v.object({}),
  "human.question": v.object({ question: v.nullable(Asked), answer: v.nullable(Typed) }),
  "human.image.put": v.object({}),
  /** Base64. `parts` 0: there is no such image any more. */
  "human.image.get": v.object({ data: v.string(), parts: v.number() }),
  /** In order of arrival. `more`: there are older ones. */
  "human.history": v.object({ entries: v.array(HumanEntry), more: v.boolean() }),
} as const;
export type HumanResult<M extends HumanMethod> = v.InferOutput<(typeof HUMAN_RESULTS)[M]>;

/** Calls of the relay to the agent. Repeating one does no harm. */
export const HUMAN_NEWS = {
  /** Messages changed their state: an answer settled, or failed. */
  "human.marks": v.object({ marks: v.array(Mark) }),
  /** Entries that the agent did not bring: a client lost its access, and its questions with it. */
  "human.entries": v.object({ entries: v.array(HumanEntry) }),
} as const;
