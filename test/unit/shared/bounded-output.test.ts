import * as fc from "fast-check";
import { expect, test } from "vitest";
import { appendOutput, NO_OUTPUT, outputChars, type BoundedOutput } from "../../../shared/bounded-output.ts";

const LIMITS = { headChars: 7, tailChars: 9 };
const append = (output: BoundedOutput, delta: string): BoundedOutput => appendOutput(output, delta, LIMITS);

test("[UI25] keeps a short output whole", () => {
  const output = ["one", "two"].reduce(append, NO_OUTPUT);
  expect(output.head + output.tail).toBe("onetwo");
  expect(output.omittedChars).toBe(0);
});

test("[UI25] keeps beginning and end of any output, however it arrives, and counts the rest", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme", maxLength: 30 }), { maxLength: 20 }), (deltas) => {
      const whole = deltas.join("");
      const output = deltas.reduce(append, NO_OUTPUT);
      expect(whole.startsWith(output.head)).toBe(true);
      expect(whole.endsWith(output.tail)).toBe(true);
      expect(outputChars(output) + output.omittedChars).toBe(whole.length);
      expect(output.head.length).toBeLessThanOrEqual(LIMITS.headChars);
      expect(output.tail.length).toBeLessThanOrEqual(LIMITS.tailChars);
      expect((output.head + output.tail).isWellFormed() || output.omittedChars > 0).toBe(true);
      expect(output.head.isWellFormed() && output.tail.isWellFormed()).toBe(true);
    }),
  );
});
