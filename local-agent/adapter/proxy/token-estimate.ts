/** How many tokens a model needs for a text: an estimate that is rather too high, for words of any language. Pure. */

const PIECES = /[A-Za-z]+|\d+|\s+|[^\sA-Za-z\d]/gu;

/** Letters that one token of English holds on average, rounded down; digits go by three; a character of another script may need as many as it has bytes. */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (const [piece] of text.matchAll(PIECES)) tokens += ofPiece(piece);
  return tokens;
}

function ofPiece(piece: string): number {
  const code = piece.codePointAt(0) ?? 0;
  if (code >= 0x80) return code > 0xffff ? 4 : 3;
  if (/^[A-Za-z]/.test(piece)) return Math.ceil(piece.length / 6);
  if (/^\d/.test(piece)) return Math.ceil(piece.length / 3);
  // One blank belongs to the word after it.
  return piece === " " ? 0 : 1;
}

/** The longest beginning of whole words within the estimate, with an ellipsis where something was cut; empty when no word fits. */
export function cutToTokens(text: string, maxTokens: number): string {
  if (estimateTokens(text) <= maxTokens) return text;
  let kept = "";
  let tokens = 1; // The ellipsis.
  for (const [word] of text.matchAll(/\s*\S+/g)) {
    tokens += estimateTokens(word);
    if (tokens > maxTokens) break;
    kept += word;
  }
  return kept === "" ? "" : `${kept.trimEnd()}…`;
}
