/** A client's text as the page shows it. Its own chunk: a page without a conversation never loads it. */
import { visibleBlock } from "../../shared/visible-text.ts";
import { onlyAllowed } from "./allowlist.ts";
import { addCodeTools } from "./code-tools.ts";
import { elementsOf } from "./elements.ts";
import { markdownTokens } from "./markdown-tokens.ts";
import { isTooTangled } from "./too-tangled.ts";

/** Milliseconds for all formulas of one text. */
const FORMULAS_MS = 100;

/** Undefined: it would take too long, or is nested too deeply; it is shown as it was written. */
export function richContent(text: string): DocumentFragment | undefined {
  const visible = visibleBlock(text);
  if (isTooTangled(visible)) return undefined;
  try {
    const made = document.createElement("div");
    made.append(...elementsOf(markdownTokens(visible), { budget: { leftMs: FORMULAS_MS }, depth: 0 }));
    const fragment = onlyAllowed(made);
    addCodeTools(fragment);
    return fragment;
  } catch {
    return undefined;
  }
}
