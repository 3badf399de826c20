/** Where formulas are in markdown: `$…$`, `\(…\)`, `$$…$$`, `\[…\]`. As extensions of marked, so that code stays code. */
import type { TokenizerExtension, Tokens } from "marked";

export interface Formula {
  readonly tex: string;
  readonly isDisplay: boolean;
}

/** Longer ones are shown as they are: a formula for people is far below it, and reading one takes time in its length. */
const MAX_TEX_CHARS = 4_000;

/**
 * A formula begins right before a character that is no blank and ends right after one, and no digit follows: "$5 and $6"
 * is money. It does not span a blank line.
 */
const DOLLARS = new RegExp(`^\\$(?![\\s$])((?:\\\\[^]|[^\\\\$\\n]|\\n(?!\\s*\\n)){1,${MAX_TEX_CHARS}})(?<![\\s])\\$(?![\\d$])`);
const DOUBLE_DOLLARS = new RegExp(`^\\$\\$((?:\\\\[^]|[^\\\\$\\n]|\\$(?!\\$)|\\n(?!\\s*\\n)){1,${MAX_TEX_CHARS}})\\$\\$`);
const ROUND = new RegExp(`^\\\\\\(((?:[^\\\\\\n]|\\\\(?!\\))[^]|\\n(?!\\s*\\n)){1,${MAX_TEX_CHARS}}?)\\\\\\)`);
const SQUARE = new RegExp(`^\\\\\\[((?:[^\\\\\\n]|\\\\(?!\\])[^]|\\n(?!\\s*\\n)){1,${MAX_TEX_CHARS}}?)\\\\\\]`);
const BEGINS = /\$|\\\(|\\\[/;
const BLOCK_BEGINS = /^ {0,3}(?=\$\$|\\\[)/m;

const FORMULA = "formula";

export const FORMULA_EXTENSIONS: readonly TokenizerExtension[] = [
  {
    name: `${FORMULA}Block`,
    level: "block",
    start: (source) => BLOCK_BEGINS.exec(source)?.index,
    tokenizer(source) {
      const indent = /^ {0,3}/.exec(source)?.[0] ?? "";
      const found = displayed(source.slice(indent.length));
      if (found === undefined) return undefined;
      const rest = source.slice(indent.length + found.raw.length);
      // Something follows on the line: then it is part of a paragraph.
      const end = /^[ \t]*(?:\n|$)/.exec(rest)?.[0];
      return end === undefined ? undefined : { ...found, type: `${FORMULA}Block`, raw: indent + found.raw + end };
    },
  },
  {
    name: FORMULA,
    level: "inline",
    start: (source) => BEGINS.exec(source)?.index,
    tokenizer: (source) => displayed(source) ?? matched(source, ROUND, false) ?? matched(source, DOLLARS, false),
  },
];

/** The formula of a token that these extensions made. */
export function formulaOf(token: Tokens.Generic): Formula | undefined {
  return token.type === FORMULA || token.type === `${FORMULA}Block` ? (token["formula"] as Formula) : undefined;
}

type FormulaToken = Tokens.Generic & { formula: Formula };

function displayed(source: string): FormulaToken | undefined {
  return matched(source, DOUBLE_DOLLARS, true) ?? matched(source, SQUARE, true);
}

function matched(source: string, syntax: RegExp, isDisplay: boolean): FormulaToken | undefined {
  const found = syntax.exec(source);
  const tex = found?.[1]?.trim() ?? "";
  return found === null || tex === "" ? undefined : { type: FORMULA, raw: found[0], formula: { tex, isDisplay } };
}
