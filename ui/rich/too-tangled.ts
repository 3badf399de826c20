/**
 * Whether text could keep the page busy for long when it is read as markdown: reading is quadratic in the emphasis marks
 * of one paragraph, and as deep as its quotes and lists are nested. Such text is shown as it is. Pure, one pass.
 */

/** Reading 2,000 marks of one paragraph takes some 10 ms; prose has a few dozen. */
const MAX_MARKS_PER_PARAGRAPH = 2_000;
const MAX_MARKS = 8_000;
/** Paragraphs, list items, headings: what takes the time is to make and to sanitise thousands of elements. */
const MAX_BLOCKS = 1_500;
/** Levels of quotes and lists on one line. */
const MAX_LEVELS = 16;
const MAX_INDENT = 80;

/** Every row of a table is filled up to the width of its head. */
const MAX_CELLS = 4_000;

const MARK = /[*_~[\]`<$\\]/g;
const BEGINS_BLOCK = /^\s*(?:$|[-+*>#|~`=]|\d{1,9}[.)])/;
const LEVELS = new RegExp(`^(?:[ \\t]*(?:>|[-+*][ \\t]|\\d{1,9}[.)][ \\t])){${MAX_LEVELS}}`);
const INDENTED_ITEM = new RegExp(`^[ \\t]{${MAX_INDENT},}(?:[-+*>]|\\d{1,9}[.)])`);

/** The line under a table's head, also one in a quote or a list. */
const UNDER_HEAD = /^(?=[^|]*\|)(?=[^-]*-)[\s>|:+*\d.)-]*$/;

export function isTooTangled(text: string): boolean {
  let inParagraph = 0;
  let inAll = 0;
  let columns = 0;
  let cells = 0;
  let blocks = 0;
  for (const line of text.split("\n")) {
    if (LEVELS.test(line) || INDENTED_ITEM.test(line)) return true;
    const marks = line.match(MARK)?.length ?? 0;
    const isBlank = line.trim() === "";
    inParagraph = isBlank ? 0 : inParagraph + marks;
    inAll += marks;
    if (UNDER_HEAD.test(line)) columns = Math.max(columns, line.split("|").length);
    else if (isBlank) columns = 0;
    cells += columns;
    if (BEGINS_BLOCK.test(line)) blocks++;
    if (inParagraph > MAX_MARKS_PER_PARAGRAPH || inAll > MAX_MARKS || cells > MAX_CELLS || blocks > MAX_BLOCKS) return true;
  }
  return false;
}
