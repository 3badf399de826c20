/**
 * How much one `edit` may ask for. Pi finds the old text and computes a difference without a pause, so that every client
 * waits; the bounds keep the worst file and the worst edits below about three seconds. Pure.
 */
import type { JsonObject } from "../../shared/json.ts";

/** Old and new lines together: the difference takes their product. */
const MAX_LINES = 2_000;
/** Edits near each other are compared with all that is between them. */
const MAX_EDITS = 100;
/** The whole file is normalized for each edit (Unicode, white space, typographic quotes). */
const MAX_BYTES_TIMES_EDITS = 8 * 1024 * 1024;
/** Unicode puts the marks of one letter in order by moving them one by one: a long run never ends. U+FF9E and U+FF9F become marks. */
const LONG_RUN_OF_MARKS = /[\p{M}\uff9e\uff9f]{257}/u;

/** Why these arguments of `edit` are not tried, as a sentence; undefined when they are. */
export function editObjection(args: JsonObject): string | undefined {
  const edits = editsOf(args);
  if (edits.length > MAX_EDITS) return `edit takes at most ${MAX_EDITS} edits in one call, and these are ${edits.length}: make several calls`;
  let lines = 0;
  for (const text of edits.flat()) {
    lines += text.split(/\r\n|\r|\n/).length;
    if (LONG_RUN_OF_MARKS.test(text)) return "edit does not take text with more than 256 combining characters in a row";
  }
  if (lines <= MAX_LINES) return undefined;
  return `edit compares at most ${MAX_LINES} lines in one call, and the old and new texts have ${lines}: make several smaller edits, or write the whole file`;
}

/** Why this file is not edited with these arguments; `shown` is what the caller called it. */
export function fileObjection(shown: string, text: string, bytes: number, args: JsonObject): string | undefined {
  const edits = Math.max(1, editsOf(args).length);
  if (bytes > MAX_BYTES_TIMES_EDITS)
    return `${shown} has ${bytes} bytes, and edit takes at most ${MAX_BYTES_TIMES_EDITS}: use the shell to change it`;
  if (bytes * edits > MAX_BYTES_TIMES_EDITS) {
    return `${shown} has ${bytes} bytes, too many for ${edits} edits in one call: make at most ${Math.floor(MAX_BYTES_TIMES_EDITS / bytes)} at a time`;
  }
  if (LONG_RUN_OF_MARKS.test(text))
    return `${shown} has more than 256 combining characters in a row, which edit cannot compare: use write, or the shell`;
  return undefined;
}

/** Old and new text of each edit, of validated arguments. */
function editsOf(args: JsonObject): string[][] {
  const edits = args["edits"];
  if (!Array.isArray(edits)) return [];
  return edits.map((edit) => (typeof edit === "object" && edit !== null ? Object.values(edit).filter((text) => typeof text === "string") : []));
}
