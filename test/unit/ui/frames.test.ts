import { expect, test } from "vitest";
import type { DeskEvent } from "../../../shared/desk.ts";
import { createFrames } from "../../../ui/frames.ts";
import { EXAMPLE_INFO } from "../../support/desk-under-test.ts";

const output = (callId: string, delta: string): DeskEvent => ({ t: "output", callId, delta });
const snapshot: DeskEvent = {
  t: "snapshot",
  snapshot: {
    info: EXAMPLE_INFO,
    link: { at: "open", since: 0 },
    authorizations: [],
    grants: null,
    timeline: [],
    approvals: [],
    forms: [],
    remembered: 0,
    conversation: null,
  },
};

function frames(): { add(event: DeskEvent): void; frame(): void; readonly delivered: DeskEvent[][]; readonly scheduled: (() => void)[] } {
  const delivered: DeskEvent[][] = [];
  const scheduled: (() => void)[] = [];
  const made = createFrames(
    (events) => delivered.push([...events]),
    (run) => scheduled.push(run),
  );
  return { add: (event) => made.add(event), delivered, scheduled, frame: () => scheduled.splice(0).forEach((run) => run()) };
}

test("[PG95] what comes within one frame is taken at once, output of one call as one piece", () => {
  const under = frames();
  for (const event of [output("a", "1"), output("a", "2"), output("b", "3"), output("a", "4")]) under.add(event);
  expect(under.delivered).toEqual([]);
  expect(under.scheduled).toHaveLength(1);
  under.frame();
  expect(under.delivered).toEqual([[output("a", "12"), output("b", "3"), output("a", "4")]]);
  under.add(output("a", "5"));
  under.frame();
  expect(under.delivered[1]).toEqual([output("a", "5")]);
});

test("[PG95] a snapshot waits for no frame, and takes what came before it along", () => {
  const under = frames();
  under.add(output("a", "1"));
  under.add(snapshot);
  expect(under.delivered).toEqual([[output("a", "1"), snapshot]]);
  under.frame();
  expect(under.delivered).toHaveLength(1);
});

test("[PG95] a page without frames keeps a bounded queue", () => {
  const under = frames();
  for (let index = 0; index < 3_000; index++) under.add(output(`${index % 2}`, "x"));
  expect(under.delivered).toHaveLength(3);
  for (let index = 0; index < 21; index++) under.add(output("a", "x".repeat(100_000)));
  expect(under.delivered.length).toBeGreaterThanOrEqual(4);
});
