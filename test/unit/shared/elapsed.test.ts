import { expect, test } from "vitest";
import { age, countdown, elapsed } from "../../../shared/elapsed.ts";

test("[UI49] counts down and then is over", () => {
  expect([0, 59_000, 599_500, 600_000, 700_000].map((now) => countdown(600_000, now))).toEqual(["10:00", "9:01", "0:01", undefined, undefined]);
});

test("ages are short", () => {
  expect([5_000, -3_000, -30_000, -300_000, -7_500_000].map((at) => age(at, 0))).toEqual([
    "just now",
    "just now",
    "30 s ago",
    "5 min ago",
    "2 h 5 min ago",
  ]);
  expect([-8_200, 3_000, -300_000, -7_500_000].map((since) => elapsed(since, 0))).toEqual(["8 s", "0 s", "5 min", "2 h 5 min"]);
});
