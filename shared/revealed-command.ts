/**
 * A command as a person has to see it before they allow it: every character that hides, reorders, imitates or pushes the
 * rest out of sight is written out. Nothing is left out; a run of blanks is replaced by its length.
 */
import { lookAlikesIn, takenFor } from "./look-alikes.ts";
import { visibleLine } from "./visible-text.ts";

/** `plain` is shown as it is; every other piece is marked, `shown` is what stands there. */
export type CommandPiece =
  | { readonly kind: "plain"; readonly shown: string }
  /** Controls, bidirectional marks, zero-width characters, odd blanks. */
  | { readonly kind: "hidden"; readonly shown: string }
  | { readonly kind: "blanks"; readonly shown: string }
  /** Letters of one word that are written from right to left: in a piece of their own, so that they reorder nothing around them. */
  | { readonly kind: "right_to_left"; readonly shown: string }
  /** `shown` is the letter itself; `code` its number and what it is taken for. */
  | { readonly kind: "look_alike"; readonly shown: string; readonly code: string };

export interface RevealedCommand {
  readonly pieces: readonly CommandPiece[];
  /** Sentences about what was found, for reading before deciding. */
  readonly warnings: readonly string[];
}

/** Blanks inside a line from here on are told by their number: what follows could stand outside the window. */
const LONG_BLANKS = 24;
/** So many blank lines or more. */
const BLANK_LINES = 3;
/** More marked pieces than this are written into the plain text: still visible, and the page stays quick. */
const MAX_MARKED = 2_000;

/** In this order: blank lines, long blanks, blanks at the end of a line. */
const SPECIAL = new RegExp(`(?<lines>\\n(?:[ \\t]*\\n){${BLANK_LINES},})|(?<long>[ \\t]{${LONG_BLANKS},})|(?<end>[ \\t]+(?=\\n|$))`, "g");

/**
 * Besides what hides: characters of no meaning that anybody agreed on (private, unassigned), marks that are drawn over or around
 * a letter and so make it another one.
 */
const COVERING = /[\p{Co}\p{Cn}\p{Me}\u0334-\u0338\u20d2\u20d3\u20d8-\u20da\u20e5\u20e6\u20ea\u20eb]/u;
const MARK = /\p{M}/u;
/** No script needs more on one letter; a pile of them covers the lines above. */
const MARKS_OF_A_LETTER = 3;

/** Hebrew, Arabic and their kin with their digits and marks. Two such words beside each other are drawn in the opposite order. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

export function revealCommand(text: string): RevealedCommand {
  const look = new Set(lookAlikesIn(text));
  const collected = collector();
  let hidden = 0;
  let blanks = 0;
  const plain = (from: number, to: number): void => {
    hidden += revealCharacters(text, { from, to, look }, collected);
  };
  let at = 0;
  for (const match of text.matchAll(SPECIAL)) {
    plain(at, match.index);
    at = match.index + match[0].length;
    blanks += match.groups?.["end"] === undefined ? 1 : 0;
    collected.add({ kind: "blanks", shown: blanksShown(match) });
  }
  plain(at, text.length);
  return { pieces: collected.pieces(), warnings: warningsAbout({ hidden, blanks, lookAlikes: look.size }) };
}

function blanksShown({ 0: found, groups }: RegExpMatchArray): string {
  if (groups?.["lines"] !== undefined) return `\n‹${found.split("\n").length - 2} blank lines›\n`;
  if (groups?.["long"] !== undefined) return `‹${found.length} blanks›`;
  return found.replaceAll("\t", "⇥").replaceAll(" ", "·");
}

interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly look: ReadonlySet<number>;
}

/** How many hidden characters there were. */
function revealCharacters(text: string, { from, to, look }: Stretch, collected: Collector): number {
  let hidden = 0;
  let since = from;
  let marks = 0;
  for (let at = from; at < to;) {
    const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
    marks = character > "~" && MARK.test(character) ? marks + 1 : 0;
    const piece = marks > MARKS_OF_A_LETTER ? hiddenPiece(character) : pieceOf(character, look.has(at));
    if (piece !== undefined) {
      collected.add({ kind: "plain", shown: text.slice(since, at) });
      collected.add(piece);
      hidden += piece.kind === "hidden" ? 1 : 0;
      since = at + character.length;
    }
    at += character.length;
  }
  collected.add({ kind: "plain", shown: text.slice(since, to) });
  return hidden;
}

function pieceOf(character: string, isLookAlike: boolean): CommandPiece | undefined {
  if (isLookAlike) return { kind: "look_alike", shown: character, code: `${numberOf(character)} looks like ${takenFor(character)}` };
  // Line breaks and tabs inside a line are seen as what they are; all else of ASCII that is printed needs no look.
  if (character === "\n" || character === "\t" || (character >= " " && character <= "~")) return undefined;
  const shown = visibleLine(character);
  if (shown !== character) return { kind: "hidden", shown };
  if (COVERING.test(character)) return hiddenPiece(character);
  return RIGHT_TO_LEFT.test(character) ? { kind: "right_to_left", shown } : undefined;
}

function hiddenPiece(character: string): CommandPiece {
  return { kind: "hidden", shown: `‹${numberOf(character)}›` };
}

function numberOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

interface Collector {
  add(piece: CommandPiece): void;
  pieces(): readonly CommandPiece[];
}

/** Joins neighbours of one kind, so that ten thousand hidden characters are one mark and not ten thousand. */
function collector(): Collector {
  const pieces: CommandPiece[] = [];
  let marked = 0;
  return {
    add(given) {
      if (given.shown === "") return;
      const piece = marked < MAX_MARKED || given.kind === "plain" ? given : asPlain(given);
      const last = pieces.at(-1);
      if (last !== undefined && last.kind === piece.kind && piece.kind !== "look_alike") {
        pieces[pieces.length - 1] = { kind: piece.kind, shown: last.shown + piece.shown };
        return;
      }
      if (piece.kind !== "plain") marked += 1;
      pieces.push(piece);
    },
    pieces: () => pieces,
  };
}

function asPlain(piece: CommandPiece): CommandPiece {
  if (piece.kind === "look_alike") return { kind: "plain", shown: `${piece.shown}‹${piece.code}›` };
  // In plain text they would reorder what stands around them.
  if (piece.kind === "right_to_left") return { kind: "plain", shown: Array.from(piece.shown, (letter) => `‹${numberOf(letter)}›`).join("") };
  return { kind: "plain", shown: piece.shown };
}

function warningsAbout(found: { readonly hidden: number; readonly blanks: number; readonly lookAlikes: number }): string[] {
  const warnings: string[] = [];
  if (found.lookAlikes > 0) warnings.push(`It contains letters that look like others (${found.lookAlikes}): each is marked with what it really is.`);
  if (found.hidden > 0)
    warnings.push(`It contains characters that cannot be seen (${found.hidden}), or that cover what can: each is written out as ‹U+…›.`);
  if (found.blanks > 0)
    warnings.push("It contains long runs of blanks: their length is written out, and what comes after them is part of the command.");
  return warnings;
}
