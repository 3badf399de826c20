/** One formula as MathML, which needs no style and no font of ours. */
import katex, { type KatexOptions } from "katex";
import type { Formula } from "./math-syntax.ts";

/** All formulas of one text together; what comes after it is shown as source. */
export interface FormulaBudget {
  leftMs: number;
}

const SETTINGS = {
  output: "mathml",
  /** No links, no images, no classes or styles from the text. */
  trust: false,
  strict: "ignore",
  throwOnError: true,
  /** In em. */
  maxSize: 20,
  maxExpand: 200,
} as const;

/** Undefined: it cannot be read as one, or the time is used up; the source is shown. */
export function formulaElement({ tex, isDisplay }: Formula, budget: FormulaBudget): HTMLElement | undefined {
  if (budget.leftMs <= 0) return undefined;
  const began = performance.now();
  const element = document.createElement("span");
  element.className = isDisplay ? "formula display" : "formula";
  try {
    element.append(drawn(tex, isDisplay));
    return element;
  } catch {
    return undefined; // Not TeX, or nested too deeply.
  } finally {
    budget.leftMs -= performance.now() - began;
  }
}

/** What KaTeX made of it before it is a document's: a tree of its own, from which everything about style is taken. */
interface Drawn {
  children?: Drawn[];
  attributes?: Record<string, unknown>;
  type?: string;
  toNode(): Node;
}

/** Exported by KaTeX for such use, and missing in its types. */
const { __renderToDomTree: draw } = katex as typeof katex & { __renderToDomTree: (tex: string, options: KatexOptions) => Drawn };

function drawn(tex: string, isDisplay: boolean): Node {
  const tree = draw(tex, { ...SETTINGS, displayMode: isDisplay });
  strip(tree);
  return tree.toNode();
}

/** `annotation` repeats the source, `style` would be refused by the page's policy. */
function strip(tree: Drawn): void {
  if (tree.attributes !== undefined) delete tree.attributes["style"];
  if (tree.children === undefined) return;
  tree.children = tree.children.filter((child) => child.type !== "annotation");
  tree.children.forEach(strip);
}
