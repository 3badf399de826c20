/** Text that a person decides about, and that may be longer than a dialog holds. Pure. */

/**
 * The beginning, and how much is left out: what does not fit is decided about, too.
 * @param show makes it safe to look at (shared/visible-text.ts)
 */
export function shownPart(text: string, maxChars: number, show: (part: string) => string): string {
  const hidden = text.length - maxChars;
  return hidden <= 0 ? show(text) : `${show(text.slice(0, maxChars))}…\n(${hidden} more characters of it are not shown)`;
}
