/** JSON that a model reads. Pure. */
import type { JsonValue } from "../../../shared/json.ts";

/** What indentation may add: so many times the text, and so many characters. */
const MAX_ADDED = { times: 8, chars: 65_536 } as const;

/**
 * Indented, or in one line where that would make a large text of little: each line bears its depth, so that a few kilobytes of nested
 * lists become as many megabytes. Undefined: it is nested beyond what can be written, which recurses.
 */
export function readableJson(value: JsonValue): string | undefined {
  try {
    const line = JSON.stringify(value);
    return addedByIndentation(line) > line.length * MAX_ADDED.times + MAX_ADDED.chars ? line : JSON.stringify(value, null, 2);
  } catch {
    return undefined;
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
/** `[` and `{`, and what closes them. */
const OPENING: readonly number[] = [0x5b, 0x7b];
const CLOSING: readonly number[] = [0x5d, 0x7d];

/** Characters: line breaks with what stands before the next one's text, and blanks after colons. */
function addedByIndentation(line: string): number {
  let added = 0;
  let depth = 0;
  for (let at = 0; at < line.length; at += 1) {
    const code = line.charCodeAt(at);
    if (code === QUOTE) at = endOfString(line, at);
    else if (code === COLON) added += 1;
    else if (code === COMMA) added += 1 + 2 * depth;
    else if (OPENING.includes(code)) {
      // Empty ones stay as they are.
      if (CLOSING.includes(line.charCodeAt(at + 1))) at += 1;
      else added += 1 + 2 * ++depth;
    } else if (CLOSING.includes(code)) added += 1 + 2 * --depth;
  }
  return added;
}

function endOfString(line: string, start: number): number {
  let at = start + 1;
  while (line.charCodeAt(at) !== QUOTE) at += line.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}
