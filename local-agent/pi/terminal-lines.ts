/**
 * Text as lines that fit a terminal. Pi refuses a line that is too wide, so what might be wide counts as wide: a line may end early,
 * but it never sticks out. Pure.
 */

const TAB = "   ";

/**
 * @param text without control characters but line breaks and tabs (visibleBlock)
 * @param width columns, at least 1
 * @param limit lines that are made at most
 */
export function wrapLines(text: string, width: number, limit = Infinity): string[] {
  const made: string[] = [];
  let at = 0;
  while (made.length < limit && at < text.length) {
    const end = lineEnd(text, at);
    at = wrapLine(text.slice(at, end), width, made, limit) ? end + 1 : text.length;
  }
  return made;
}

/** Where the line that begins at `at` ends, looked for no further than a screenful of it would need. */
function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end;
}

/** False: the limit was reached. */
function wrapLine(line: string, width: number, made: string[], limit: number): boolean {
  let current = "";
  let columns = 0;
  let blank = -1;
  for (const character of line.replaceAll("\t", TAB)) {
    const wide = columnsOf(character);
    if (columns + wide > width && current !== "") {
      // Words stay whole where that leaves more than half a line.
      const cut = blank > current.length / 2 ? blank : current.length;
      made.push(current.slice(0, cut).trimEnd());
      if (made.length >= limit) return false;
      current = current.slice(cut).trimStart();
      columns = Array.from(current, columnsOf).reduce<number>((sum, each) => sum + each, 0);
      blank = -1;
    }
    if (wide > width) continue;
    if (character === " ") blank = current.length;
    current += character;
    columns += wide;
  }
  made.push(current);
  return true;
}

/** The most columns a character can take: 2 from where scripts and pictures begin that terminals draw wide. */
function columnsOf(character: string): 1 | 2 {
  const code = character.codePointAt(0) ?? 0;
  return code < 0x1100 || (code >= 0x2010 && code <= 0x2027) || (code >= 0x2190 && code <= 0x2193) || (code >= 0x2500 && code <= 0x257f) ? 1 : 2;
}
