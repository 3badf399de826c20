/**
 * The human channel on the link: calls of the agent to the relay (`human.append` …) and back. The results are apart
 * (`call-results.ts`), because the agent alone reads them and the relay's size is budgeted.
 * Rules: docs/spec/human.md.
 */
import * as v from "valibot";
import type { HUMAN_RESULTS } from "./call-results.ts";
import { EntryId, HumanImage, NewAsked, NewSaid, NewTyped } from "./entry.ts";
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
  /** Withdraws an open question of this client; one that is not open stays as it is. */
  "human.withdraw": v.object({ principalId, id: EntryId }),
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
export type HumanResult<M extends HumanMethod> = v.InferOutput<(typeof HUMAN_RESULTS)[M]>;
