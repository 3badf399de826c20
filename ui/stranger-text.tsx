import type { JSX } from "preact";
import { visibleLine } from "../shared/visible-text.ts";

/** Text somebody else chose: inserted as text, hidden characters written out, its direction kept to itself. */
export function StrangerText({ text, maxChars }: { readonly text: string; readonly maxChars?: number }): JSX.Element {
  return <bdi class="stranger">{visibleLine(text, maxChars)}</bdi>;
}
