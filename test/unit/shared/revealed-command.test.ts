import { expect, test } from "vitest";
import { lookAlikesIn } from "../../../shared/look-alikes.ts";
import { revealCommand } from "../../../shared/revealed-command.ts";

const shown = (text: string): string =>
  revealCommand(text)
    .pieces.map(({ shown }) => shown)
    .join("");
const kinds = (text: string): string[] => revealCommand(text).pieces.map(({ kind }) => kind);

test.each([
  ["a right-to-left override", "rm \u202etxt.sh", "rm ‹U+202E›txt.sh"],
  ["zero-width characters", "r\u200bm\u200d \ufeffx", "r‹U+200B›m‹U+200D› ‹U+FEFF›x"],
  ["controls", "a\u0000\u001b[2Kb\rc\r\nd", "a‹U+0000›␛[2Kb␍c␍\nd"],
  ["odd blanks", "rm\u00a0-rf\u3000/", "rm‹U+00A0›-rf‹U+3000›/"],
  ["a variation selector and tags", "a\ufe0fb\u{e0041}", "a‹U+FE0F›b‹U+E0041›"],
  ["marks that strike a letter out, or stand around it", "rm\u0338 a\u20dd \u05d0\u0336", "rm‹U+0338› a‹U+20DD› \u05d0‹U+0336›"],
  ["a pile of marks", `e${"\u0301".repeat(5)}x`, `e${"\u0301".repeat(3)}‹U+0301›‹U+0301›x`],
  ["characters that mean nothing", "a\ue000b\uffffc\u0378", "a‹U+E000›b‹U+FFFF›c‹U+0378›"],
  ["an empty note, shorthand and hieroglyph controls", "a\u{1d159}b\u{1bca0}c\u{13430}", "a‹U+1D159›b‹U+1BCA0›c‹U+13430›"],
  ["blanks at the end of a line", "echo hi  \nls \t", "echo hi··\nls·⇥"],
  ["a command behind 500 blanks", `echo hi${" ".repeat(500)}; rm -rf ~`, "echo hi‹500 blanks›; rm -rf ~"],
  ["a command below 100 empty lines", `echo hi${"\n".repeat(100)}rm -rf ~`, "echo hi\n‹99 blank lines›\nrm -rf ~"],
  ["lines that hold blanks only", `a\n \n\t\n  \n \nb`, "a\n‹4 blank lines›\nb"],
  ["a paragraph, an indent and a tab as they are", "a\n\n  b\tc", "a\n\n  b\tc"],
])("[PG81] shows %s", (_what, text, expected) => {
  expect(shown(text)).toBe(expected);
});

test("[PG81] an ordinary command is one plain piece without a warning", () => {
  const text = "git commit -m 'Größe – “naïve” 😀' && printf '%s\\n' \"$x\" | sed 's/a/b/'\n";
  expect(revealCommand(text)).toEqual({ pieces: [{ kind: "plain", shown: text }], warnings: [] });
});

test("[PG81] words written from right to left are pieces of their own, and reorder nothing", () => {
  expect(revealCommand("mv \u05d0\u05d1 1/2 \u0627\u0661").pieces).toEqual([
    { kind: "plain", shown: "mv " },
    { kind: "right_to_left", shown: "\u05d0\u05d1" },
    { kind: "plain", shown: " 1/2 " },
    { kind: "right_to_left", shown: "\u0627\u0661" },
  ]);
  // Beyond the bound of pieces they are numbers: as plain text they would reorder it.
  expect(shown("\u200b.".repeat(3_000) + "\u05d0 \u05d1")).toMatch(/‹U\+05D0› ‹U\+05D1›$/);
});

test.each([
  ["a Cyrillic letter in a Latin word", "\u0441url https://a.example", [0]],
  ["a Cyrillic letter in a host", "curl https://p\u0430ypal.com", [14]],
  ["a word that is Latin to look at", "echo \u0441\u043e\u0440\u0443", [5, 6, 7, 8]],
  ["a Greek letter", "g\u03bf build", [1]],
  ["full-width forms", "echo hi \uff5c sh", [8]],
  ["a mathematical letter", "\u{1d42b}m x", [0]],
  ["small forms and signs that Unicode calls the same", "a\ufe60\ufe69\ufe54b\u1fefc", [1, 2, 3, 5]],
  ["bars, slashes and angles that are none", "a\u2502b \u2571x \u02c3f", [1, 4, 7]],
  ["Lisu letters", "echo \ua4d0\ua4ee", [5, 6]],
  ["a division slash", "rm a\u2215b", [4]],
  ["a dotless i and a hyphen that is none", "p\u0131p \u2212r", [1, 4]],
])("[PG82] finds %s", (_what, text, expected) => {
  expect(lookAlikesIn(text)).toEqual(expected);
});

test.each([
  ["Russian", "git commit -m 'Исправлена ошибка в разборе'"],
  ["Greek", "echo Καλημέρα κόσμε"],
  ["accents", "echo naïve Größe Łódź İstanbul façade"],
  ["accents of two pieces and Vietnamese", "echo cafe\u0301 Vie\u0323\u0302t"],
  ["Chinese, Arabic, emoji", "echo 你好 مرحبا 😀 日本語"],
  ["quotation marks and dashes of ordinary writing", "echo “don’t” – it’s — fine…"],
])("[PG82] leaves %s alone", (_what, text) => {
  expect(lookAlikesIn(text)).toEqual([]);
});

test("[PG82] a look-alike is marked with its number and what it is taken for, and a sentence says so", () => {
  const { pieces, warnings } = revealCommand("\u0441url x");
  expect(pieces).toEqual([
    { kind: "look_alike", shown: "\u0441", code: "U+0441 looks like c" },
    { kind: "plain", shown: "url x" },
  ]);
  expect(warnings).toEqual([expect.stringContaining("letters that look like others (1)")]);
});

test("[PG81] what is hidden is counted, and runs of one kind are one piece", () => {
  expect(kinds("a\u200b\u200b\u200bb")).toEqual(["plain", "hidden", "plain"]);
  expect(revealCommand("a\u200b\u202eb").warnings).toEqual([expect.stringContaining("cannot be seen (2)")]);
  expect(revealCommand(`a${" ".repeat(50)}b`).warnings).toEqual([expect.stringContaining("long runs of blanks")]);
});

test("[PG81] a hostile command of a million marks stays bounded, and every mark is there", () => {
  const revealed = revealCommand("a\u200b".repeat(500_000));
  expect(revealed.pieces.length).toBeLessThan(5_000);
  expect(
    revealed.pieces
      .map(({ shown }) => shown)
      .join("")
      .match(/‹U\+200B›/g),
  ).toHaveLength(500_000);
});
