import { appendFileSync, readFileSync, statSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openOutboxFile, OUTBOX_LIMITS } from "../../../../local-agent/node/outbox-file.ts";
import type { Unsent } from "../../../../shared/human/outbox.ts";
import { ADA, idOf } from "../../../support/simulated-store.ts";
import { tempDir } from "../../../support/temp-dir.ts";

const typed = (number: number, text = `m${number}`): Unsent => ({
  kind: "typed",
  id: idOf(number),
  at: 5,
  text,
  images: [],
  to: ADA,
  questionId: null,
});

function open(path: string, limits = OUTBOX_LIMITS) {
  const outbox = openOutboxFile(path, limits);
  onTestFinished(() => outbox.close());
  return outbox;
}
const texts = (outbox: { list(): readonly Unsent[] }): string[] => outbox.list().map(({ text }) => text);

test("[HU63] what was added is there after the process ended without a word, what was sent is not", () => {
  const path = join(tempDir(), "outbox.jsonl");
  const first = open(path);
  expect([1, 2, 3].map((each) => first.add(typed(each)))).toEqual(["kept", "kept", "kept"]);
  expect(first.add(typed(2))).toBe("known");
  first.remove(idOf(1));
  const second = open(path);
  expect(texts(second)).toEqual(["m2", "m3"]);
  expect(second.damaged).toBe(0);
});

test.each([1, 2, 20, 100])("[HU63] a last line that lacks %d bytes is as if it had never been written, and takes nothing with it", (bytes) => {
  const path = join(tempDir(), "outbox.jsonl");
  const first = open(path);
  first.add(typed(1, "whole ✓"));
  first.add(typed(2, "torn ✗"));
  truncateSync(path, statSync(path).size - bytes);
  const second = open(path);
  expect(texts(second)).toEqual(["whole ✓"]);
  second.add(typed(3));
  expect(texts(open(path))).toEqual(["whole ✓", "m3"]);
});

test("[HU63] a line that lost its meaning is left out and counted", () => {
  const path = join(tempDir(), "outbox.jsonl");
  open(path).add(typed(1));
  appendFileSync(path, '{"add":{"kind":"typed"}}\nnot json\n');
  open(path).add(typed(2));
  const last = open(path);
  expect([texts(last), last.damaged]).toEqual([["m1", "m2"], 2]);
});

test.skipIf(process.platform === "win32")("[HU63] only this account can read it, and no link is followed", () => {
  const dir = tempDir();
  const path = join(dir, "outbox.jsonl");
  writeFileSync(path, "", { mode: 0o644 });
  const outbox = open(path);
  outbox.add(typed(1));
  expect(statSync(path).mode & 0o777).toBe(0o600);
  outbox.remove(idOf(1));
  expect(statSync(path).mode & 0o777).toBe(0o600);
  symlinkSync(path, join(dir, "link"));
  expect(() => openOutboxFile(join(dir, "link"))).toThrow(/ELOOP/);
});

test("[HU63] it is bounded in number and in size, and empty on the disk when all was sent", () => {
  const path = join(tempDir(), "outbox.jsonl");
  const few = open(path, { maxEntries: 2, maxBytes: 10_000 });
  expect([few.add(typed(1)), few.add(typed(2)), few.add(typed(3))]).toEqual(["kept", "kept", "full"]);
  few.remove(idOf(1));
  expect(few.add(typed(3, "x".repeat(20_000)))).toBe("full");
  few.remove(idOf(2));
  expect(readFileSync(path, "utf8")).toBe("");
  expect(few.add(typed(4))).toBe("kept");
});

test("[HU63] what was sent is swept while much still waits", () => {
  const path = join(tempDir(), "outbox.jsonl");
  const outbox = open(path);
  for (let each = 1; each <= 60; each += 1) outbox.add(typed(each, "y".repeat(50_000)));
  for (let each = 1; each < 60; each += 1) outbox.remove(idOf(each));
  expect(statSync(path).size).toBeLessThan(1_200_000);
  expect(open(path).list()).toHaveLength(1);
});
