import { expect, test } from "vitest";
import { createLineReader } from "../../../ui/line-reader.ts";

test("[UI13] finds the same lines wherever the stream is cut, also inside a character", () => {
  const bytes = new TextEncoder().encode('{"a":"ü😀"}\n\n{"b":1}\nrest');
  for (let cut = 0; cut <= bytes.length; cut++) {
    const readLines = createLineReader(1_000);
    const lines = [...readLines(bytes.subarray(0, cut)), ...readLines(bytes.subarray(cut))];
    expect(lines).toEqual(['{"a":"ü😀"}', "", '{"b":1}']);
  }
});

test("[UI13] refuses an endless line", () => {
  const readLines = createLineReader(10);
  expect(() => readLines(new TextEncoder().encode("x".repeat(11)))).toThrow(/more than 10/);
});
