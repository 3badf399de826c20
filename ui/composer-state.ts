/**
 * What the person is writing. Text leaves the box when it is sent and comes back into it when it could not be kept, so
 * that it is always either in the box, on its way, or in the timeline. Pure; ids come in.
 */
import * as v from "valibot";
import { EntryId, HumanImage } from "../shared/human/entry.ts";
import { HUMAN_LIMITS } from "../shared/human/limits.ts";

const Draft = v.object({
  /** Of the message it becomes. A draft that was sent and came back keeps it until it is changed: a repeat is then recognised. */
  id: EntryId,
  text: v.string(),
  images: v.array(HumanImage),
  /** Null: the default rule. */
  to: v.nullable(v.string()),
});
export type Draft = v.InferOutput<typeof Draft>;

const StoredComposer = v.object({ draft: Draft, onTheWay: v.array(Draft) });

export interface ComposerState {
  readonly draft: Draft;
  /** Sent and not yet answered, oldest first. One at a time is sent, so that they arrive in order. */
  readonly onTheWay: readonly Draft[];
  /** Why what is in the box is still there. */
  readonly problem: string | undefined;
}

export type ComposerAction =
  | { readonly t: "typed"; readonly text: string; readonly freshId: string }
  | { readonly t: "attached"; readonly image: HumanImage; readonly freshId: string }
  | { readonly t: "removed"; readonly imageId: string; readonly freshId: string }
  | { readonly t: "addressed"; readonly to: string | null; readonly freshId: string }
  /** `to`: whom the box named at that moment, so that no client that comes to wait meanwhile gets words meant for another. */
  | { readonly t: "sent"; readonly to: string | null; readonly freshId: string }
  /** It is in the timeline, or will be. */
  | { readonly t: "kept"; readonly id: string; readonly freshId: string }
  | { readonly t: "refused"; readonly id: string; readonly why: string; readonly freshId: string };

function emptyComposer(id: string): ComposerState {
  return { draft: { id, text: "", images: [], to: null }, onTheWay: [], problem: undefined };
}

export function nextComposer(state: ComposerState, action: ComposerAction): ComposerState {
  const { draft } = state;
  const changed = (change: Partial<Draft>): ComposerState => ({ ...state, draft: { ...draft, ...change, id: action.freshId }, problem: undefined });
  switch (action.t) {
    case "typed":
      return action.text === draft.text ? state : changed({ text: action.text });
    case "attached":
      return draft.images.length >= HUMAN_LIMITS.imagesPerMessage ? state : changed({ images: [...draft.images, action.image] });
    case "removed":
      return changed({ images: draft.images.filter((image) => image.id !== action.imageId) });
    case "addressed":
      return changed({ to: action.to });
    case "sent":
      if (!canSend(draft)) return state;
      return {
        draft: { id: action.freshId, text: "", images: [], to: draft.to },
        onTheWay: [...state.onTheWay, { ...draft, to: action.to }],
        problem: undefined,
      };
    case "kept":
      return withKept(state, action.id, action.freshId);
    case "refused":
      return withRefused(state, action.id, action.why, action.freshId);
  }
}

function withKept(state: ComposerState, id: string, freshId: string): ComposerState {
  const onTheWay = state.onTheWay.filter((sent) => sent.id !== id);
  if (state.draft.id === id) return { ...state, onTheWay, draft: { id: freshId, text: "", images: [], to: state.draft.to }, problem: undefined };
  return onTheWay.length === state.onTheWay.length ? state : { ...state, onTheWay };
}

/** What came after it has not been sent: all of it goes back into the box, in order, before what was written meanwhile. */
function withRefused(state: ComposerState, id: string, why: string, freshId: string): ComposerState {
  const place = state.onTheWay.findIndex((sent) => sent.id === id);
  if (place === -1) return state;
  const back = [...state.onTheWay.slice(place), state.draft].filter((draft) => draft.text !== "" || draft.images.length > 0);
  const [first, ...others] = back;
  if (first === undefined) return state;
  const draft = {
    id: others.length === 0 ? first.id : freshId,
    text: back.map((part) => part.text).join("\n"),
    images: back.flatMap((part) => part.images).slice(0, HUMAN_LIMITS.imagesPerMessage),
    to: first.to,
  };
  return { draft, onTheWay: state.onTheWay.slice(0, place), problem: why };
}

export function canSend({ text, images }: Draft): boolean {
  return (text.trim() !== "" || images.length > 0) && textBytes(text) <= HUMAN_LIMITS.textBytes;
}

/** Whether something would be lost with it. */
export function hasWords({ draft, onTheWay }: ComposerState): boolean {
  return onTheWay.length > 0 || draft.text.trim() !== "" || draft.images.length > 0;
}

const encoder = new TextEncoder();

export function textBytes(text: string): number {
  return encoder.encode(text).byteLength;
}

/** Characters below which counting bytes is not worth it: none takes more than three. */
const SURELY_SHORT = HUMAN_LIMITS.textBytes / 4;

/** "1,204 bytes left", "12 bytes too long", or nothing while there is plenty of room. */
export function lengthNote(text: string): { readonly words: string; readonly isTooLong: boolean } | undefined {
  if (text.length < SURELY_SHORT) return undefined;
  const left = HUMAN_LIMITS.textBytes - textBytes(text);
  if (left > HUMAN_LIMITS.textBytes / 8) return undefined;
  if (left >= 0) return { words: `${left.toLocaleString("en")} bytes left`, isTooLong: false };
  return { words: `${(-left).toLocaleString("en")} bytes too long: a message holds 64 KiB`, isTooLong: true };
}

/** For this tab's storage: everything that is not known to be kept. */
export function storedComposer({ draft, onTheWay }: ComposerState): string {
  return JSON.stringify({ draft, onTheWay });
}

/** What was on its way when the page was closed is in the box again, with its id: if it did arrive, sending it again changes nothing. */
export function restoredComposer(stored: unknown, freshId: string): ComposerState {
  const parsed = v.safeParse(StoredComposer, stored);
  if (!parsed.success) return emptyComposer(freshId);
  const { draft, onTheWay } = parsed.output;
  const [first] = onTheWay;
  if (first === undefined) return { draft, onTheWay: [], problem: undefined };
  return withRefused({ draft, onTheWay, problem: undefined }, first.id, "The page was loaded again before this was sent for certain.", freshId);
}
