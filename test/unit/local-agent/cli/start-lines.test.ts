import { expect, test } from "vitest";
import { startLines } from "../../../../local-agent/cli/start-lines.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

function lines() {
  const clock = new ManualClock();
  const said: string[] = [];
  return { clock, said, ...startLines((line) => void said.push(line), clock) };
}

test("[ST52] a start that takes longer than a second says that it goes on", () => {
  const { clock, said } = lines();
  clock.advance(999);
  expect(said).toEqual([]);
  clock.advance(1);
  expect(said).toEqual(["Starting …"]);
});

test("[ST52] it does not say so after another line, or when it is over", () => {
  const first = lines();
  first.progress("No connection to r.");
  first.clock.advance(5000);
  expect(first.said).toEqual(["No connection to r."]);
  const second = lines();
  second.stop();
  second.clock.advance(5000);
  expect(second.said).toEqual([]);
});

test("[ST52] the same line is said once, and their number is bounded", () => {
  const { said, progress } = lines();
  progress("No connection to r.");
  progress("No connection to r.");
  expect(said).toHaveLength(1);
  for (let n = 0; n < 100; n++) progress(`another ${n}`);
  expect(said).toHaveLength(20);
});
