import { expect, test } from "vitest";
import { visibleBlock, visibleLine } from "../../../shared/visible-text.ts";

test.each([
  ["a right-to-left override", "evil\u202egpj.exe", "evil‹U+202E›gpj.exe"],
  ["isolates", "\u2066a\u2069", "‹U+2066›a‹U+2069›"],
  ["a zero-width space", "clau\u200bde.ai", "clau‹U+200B›de.ai"],
  ["a zero-width joiner", "a\u200db", "a‹U+200D›b"],
  ["a byte order mark", "\ufeffa", "‹U+FEFF›a"],
  ["a soft hyphen", "a\u00adb", "a‹U+00AD›b"],
  ["a Hangul blank", "\u3164", "‹U+3164›"],
  ["tag characters", "a\u{e0041}", "a‹U+E0041›"],
  ["a lone surrogate", "a\ud83d", "a‹U+D83D›"],
  ["control characters", "a\u0000\u0007\u009b", "a‹U+0000›‹U+0007›‹U+009B›"],
  ["line breaks and tabs", "a\n\r\tb\u2028c", "a⏎␍⇥b‹U+2028›c"],
  ["an escape sequence", "\u001b[31m", "␛[31m"],
  ["ordinary text of any script", "Клод 克劳德 كلود 😀 é", "Клод 克劳德 كلود 😀 é"],
  ["markup", "<img src=x onerror=alert(1)>", "<img src=x onerror=alert(1)>"],
])("[UI27] shows %s", (_what, text, expected) => {
  expect(visibleLine(text)).toBe(expected);
});

test("[UI27] cuts a long line with an ellipsis and never inside a character", () => {
  expect(visibleLine("abcdef", 4)).toBe("abc…");
  expect(visibleLine("ab😀def", 4)).toBe("ab…");
});

test("[UI27] keeps the lines, tabs and joiners of output, and shows what reorders it", () => {
  expect(visibleBlock("a\r\n\tb\u001b[0m\u202ec\u200dd\rx")).toBe("a\n\tb␛[0m‹U+202E›c\u200dd␍x");
});
