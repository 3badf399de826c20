/** What the `human.*` calls of `calls.ts` answer, and what the relay tells without being asked: read by the agent. */
import * as v from "valibot";
import { Asked, HumanEntry, Mark, Said, Typed } from "./entry.ts";

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
  "human.withdraw": v.object({}),
  "human.question": v.object({ question: v.nullable(Asked), answer: v.nullable(Typed) }),
  "human.image.put": v.object({}),
  /** Base64. `parts` 0: there is no such image any more. */
  "human.image.get": v.object({ data: v.string(), parts: v.number() }),
  /** In order of arrival. `more`: there are older ones. */
  "human.history": v.object({ entries: v.array(HumanEntry), more: v.boolean() }),
} as const;

/** Calls of the relay to the agent. Repeating one does no harm. */
export const HUMAN_NEWS = {
  /** Messages changed their state: an answer settled, or failed. */
  "human.marks": v.object({ marks: v.array(Mark) }),
  /** Entries that changed otherwise: a client withdrew its question, or lost its access and its questions with it. */
  "human.entries": v.object({ entries: v.array(HumanEntry) }),
} as const;
