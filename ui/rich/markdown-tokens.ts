/** Markdown to marked's tokens: GitHub's dialect with formulas. Raw HTML is no markup here, it stays text. */
import { Marked, type TokensList } from "marked";
import { FORMULA_EXTENSIONS } from "./math-syntax.ts";

const marked = new Marked({
  gfm: true,
  tokenizer: { html: () => undefined, tag: () => undefined },
  extensions: [...FORMULA_EXTENSIONS],
});

/** Throws where the text is nested deeper than the stack. */
export function markdownTokens(text: string): TokensList {
  return marked.lexer(text);
}

const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

/** Character references, as markdown has them; marked reads some of them, in some places. */
export function withoutReferences(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos|nbsp));/gi, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number.parseInt(decimal, 10);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
