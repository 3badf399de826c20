/**
 * What the person and the clients said to each other: one list of entries in the order of their arrival, kept by the
 * relay (or by the agent where there is none). The page, the link and both stores use these schemas and no others.
 */
import * as v from "valibot";
import { HUMAN_LIMITS } from "./limits.ts";

/** 128 random bits as lower-case hex or a UUID; made by whoever says something, so that a repeat is recognised. */
export const EntryId = v.pipe(v.string(), v.regex(/^[0-9a-f-]{32,36}$/));

const text = v.pipe(v.string(), v.maxBytes(HUMAN_LIMITS.textBytes));
/** Milliseconds since the epoch, by the clock of whoever said it. */
const at = v.pipe(v.number(), v.integer(), v.minValue(0));
const option = v.pipe(v.string(), v.minLength(1), v.maxBytes(HUMAN_LIMITS.optionBytes));

/** A client as the person is shown it. `name` is its own choice: text for people. */
export const HumanClient = v.object({
  principalId: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
  name: v.pipe(v.string(), v.maxLength(200)),
});
export type HumanClient = v.InferOutput<typeof HumanClient>;

/** Never shown; it chooses the sound. */
export const Category = v.picklist(["message", "question", "done", "error"]);
export type Category = v.InferOutput<typeof Category>;

export const HumanImage = v.object({
  id: EntryId,
  mimeType: v.picklist(["image/png", "image/jpeg", "image/gif", "image/webp"]),
  bytes: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(HUMAN_LIMITS.imageBytes)),
});
export type HumanImage = v.InferOutput<typeof HumanImage>;

/** Place in the order of arrival; grows, with gaps. */
const n = v.pipe(v.number(), v.integer(), v.minValue(1));

const said = { kind: v.literal("said"), id: EntryId, at, client: HumanClient, category: Category, text };
/** A client said something and went on. */
export const NewSaid = v.object(said);
export type NewSaid = v.InferOutput<typeof NewSaid>;
/** `whileAway`: the relay took it while the workstation was not connected. */
export const Said = v.object({ ...said, n, whileAway: v.boolean() });
export type Said = v.InferOutput<typeof Said>;

const asked = {
  kind: v.literal("asked"),
  id: EntryId,
  at,
  client: HumanClient,
  text,
  options: v.pipe(v.array(option), v.maxLength(HUMAN_LIMITS.options)),
};
/** A client asks. `id` is the question's. */
export const NewAsked = v.object(asked);
export type NewAsked = v.InferOutput<typeof NewAsked>;
/** `withdrawn`: the client took it back, or lost its access. Past `expiresAt` an open question counts as expired, whatever the state says. */
export const Asked = v.object({ ...asked, n, expiresAt: v.number(), state: v.picklist(["open", "answered", "expired", "withdrawn"]) });
export type Asked = v.InferOutput<typeof Asked>;

const typed = {
  kind: v.literal("typed"),
  id: EntryId,
  at,
  text,
  images: v.pipe(v.array(HumanImage), v.maxLength(HUMAN_LIMITS.imagesPerMessage)),
  /** Null: whichever client asks first. */
  to: v.nullable(HumanClient),
  /** The question this answers. */
  questionId: v.nullable(EntryId),
};
/** The person wrote something: an answer, or a message of their own. Empty text only with an image. */
export const NewTyped = v.object(typed);
export type NewTyped = v.InferOutput<typeof NewTyped>;
/**
 * `queued`: kept, nobody took it. `delivered`: it went into an answer that is on its way. `read`: that answer left whole.
 * `repeat`: it was on its way before, and whether it arrived is not known.
 */
export const Typed = v.object({ ...typed, n, state: v.picklist(["queued", "delivered", "read"]), repeat: v.boolean() });
export type Typed = v.InferOutput<typeof Typed>;

export const HumanEntry = v.variant("kind", [Said, Asked, Typed]);
export type HumanEntry = v.InferOutput<typeof HumanEntry>;

/** What became of a message of the person. */
export const Mark = v.object({ id: EntryId, state: Typed.entries.state, repeat: v.boolean() });
export type Mark = v.InferOutput<typeof Mark>;
