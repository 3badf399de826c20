/** Arguments and files made to cost time or memory, through the real child process: the call is refused, nobody else is held up. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { blackPng } from "../../support/png.ts";
import { textOf, toolHostUnderTest, type ToolHostUnderTest } from "../../support/tool-host-under-test.ts";
import { waitUntil } from "../../support/wait-until.ts";

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

const lines = (count: number, word: string): string => Array.from({ length: count }, (_, n) => `${word} ${n * 7919}\n`).join("");

test("[TL24] an edit of thousands of lines is refused with the way out, and the largest that is allowed takes its time only", async () => {
  const under = await toolHostUnderTest({ "f.txt": lines(3_000, "old"), "g.txt": lines(998, "old") });
  const refused = await under.call("edit", { path: "f.txt", edits: [{ oldText: lines(3_000, "old"), newText: lines(3_000, "new") }] });
  expect(refused.isError).toBe(true);
  expect(textOf(refused)).toBe(
    "edit compares at most 2000 lines in one call, and the old and new texts have 6002: make several smaller edits, or write the whole file",
  );
  expect(readFileSync(join(under.root, "f.txt"), "utf8")).toBe(lines(3_000, "old"));
  const edit = under.call("edit", { path: "g.txt", edits: [{ oldText: lines(998, "old"), newText: lines(998, "new") }] });
  expect(await longestWaitMs(under, edit)).toBeLessThan(3_000);
  expect((await edit).isError).toBe(false);
  expect(readFileSync(join(under.root, "g.txt"), "utf8")).toBe(lines(998, "new"));
});

test("[TL24] many edits, many on a large file, and endless combining characters are refused", async () => {
  const marks = `a${"\u0300\u0316".repeat(200_000)}`;
  const under = await toolHostUnderTest({ "f.txt": lines(200, "old"), "large.txt": "x\n".repeat(5_000_000), "marks.txt": `start\n${marks}` });
  const edits = (count: number) => Array.from({ length: count }, (_, n) => ({ oldText: `old ${n * 7919}\n`, newText: `new ${n}\n` }));
  const told = async (path: string, given: { oldText: string; newText: string }[]) => textOf(await under.call("edit", { path, edits: given }));
  expect(await told("f.txt", edits(101))).toBe("edit takes at most 100 edits in one call, and these are 101: make several calls");
  expect(await told("large.txt", edits(1))).toMatch(/large.txt has 10000000 bytes, and edit takes at most 8388608: use the shell/);
  expect(await told("marks.txt", [{ oldText: "start", newText: "end" }])).toMatch(/marks.txt has more than 256 combining characters in a row/);
  expect(await told("f.txt", [{ oldText: marks, newText: "x" }])).toMatch(/does not take text with more than 256 combining/);
  await under.call("write", { path: "large.txt", content: lines(100_000, "old") });
  expect(await told("large.txt", edits(20))).toMatch(/too many for 20 edits in one call: make at most 6 at a time$/);
  expect(await told("f.txt", edits(100))).toContain("Successfully replaced 100 block(s)");
});

test("[TL25] an image of too many pixels is not decoded, nor one that does not say how many", async () => {
  const under = await toolHostUnderTest({
    "bomb.png": blackPng(16_000, 16_000),
    "broken.gif": "GIF89a",
    "large.png": blackPng(4_000, 3_000),
    "bomb.bmp": bmpOf(2_100, -2_100),
  });
  const memoryMb = watchMemory(under.hostPid());
  expect(textOf(await under.call("read", { path: "bomb.png" }))).toMatch(
    /bomb.png is an image of 16000 x 16000 pixels, and at most 40 million are shown: make it smaller first$/,
  );
  expect(textOf(await under.call("read", { path: "bomb.bmp" }))).toMatch(/2100 x 2100 pixels, and at most 4.2 million are shown: convert it/);
  expect(textOf(await under.call("read", { path: "broken.gif" }))).toMatch(/its width and height cannot be read$/);
  expect(memoryMb()).toBeLessThan(150);
  expect(textOf(await under.call("read", { path: "large.png" }))).toContain("original 4000x3000, displayed at 2000x1500");
});

test("[TL26] images are decoded one after another, and a cancelled one ends and gives way", async () => {
  const under = await toolHostUnderTest({ "large.png": blackPng(7_000, 5_700), "small.png": blackPng(20, 10) });
  const pid = under.hostPid();
  const abort = new AbortController();
  const idle = threads(pid);
  const memoryMb = watchMemory(pid);
  const reads = [1, 2, 3, 4, 5].map(() => under.call("read", { path: "large.png" }, { signal: abort.signal }));
  await waitUntil("a worker decodes", () => threads(pid) > idle);
  expect(await longestWaitMs(under, new Promise((resolve) => setTimeout(resolve, 700)))).toBeLessThan(1_000);
  abort.abort();
  for (const outcome of await Promise.all(reads)) expect(outcome.isError).toBe(true);
  await waitUntil("no worker is left", () => threads(pid) <= idle);
  expect(memoryMb()).toBeLessThan(900);
  const started = performance.now();
  expect(textOf(await under.call("read", { path: "small.png" }))).toContain("[image/png]");
  expect(performance.now() - started).toBeLessThan(3_000);
  expect(under.hostPid()).toBe(pid);
});

function bmpOf(width: number, height: number): Buffer {
  const header = Buffer.alloc(54);
  header.write("BM");
  header.writeUInt32LE(54, 10);
  header.writeUInt32LE(40, 14);
  header.writeInt32LE(width, 18);
  header.writeInt32LE(height, 22);
  header.writeUInt16LE(1, 26);
  header.writeUInt16LE(24, 28);
  return header;
}

function threads(pid: number): number {
  return readdirSync(`/proc/${pid}/task`).length;
}

/** The most resident memory so far, as the kernel counts it. */
function watchMemory(pid: number): () => number {
  return () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? Number.NaN) / 1024;
}
