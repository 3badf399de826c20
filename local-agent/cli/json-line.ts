/** One line of JSON for programs. What lies beyond ASCII is written as escapes: a stranger's text in it may not drive a terminal. */
export function jsonLine(value: unknown): string {
  const text = JSON.stringify(value).replaceAll(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return `${text}\n`;
}
