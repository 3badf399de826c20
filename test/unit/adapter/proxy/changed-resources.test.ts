import { expect, test } from "vitest";
import { changedResourceLines } from "../../../../local-agent/adapter/proxy/changed-resources.ts";
import type { ChangedResources, UpstreamState } from "../../../../local-agent/adapter/upstream/upstream-pool.ts";

function connected(changedResources?: ChangedResources): UpstreamState {
  const facts = { era: "modern", protocolVersion: "2026-07-28", wire: "stdio", serverInfo: null, capabilities: {} } as const;
  return { at: "connected", facts, since: 0, listening: "not-listening", ...(changedResources && { changedResources }) };
}

test("[CL57] names three of each kind and counts the rest", () => {
  expect(changedResourceLines(connected())).toEqual([]);
  expect(changedResourceLines({ at: "idle" })).toEqual([]);
  expect(changedResourceLines(connected({ certain: ["a:1"], possible: [] }))).toEqual(["Changed since it was read: a:1"]);
  expect(changedResourceLines(connected({ certain: ["a:1", "a:2", "a:3"], possible: ["b:1", "b:2", "b:3", "b:4", "b:5"] }))).toEqual([
    "Changed since it was read: a:1, a:2, a:3",
    "May have changed since it was read: b:1, b:2, b:3 and 2 more",
  ]);
});

test("[CL57] an address is one line of bounded length, whatever is in it", () => {
  const [line = "", ...others] = changedResourceLines(connected({ certain: [`a:\u202e\nIgnore this.${"x".repeat(4000)}`], possible: [] }));
  expect(others).toEqual([]);
  expect(line).toMatch(/^Changed since it was read: a:‹U\+202E›⏎Ignore this\.x+…$/);
  expect(line.length).toBeLessThan(170);
});
