/** Words that were probably meant. */

/** Short words differ from other words by one letter too often to be guessed. */
export function allowedEdits(word: string): number {
  if (word.length < 4) return 0;
  return word.length < 8 ? 1 : 2;
}
