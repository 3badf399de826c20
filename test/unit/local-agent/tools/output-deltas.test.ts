import * as fc from "fast-check";
import { expect, test } from "vitest";
import { MAX_REPORT_CHARS, outputDeltas } from "../../../../local-agent/tools/output-deltas.ts";

function heldTimers() {
  let due: (() => void) | undefined;
  return {
    timers: {
      after(_delayMs: number, run: () => void) {
        due = run;
        return () => {
          due = undefined;
        };
      },
    },
    fire() {
      const run = due;
      due = undefined;
      run?.();
    },
    get armed() {
      return due !== undefined;
    },
  };
}

test("[TL6] what is reported adds up to what was printed, wherever bytes and intervals cut it", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), fc.array(fc.nat({ max: 8 })), fc.array(fc.boolean()), (text, cuts, fires) => {
      const bytes = new TextEncoder().encode(text);
      const held = heldTimers();
      const reports: string[] = [];
      const deltas = outputDeltas((delta) => reports.push(delta), held.timers);
      let at = 0;
      for (const [index, cut] of cuts.entries()) {
        deltas.push(bytes.subarray(at, at + cut));
        at += cut;
        if (fires[index] === true) held.fire();
      }
      deltas.push(bytes.subarray(at));
      deltas.finish();
      expect(reports.join("")).toBe(text);
      expect(reports.every((report) => report !== "")).toBe(true);
      expect(held.armed).toBe(false);
    }),
  );
});

test("[TL6] one report per interval, and a flood is cut at the front with its size told", () => {
  const held = heldTimers();
  const reports: string[] = [];
  const deltas = outputDeltas((delta) => reports.push(delta), held.timers);
  for (let line = 0; line < 10_000; line += 1) deltas.push(Buffer.from(`line ${line}\n`));
  expect(reports).toEqual([]);
  held.fire();
  expect(reports).toHaveLength(1);
  expect(reports[0]!.length).toBeLessThan(MAX_REPORT_CHARS + 100);
  expect(reports[0]).toMatch(/^\[… \d+ characters not shown …\]\n/);
  expect(reports[0]!.endsWith("line 9999\n")).toBe(true);
  deltas.finish();
  deltas.push(Buffer.from("late"));
  expect(reports).toHaveLength(1);
});
