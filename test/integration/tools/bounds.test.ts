/** Arguments and files made to cost time or memory, through the real child process: the call is refused, nobody else is held up. */
import { expect, test } from "vitest";
import { textOf, toolHostUnderTest, type ToolHostUnderTest } from "../../support/tool-host-under-test.ts";

const EVIL_PATTERN = `${"*a".repeat(20)}*c`;
const EVIL_NAME = `${"a".repeat(120)}b`;

/** How long calls of another client wait while `busy` runs. */
async function longestWaitMs(under: ToolHostUnderTest, busy: Promise<unknown>): Promise<number> {
  const ended = busy.then(() => true);
  let longest = 0;
  while (!(await Promise.race([ended, Promise.resolve(false)]))) {
    const asked = performance.now();
    await under.call("ls", {});
    longest = Math.max(longest, performance.now() - asked);
  }
  return longest;
}

test("[TL23] a find pattern made to be slow is ended, and another client's calls are answered meanwhile", async () => {
  const under = await toolHostUnderTest({ [EVIL_NAME]: "", "a.txt": "here" });
  const pid = under.hostPid();
  const started = performance.now();
  const find = under.call("find", { pattern: EVIL_PATTERN });
  const waited = await longestWaitMs(under, find);
  const outcome = await find;
  expect(outcome.isError).toBe(true);
  expect(textOf(outcome)).toMatch(/^the pattern is too complex to match in time: use fewer/);
  expect(performance.now() - started).toBeLessThan(3_000);
  expect(waited).toBeLessThan(1_500);
  expect(under.hostPid()).toBe(pid);
  expect(textOf(await under.call("find", { pattern: "*a*b" }))).toBe(EVIL_NAME);
});

test("[TL23] a pattern that is slow on every name is ended as a whole, and one with a path is bounded too", async () => {
  const names = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`${"a".repeat(100)}${n}b`, ""]));
  const under = await toolHostUnderTest(names);
  for (const pattern of [`${"*a".repeat(4)}*c`, EVIL_PATTERN, `**/${EVIL_PATTERN}`, "{".repeat(30_000)]) {
    const started = performance.now();
    const text = textOf(await under.call("find", { pattern }));
    expect(text).toMatch(/too complex|No files found|maximum/i);
    expect(performance.now() - started).toBeLessThan(3_000);
  }
});
