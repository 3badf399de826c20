import { expect, test } from "vitest";
import type { Locator, Page } from "playwright-core";
import { pageHarness } from "../support/page-under-test.ts";
import { asked, said, scriptedConversation } from "../support/scripted-conversation.ts";
import { waitUntil } from "../support/wait-until.ts";

const harness = pageHarness();
const words = (page: Page, index: number): Locator => page.locator(".rich").nth(index);

test("[PG62] markdown and formulas are drawn, code says its language and is copied", async () => {
  const text = [
    "## Title",
    "**bold** *soft* ~~gone~~ `code` $a^2$ \\(b\\) and $5 or $6",
    "1. one\n2. two\n   - [x] done",
    "> quoted",
    "```ts\nconst a = '$x$';\n```",
    "| a | b |\n| - | -: |\n| 1 | 2 |",
    "$$\n\\sum_{i=1}^n i\n$$",
    "$\\nonsense{$ and $\\frac{1}$",
  ].join("\n\n");
  const { page, complaints } = await harness.open({
    conversation: scriptedConversation({ entries: [said(1, text)] }),
    browser: { permissions: ["clipboard-read", "clipboard-write"] },
  });
  await words(page, 0).locator("h5").waitFor();
  const counts = await words(page, 0).evaluate((element) =>
    Object.fromEntries(
      ["h5", "strong", "em", "del", "ol > li", "ul > li", "blockquote", "table td", "math", "math[display=block]"].map((name) => [
        name,
        element.querySelectorAll(name).length,
      ]),
    ),
  );
  expect(counts).toEqual({
    h5: 1,
    strong: 1,
    em: 1,
    del: 1,
    "ol > li": 2,
    "ul > li": 1,
    blockquote: 1,
    "table td": 2,
    math: 3,
    "math[display=block]": 1,
  });
  const shown = await words(page, 0).innerText();
  for (const part of ["and $5 or $6", "☑ done", "ts", "const a = '$x$';", "$\\nonsense{$", "$\\frac{1}$"]) expect(shown).toContain(part);
  await page.getByRole("button", { name: "Copy this code" }).click();
  await page.getByText("Copied").waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("const a = '$x$';");
  expect(complaints).toEqual([]);
});

const HOSTILE = [
  '<img src=x onerror="window.hasRun=1"> <script>window.hasRun=1</script> <svg onload=window.hasRun=1><style>*{display:none}</style></svg>',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=window.hasRun=1&gt;"></mglyph></table></mtext></math>',
  "<form action=//evil.example><button>x</button></form> <base href=//evil.example> <meta http-equiv=refresh content='0;url=//evil.example'> <link rel=stylesheet href=//evil.example>",
  "[a](javascript:window.hasRun=1) [b](data:text/html,<script>alert(1)</script>) [c](JaVaScRiPt&colon;window.hasRun=1) [d](java&#10;script:window.hasRun=1) <javascript:window.hasRun=1>",
  '![pixel](https://evil.example/pixel.png "t") [![x](https://evil.example/y.png)](https://evil.example)',
  "[https://claude.ai](https://evil.example/login) [x](https://claude.ai@evil.example/) [ref][1]\n\n[1]: javascript:window.hasRun=1",
  "$\\href{javascript:window.hasRun=1}{click}$ $\\url{javascript:alert(1)}$ $\\includegraphics{https://evil.example/a.png}$ $\\htmlClass{card}{x}$ $\\htmlStyle{position:fixed}{x}$ $\\htmlData{a=b}{x}$",
  "$\\fcolorbox{red}{blue}{x}$ $\\color{red}x$ $\\kern-99999em x$ $\\rule{99999em}{99999em}$ $\\raisebox{-9999em}{x}$ $\\text{<img src=x onerror=alert(1)>}$ $\\unicode{x202e}$",
  "$\\def\\a{\\a\\a}\\a$ $\\newcommand{\\x}{\\x}\\x$ ${{{{{{x}}}}}}$",
  "```<img/src=x onerror=alert(1)>\n</code></pre><img src=x onerror=window.hasRun=1>\n```",
  '`"><img src=x onerror=alert(1)>` **<b onclick=alert(1)>x</b>** | a |\n| - |\n| <iframe src=//evil.example> |',
  'https://evil.example/"onmouseover="window.hasRun=1 www.evil.example mailto:x@evil.example?subject=<b>',
  "a\u202eb \u200bzero &#x202e; &#8203; \u0000 \u001b[31m",
];

test("[PG63] [PG64] nothing in a client's words or name runs, loads or leaves its box", async () => {
  const client = { principalId: "grant:1", name: '<img src=x onerror="window.hasRun=1">\u202e' };
  const conversation = scriptedConversation({
    entries: [
      ...HOSTILE.map((text, index) => said(index + 1, text, { client })),
      asked(50, HOSTILE[0] ?? "", [HOSTILE[1]?.slice(0, 100) ?? ""], { client }),
    ],
    clients: [{ ...client, lastAt: Date.now() }],
  });
  const { page, complaints } = await harness.open({ conversation });
  await words(page, HOSTILE.length).locator("p").first().waitFor();
  await page.waitForTimeout(300);
  const found = await page.evaluate(() => {
    const all = [...document.querySelectorAll(".rich *")];
    return {
      hasRun: "hasRun" in window,
      names: [...new Set(all.map((element) => element.localName))].toSorted(),
      attributes: [...new Set(all.flatMap((element) => element.getAttributeNames()))].toSorted(),
      links: all
        .filter((element) => element.localName === "a")
        .map((element) => `${element.getAttribute("href")} ${element.getAttribute("rel")} ${element.getAttribute("target")}`),
      outside: all.filter((element) => element.closest(".card") !== null).length,
    };
  });
  expect(found.hasRun).toBe(false);
  for (const name of ["img", "script", "style", "svg", "iframe", "form", "base", "meta", "link", "mglyph", "input", "annotation"])
    expect(found.names).not.toContain(name);
  for (const name of found.attributes) expect(name).not.toMatch(/^on|^style$|^id$|^src$|^name$|^action$/);
  expect(found.links.length).toBeGreaterThan(2);
  for (const link of found.links)
    expect(link).toMatch(/^(?:https?:\/\/(?:www\.)?evil\.example|mailto:x@evil\.example)[^ ]* noopener noreferrer _blank$/);
  const text = await page.getByRole("log").innerText();
  for (const part of [
    "<script>window.hasRun=1</script>",
    "(javascript:window.hasRun=1)",
    "[image: pixel, https://evil.example/pixel.png]",
    "https://claude.ai (evil.example)",
    "a‹U+202E›b ‹U+200B›zero ‹U+202E› ‹U+200B› ‹U+0000› ␛[31m",
    "‹U+202E›”",
  ]) {
    expect(text).toContain(part);
  }
  // What a formula draws far away is cut off at the edge of its own words.
  expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBe(0);
  expect(await words(page, 7).evaluate((element) => getComputedStyle(element).contain)).toContain("content");
  expect(complaints).toEqual([]);
});

const KIB_64 = 64 * 1024;

const ENDLESS: Readonly<Record<string, string>> = {
  brackets: "[".repeat(KIB_64),
  dollars: "$".repeat(KIB_64),
  formulas: "$x$ ".repeat(KIB_64 / 4),
  "long formulas": `$${"{".repeat(1_900)}${"}".repeat(1_900)}$\n\n`.repeat(17),
  emphasis: "_a".repeat(KIB_64 / 2),
  quotes: "> ".repeat(KIB_64 / 2),
  lists: Array.from({ length: 350 }, (_, level) => `${" ".repeat(level)}- a`).join("\n"),
  "table cells": `${"|a".repeat(900)}\n${"|-".repeat(900)}\n${"|x\n".repeat(15_000)}`,
  paragraphs: "a\n\n".repeat(KIB_64 / 3),
  "short paragraphs": "a\n\n".repeat(1_400),
  code: `${"`a` ".repeat(900)}\n\n`.repeat(4),
  lines: "- a\n".repeat(KIB_64 / 4),
  "begun formulas": "\\(a ".repeat(KIB_64 / 4),
  "begun blocks": "\\[a\n".repeat(KIB_64 / 4),
};

test("[PG65] 64 KiB of anything are shown, and the page goes on", async () => {
  const conversation = scriptedConversation({ entries: [said(1, "first")] });
  const { page, complaints } = await harness.open({ conversation });
  await words(page, 0).locator("p").waitFor();
  let n = 1;
  for (const [what, text] of Object.entries(ENDLESS)) {
    conversation.entry(said(++n, text.slice(0, KIB_64)));
    const place = n - 1;
    await waitUntil(
      `${what} are shown`,
      async () => (await words(page, place).count()) === 1 && ((await words(page, place).textContent()) ?? "").length > 10,
    );
  }
  expect(complaints).toEqual([]);
});
