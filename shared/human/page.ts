/** What the page says for the person: the bodies of its requests and their answers (one declaration for both sides). */
import * as v from "valibot";
import { EntryId, HumanEntry, HumanImage } from "./entry.ts";
import { HUMAN_LIMITS } from "./limits.ts";

const text = v.pipe(v.string(), v.maxBytes(HUMAN_LIMITS.textBytes));

/** `POST /api/say`. The page makes `id`, so a repeated request says nothing twice. */
export const SayOrder = v.pipe(
  v.object({
    id: EntryId,
    text,
    images: v.pipe(v.array(HumanImage), v.maxLength(HUMAN_LIMITS.imagesPerMessage)),
    /** A client's principal id; null: whoever waits now, else the one active last, else whoever asks first. */
    to: v.nullable(v.pipe(v.string(), v.minLength(1), v.maxLength(200))),
  }),
  v.check((order) => order.text !== "" || order.images.length > 0, "A message needs words or an image."),
);
export type SayOrder = v.InferOutput<typeof SayOrder>;

/** `POST /api/answer`. */
export const AnswerOrder = v.object({ id: EntryId, questionId: EntryId, text: v.pipe(text, v.minLength(1)) });
export type AnswerOrder = v.InferOutput<typeof AnswerOrder>;

/**
 * `kept` now or `known` already. `unsent`: safe on this machine's disk, sent when the relay is back. `full`: too many
 * messages wait; nothing was kept.
 */
export const SayAnswer = v.object({ outcome: v.picklist(["kept", "known", "unsent", "full"]) });
export type SayAnswer = v.InferOutput<typeof SayAnswer>;

/** `answered`: another message answered it before. `over`: it expired or was withdrawn. Nothing was kept in both cases. */
export const AnswerAnswer = v.object({ outcome: v.picklist(["kept", "known", "unsent", "full", "answered", "over"]) });
export type AnswerAnswer = v.InferOutput<typeof AnswerAnswer>;

/** `POST /api/images`. */
export const ImageAnswer = v.object({ image: HumanImage });
export type ImageAnswer = v.InferOutput<typeof ImageAnswer>;

/** `GET /api/history?before=<n>`: in order of arrival; `more`: there are older ones. */
export const HistoryAnswer = v.object({ entries: v.array(HumanEntry), more: v.boolean() });
export type HistoryAnswer = v.InferOutput<typeof HistoryAnswer>;
