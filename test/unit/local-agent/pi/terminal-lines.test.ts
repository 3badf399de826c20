import { visibleWidth } from "@earendil-works/pi-tui";
import { assert, integer, lorem, oneof, property, string } from "fast-check";
import { expect, test } from "vitest";
import { wrapLines } from "../../../../local-agent/pi/terminal-lines.ts";
import { visibleBlock } from "../../../../shared/visible-text.ts";

test("[PI50] no line is wider than the terminal, as Pi itself measures, whatever the text is", () => {
  const text = oneof(string({ unit: "grapheme", maxLength: 300 }), string({ unit: "binary", maxLength: 300 }), lorem());
  assert(
    property(text, integer({ min: 1, max: 60 }), (given, width) => {
      for (const line of wrapLines(visibleBlock(given), width)) expect(visibleWidth(line)).toBeLessThanOrEqual(width);
    }),
  );
});

test("[PI50] words stay whole where they fit, line breaks count, and no more lines are made than asked for", () => {
  expect(wrapLines("one two three four", 9)).toEqual(["one two", "three", "four"]);
  expect(wrapLines("a\nb\n\nc", 10)).toEqual(["a", "b", "", "c"]);
  expect(wrapLines("aaaaaaaaaaaa", 5)).toEqual(["aaaaa", "aaaaa", "aa"]);
  expect(wrapLines("\tx", 10)).toEqual(["   x"]);
  expect(wrapLines("a\nb\nc\nd", 10, 2)).toEqual(["a", "b"]);
  expect(wrapLines("", 10)).toEqual([]);
});
