/** Tokens to elements. Nothing is ever parsed as HTML here: every element is made by name and every text is a text node. */
import type { Token, Tokens } from "marked";
import { visibleBlock } from "../../shared/visible-text.ts";
import { formulaElement, type FormulaBudget } from "./formula.ts";
import { linkTarget, saysItself } from "./link-target.ts";
import { withoutReferences } from "./markdown-tokens.ts";
import { formulaOf } from "./math-syntax.ts";

/** Deeper parts are shown as they were written. */
const MAX_DEPTH = 24;

export interface Drawing {
  readonly budget: FormulaBudget;
  readonly depth: number;
}

type Made = Node | string;

export function elementsOf(tokens: readonly Token[], drawing: Drawing): Made[] {
  if (drawing.depth > MAX_DEPTH) return [tokens.map((token) => token.raw).join("")];
  const deeper = { ...drawing, depth: drawing.depth + 1 };
  return tokens.flatMap((token) => elementsOfOne(token as Tokens.Generic, deeper));
}

/** Marked's own tokens, which its type for extensions hides. */
// oxlint-disable-next-line complexity -- one line for each kind of token
function elementsOfOne(token: Tokens.Generic, drawing: Drawing): Made[] {
  const inside = (): Made[] => elementsOf(token.tokens ?? [], drawing);
  switch (token.type) {
    case "space":
    case "def":
      return [];
    case "heading":
      // The page's own headings come first: a message's begin below them.
      return [make(`h${Math.min(6, (token as Tokens.Heading).depth + 3)}`, inside())];
    case "paragraph":
      return [make("p", inside())];
    case "blockquote":
      return [make("blockquote", inside())];
    case "list":
      return [list(token as Tokens.List, drawing)];
    case "code":
      return [codeBlock(token as Tokens.Code)];
    case "table":
      return [table(token as Tokens.Table, drawing)];
    case "hr":
      return [make("hr", [])];
    case "strong":
    case "em":
    case "del":
      return [make(token.type, inside())];
    case "codespan":
      return [make("code", [token["text"] as string])];
    case "br":
      return [make("br", [])];
    case "link":
      return link(token as Tokens.Link, drawing);
    case "image":
      return [picture(token as Tokens.Image)];
    case "escape":
      return [words(token["text"] as string)];
    case "text":
      return token.tokens === undefined ? [words(token["text"] as string)] : inside();
    default:
      return formula(token, drawing);
  }
}

function formula(token: Tokens.Generic, { budget }: Drawing): Made[] {
  const found = formulaOf(token);
  if (found === undefined) return [token.raw];
  return [formulaElement(found, budget) ?? make("code", [token.raw.trim()])];
}

/** References can bring back a character that was made visible before. */
function words(text: string): string {
  return visibleBlock(withoutReferences(text));
}

function list({ ordered, start, items, loose }: Tokens.List, drawing: Drawing): HTMLElement {
  const element = make(
    ordered ? "ol" : "ul",
    items.map((item) => {
      const box = item.task ? [item.checked === true ? "☑ " : "☐ "] : [];
      const content = elementsOf(
        item.tokens.filter((token) => token.type !== "checkbox"),
        drawing,
      );
      const made = make("li", loose ? [...box, ...content] : [...box, ...content]);
      if (item.task) made.className = "task";
      return made;
    }),
  );
  if (ordered && typeof start === "number" && start !== 1) element.setAttribute("start", String(start));
  return element;
}

/** The copy button and the label are added around it by the page. */
function codeBlock({ text, lang }: Tokens.Code): HTMLElement {
  const pre = make("pre", [make("code", [text])]);
  const language = /^[\w+#.-]{1,24}/.exec(lang ?? "")?.[0];
  if (language !== undefined) pre.setAttribute("data-language", language);
  return pre;
}

function table({ header, rows, align }: Tokens.Table, drawing: Drawing): HTMLElement {
  const cell = (name: "th" | "td", content: Tokens.TableCell, column: number): HTMLElement => {
    const element = make(name, elementsOf(content.tokens, drawing));
    const side = align[column];
    if (side === "right" || side === "center") element.className = side;
    return element;
  };
  const head = make("thead", [
    make(
      "tr",
      header.map((content, column) => cell("th", content, column)),
    ),
  ]);
  const body = make(
    "tbody",
    rows.map((row) =>
      make(
        "tr",
        row.map((content, column) => cell("td", content, column)),
      ),
    ),
  );
  return make("table", [head, body]);
}

/** Beside a label that is not the address itself stands the host it leads to. */
function link({ href, tokens }: Tokens.Link, drawing: Drawing): Made[] {
  const address = words(href);
  const target = linkTarget(address);
  const label = elementsOf(tokens, drawing);
  if (target === undefined) return [...label, ` (${address})`];
  const element = make("a", label) as HTMLAnchorElement;
  element.setAttribute("href", target.href);
  element.setAttribute("title", target.href);
  if (saysItself(element.textContent, target)) return [element];
  const place = make("span", [` (${target.place})`]);
  place.className = "place";
  return [element, place];
}

/** Nothing is loaded for a text: its picture is what it says about itself, and where it would be. */
function picture({ text, href }: Tokens.Image): HTMLElement {
  const element = make("span", [`[image: ${[words(text), words(href)].filter((part) => part !== "").join(", ")}]`]);
  element.className = "picture";
  return element;
}

function make(name: string, content: readonly Made[]): HTMLElement {
  const element = document.createElement(name);
  element.append(...content);
  return element;
}
