import { expect, test } from "vitest";
import type { Token, Tokens } from "marked";
import { linkTarget, saysItself } from "../../../../ui/rich/link-target.ts";
import { markdownTokens, withoutReferences } from "../../../../ui/rich/markdown-tokens.ts";
import { formulaOf } from "../../../../ui/rich/math-syntax.ts";
import { isTooTangled } from "../../../../ui/rich/too-tangled.ts";

function formulas(text: string): string[] {
  const found: string[] = [];
  const walk = (tokens: readonly Token[]): void =>
    tokens.forEach((token) => {
      const formula = formulaOf(token);
      if (formula !== undefined) found.push(`${formula.isDisplay ? "display" : "inline"} ${formula.tex}`);
      if ("tokens" in token && token.tokens !== undefined) walk(token.tokens);
      if (token.type === "list") (token as Tokens.List).items.forEach((item) => walk(item.tokens));
    });
  walk(markdownTokens(text));
  return found;
}

test.each([
  ["Euler: $e^{i\\pi}=-1$.", ["inline e^{i\\pi}=-1"]],
  ["\\(a+b\\) and \\[c\\]", ["inline a+b", "display c"]],
  ["$$\na\n= b\n$$", ["display a\n= b"]],
  ["\\[\nx_1 * x_2 * x_3\n\\]", ["display x_1 * x_2 * x_3"]],
  ["in a list:\n\n- $x$\n- $$y$$", ["inline x", "display y"]],
  ["$a \\$ b$", ["inline a \\$ b"]],
  ["It costs $5", []],
  ["It costs $5 and $6, or US$7 to US$8.", []],
  ["$ x $ and $$ alone", []],
  ["`$x$` and\n\n```\n$y$\n\\(z\\)\n```", []],
  ["\\$x\\$", []],
  ["$a\n\nb$", []],
  [`$${"x".repeat(4_001)}$`, []],
])("[PG62] finds the formulas of %j", (text, expected) => {
  expect(formulas(text)).toEqual(expected);
});

test("[PG63] raw HTML is no markup", () => {
  const kinds = new Set<string>();
  const walk = (tokens: readonly Token[]): void => tokens.forEach((token) => (kinds.add(token.type), "tokens" in token && walk(token.tokens ?? [])));
  walk(markdownTokens("<script>alert(1)</script>\n\n<div>**bold**</div> a <b>c</b> <!-- d -->"));
  expect([...kinds].toSorted()).toEqual(["paragraph", "space", "strong", "text"]);
});

test.each([
  ["https://example.com/a", "example.com"],
  ["http://example.com:8080/", "example.com:8080"],
  ["mailto:ada@example.com?subject=x", "ada@example.com"],
  // Cyrillic letters in the name.
  ["https://аррӏе.com/", "xn--80ak6aa92e.com"],
])("[PG63] %s leads to %s", (address, place) => {
  expect(linkTarget(address)?.place).toBe(place);
});

test.each([
  "javascript:alert(1)",
  "JaVaScRiPt:alert(1)",
  "java\nscript:alert(1)",
  " javascript:alert(1)",
  "data:text/html,x",
  "vbscript:x",
  "file:///etc/passwd",
  "blob:https://example.com/x",
  "/api/decide",
  "#x",
  "//evil.example",
  "https://claude.ai@evil.example/",
  "https:",
])("[PG63] %j is no link", (address) => {
  expect(linkTarget(address)).toBeUndefined();
});

test("[PG63] only the address itself or its host stands for itself", () => {
  const target = linkTarget("https://example.com/a") ?? { href: "", place: "" };
  expect(["https://example.com/a", "example.com/a", "example.com", "example.com.evil", "here", ""].map((label) => saysItself(label, target))).toEqual(
    [true, true, true, false, false, false],
  );
});

test("[PG64] character references are read once", () => {
  expect(withoutReferences("&lt;b&gt; &amp;lt; &#65;&#x42; &#x202e; &#0; &#x110000; &unknown;")).toBe("<b> &lt; AB \u202e &#0; &#x110000; &unknown;");
});

const KIB_64 = 64 * 1024;

test.each([
  ["emphasis", "_a".repeat(KIB_64 / 2)],
  ["brackets", "[".repeat(KIB_64)],
  ["paragraphs", "a\n\n".repeat(KIB_64 / 3)],
  ["dollars", "$".repeat(KIB_64)],
  ["quotes", `${"> ".repeat(KIB_64 / 2)}x`],
  ["table cells", `${"|a".repeat(900)}\n${"|-".repeat(900)}\n${"|x\n".repeat(15_000)}`],
  ["quoted table cells", `> ${"|a".repeat(900)}\n> ${"-|".repeat(900)}\n${"> |x\n".repeat(900)}`],
  ["lists", "1. ".repeat(KIB_64 / 3)],
  ["indented lists", Array.from({ length: 300 }, (_, level) => `${" ".repeat(level * 2)}- a`).join("\n")],
])("[PG65] %s of 64 KiB are not read", (_what, text) => {
  expect(isTooTangled(text)).toBe(true);
});

test("[PG65] long prose, code and tables are read", () => {
  const prose = "A sentence with **some** emphasis, `code` and [a link](https://example.com).\n\n".repeat(600);
  const table = `| a | b |\n| - | - |\n${"| `x` | *y* |\n".repeat(300)}`;
  expect([isTooTangled(prose), isTooTangled(table), isTooTangled("- a\n  - b\n    - c\n> > quoted")]).toEqual([false, false, false]);
});
