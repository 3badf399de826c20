import { expect, test } from "vitest";
import type { DeskEvent } from "../../../../shared/desk.ts";
import { createLineQueue } from "../../../../local-agent/ui-server/line-queue.ts";

const output = (callId: string, delta: string): DeskEvent => ({ t: "output", callId, delta });
const grants: DeskEvent = { t: "grants", grants: [] };
const linesOf = (text: string): unknown[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as unknown);

test("[PG95] output of one call that waits for a slow page goes as one event, in its place among the others", () => {
  const queue = createLineQueue(1_000);
  for (const event of [output("a", "1"), output("a", "2"), output("b", "3"), grants, output("b", "4"), output("b", "5")]) queue.add(event);
  expect(linesOf(queue.take())).toEqual([output("a", "12"), output("b", "3"), grants, output("b", "45")]);
  expect(queue.isEmpty()).toBe(true);
  expect(queue.take()).toBe("");
});

test("[UI14] more than the bound is dropped, and said to be", () => {
  const queue = createLineQueue(100);
  expect(queue.add(output("a", "x".repeat(100)))).toBe(true);
  expect(queue.add(output("a", "x"))).toBe(false);
  expect(queue.isEmpty()).toBe(true);
  expect(queue.add(grants)).toBe(true);
});
