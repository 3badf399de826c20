import { expect, test } from "vitest";
import type { DecisionOutcome } from "../../../shared/authorization.ts";
import { fateSentence, serverWhy } from "../../../ui/approval-wording.ts";
import { duration, outcomeSentence, timeOfDay } from "../../../ui/wording.ts";

test("[UI44] a wrong code says how to go on", () => {
  expect(outcomeSentence({ at: "over", outcome: "wrong_code", where: "here" })).toContain("Start again in the app");
});

test.for<[DecisionOutcome["outcome"], string]>([
  ["allowed", "Allowed elsewhere."],
  ["denied", "Denied elsewhere. Nothing was handed over."],
  ["wrong_code", "A wrong code was typed elsewhere, so nothing was handed over. Start again in the app."],
  ["gone", "No longer waiting: it expired, gave way to a newer request, or was decided elsewhere."],
])("[UI48] %s, on another page or in a terminal, is said as what is true of both", ([outcome, sentence]) => {
  expect(outcomeSentence({ at: "over", outcome, where: "elsewhere" })).toBe(sentence);
});

test("[TR8] that a project's settings count from the next start on is said before they are allowed, and after", () => {
  const allowed = { at: "over", fate: "allowed", where: "here" } as const;
  for (const said of [serverWhy(""), fateSentence(allowed, "")]) expect(said).toContain("from the agent's next start on");
  for (const said of [serverWhy("docs"), fateSentence(allowed, "docs"), fateSentence(allowed)]) expect(said).not.toContain("next start");
});

test("durations are short, and times of day the person's own", () => {
  expect([0.4, 42, 1_500, 12_340, 75_000, 3_720_000].map(duration)).toEqual(["0 ms", "42 ms", "1.5 s", "12 s", "1 min 15 s", "1 h 2 min"]);
  const morning = new Date(2026, 0, 2, 9, 5, 7).getTime();
  expect([timeOfDay(morning, "minute"), timeOfDay(morning, "second")]).toEqual(["09:05", "09:05:07"]);
});
