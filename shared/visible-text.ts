/**
 * Text chosen by strangers, made safe to look at. Characters that hide, reorder or imitate (controls, bidirectional
 * marks, zero-width and blank letters, tags) are written out as `‹U+202E›`, so that a name or a path cannot pass for
 * another one. The result is still inserted as text, never as markup.
 */

/**
 * Invisible to a reader: C0/C1 controls, and whatever Unicode calls a format character or ignorable (soft hyphen, bidi marks and
 * isolates, zero-width characters, invisible operators, variation selectors, tags, shorthand and hieroglyph controls); Hangul
 * and Braille blanks, an empty note, line separators, interlinear marks, lone surrogates.
 */
const HIDDEN =
  // oxlint-disable-next-line no-control-regex, no-misleading-character-class -- matching exactly these is the purpose
  /[\u0000-\u001f\u007f-\u009f\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800\ufff0-\ufffb\u{1d159}\ud800-\udfff]/gu;

/** Blanks that are not the usual one: in a line they could pass for the gap between two columns. */
const ODD_BLANKS = /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/gu;

/** Common controls have a picture people know; everything else shows its number. */
const PICTURES: Readonly<Record<string, string>> = { "\n": "⏎", "\r": "␍", "\t": "⇥", "\u001b": "␛" };

/** One line: line breaks and tabs are shown too. `maxChars` cuts with an ellipsis. */
export function visibleLine(text: string, maxChars = 2_000): string {
  return cut(text, maxChars)
    .replace(HIDDEN, (found) => PICTURES[found] ?? numbered(found))
    .replace(ODD_BLANKS, numbered);
}

/** Several lines, as a tool printed them: line breaks and tabs stay, and the joiners that scripts and emoji need. */
export function visibleBlock(text: string): string {
  return text.replace(/\r\n/g, "\n").replace(HIDDEN, (found) => (KEPT_IN_BLOCKS.has(found) ? found : (BLOCK_PICTURES[found] ?? numbered(found))));
}

const KEPT_IN_BLOCKS = new Set(["\n", "\t", "\u200c", "\u200d", "\ufe0e", "\ufe0f"]);
const BLOCK_PICTURES: Readonly<Record<string, string>> = { "\r": "␍", "\u001b": "␛" };

function cut(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const kept = text.slice(0, Math.max(0, maxChars - 1));
  // A pair cut in two would show as a lone surrogate.
  return `${/[\ud800-\udbff]$/.test(kept) ? kept.slice(0, -1) : kept}…`;
}

function numbered(character: string): string {
  return `‹U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}›`;
}
