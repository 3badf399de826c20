import { expect, test } from "vitest";
import { defaultWaitMs, patientWaitMs, waitBudget } from "../../../../local-agent/mcp/wait-budget.ts";

const wish = { blockMs: null, clientName: "ChatGPT", timeoutS: null };

test("[HU37] a client of which nothing is known waits 45 s, one known to be patient 90 s", () => {
  expect(waitBudget(wish).budgetMs).toBe(45_000);
  expect([defaultWaitMs(null), patientWaitMs(null)]).toEqual([45_000, 90_000]);
  for (const clientName of ["Claude Code", "claude code (pi)", "Cursor"]) expect(waitBudget({ ...wish, clientName }).budgetMs).toBe(90_000);
  for (const clientName of ["Claude", "Claude Codec", "my cursor", ""]) expect(waitBudget({ ...wish, clientName }).budgetMs).toBe(45_000);
});

test("[HU37] the time the person set holds for everybody, longer than any other as well as shorter", () => {
  for (const blockMs of [200, 240_000]) {
    expect([defaultWaitMs(blockMs), patientWaitMs(blockMs)]).toEqual([blockMs, blockMs]);
    for (const clientName of ["ChatGPT", "Claude Code"])
      expect(waitBudget({ ...wish, clientName, blockMs })).toEqual({ budgetMs: blockMs, isClamped: false });
  }
});

test.each([
  [20, 20_000, false],
  [45, 45_000, false],
  [5, 5000, false],
  [1, 5000, true],
  [0, 5000, true],
  [-3, 5000, true],
  [46, 45_000, true],
  [1e300, 45_000, true],
])("[HU38] a timeout of %d s is a wait of %d ms", (timeoutS, budgetMs, isClamped) => {
  expect(waitBudget({ ...wish, timeoutS })).toEqual({ budgetMs, isClamped });
});

test("[HU38] a timeout never lengthens a wait that the person set below the least", () => {
  expect(waitBudget({ ...wish, blockMs: 1000, timeoutS: 1 })).toEqual({ budgetMs: 1000, isClamped: false });
  expect(waitBudget({ ...wish, blockMs: 1000, timeoutS: 3 })).toEqual({ budgetMs: 1000, isClamped: true });
});
