/**
 * Output of a call, kept to its beginning and its end. The desk and the page run this same reducer, so a page that
 * follows deltas and one that has just loaded show the same text.
 */
import * as v from "valibot";

export const BoundedOutput = v.object({
  head: v.string(),
  /** Continues `head` directly when nothing was omitted. */
  tail: v.string(),
  /** UTF-16 units left out between head and tail. */
  omittedChars: v.number(),
});
export type BoundedOutput = v.InferOutput<typeof BoundedOutput>;

/** UTF-16 units kept. The tail is larger: what a command said last is what is looked for. */
const OUTPUT_LIMITS = { headChars: 8_192, tailChars: 24_576 } as const;
type OutputLimits = { readonly headChars: number; readonly tailChars: number };

export const NO_OUTPUT: BoundedOutput = { head: "", tail: "", omittedChars: 0 };

/** Adds text at the end; never grows beyond the limits, never splits a surrogate pair. */
export function appendOutput(output: BoundedOutput, delta: string, limits: OutputLimits = OUTPUT_LIMITS): BoundedOutput {
  const fromHead = output.tail === "" && output.omittedChars === 0 ? wholeUnits(delta, limits.headChars - output.head.length) : 0;
  const head = output.head + delta.slice(0, fromHead);
  const grown = output.tail + delta.slice(fromHead);
  const excess = grown.length - limits.tailChars;
  if (excess <= 0) return { head, tail: grown, omittedChars: output.omittedChars };
  const cut = startsInsidePair(grown, excess) ? excess + 1 : excess;
  return { head, tail: grown.slice(cut), omittedChars: output.omittedChars + cut };
}

/** What is left of an old call's output when memory is needed for newer ones. */
export function forgetOutput(output: BoundedOutput): BoundedOutput {
  return { head: "", tail: "", omittedChars: output.head.length + output.tail.length + output.omittedChars };
}

export function outputChars(output: BoundedOutput): number {
  return output.head.length + output.tail.length;
}

function wholeUnits(text: string, room: number): number {
  if (room <= 0) return 0;
  if (room >= text.length) return text.length;
  return startsInsidePair(text, room) ? room - 1 : room;
}

function startsInsidePair(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  const after = text.charCodeAt(at);
  return before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
}
