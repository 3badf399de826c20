/** Breaks at spaces; a word that is too long (a URL, a token) stays whole, so that it can be copied. Pure. */
export function wrap(text: string, room: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= room) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
