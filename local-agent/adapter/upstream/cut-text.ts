/** What fits: at most `length` characters, the last of which says that there was more. Pure. */
export function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).trimEnd()}…`;
}
