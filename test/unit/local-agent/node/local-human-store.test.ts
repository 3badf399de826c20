import { readdirSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openLocalHumanStore, type LocalHumanStore } from "../../../../local-agent/node/local-human-store.ts";
import { HUMAN_LIMITS } from "../../../../shared/human/limits.ts";
import type { HumanNews } from "../../../../shared/human/store.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { ADA, idOf } from "../../../support/simulated-store.ts";
import { tempDir } from "../../../support/temp-dir.ts";

function open(dir: string, clock = new ManualClock()): LocalHumanStore {
  const store = openLocalHumanStore({ dir, clock, timers: clock });
  onTestFinished(() => store.close());
  return store;
}
const type = (store: LocalHumanStore, number: number, text = `m${number}`, imageIds: readonly string[] = []) => {
  const images = imageIds.map((id) => ({ id, mimeType: "image/png" as const, bytes: 3 }));
  return store.ask("human.append", { entry: { kind: "typed", id: idOf(number), at: 5, text, images, to: ADA, questionId: null } });
};
const take = (store: LocalHumanStore, x: number | null) => store.ask("human.take", { principalId: ADA.principalId, x });

test("[HU77] without a relay the conversation outlives the agent, and what was on its way comes again as a repeat", async () => {
  const dir = tempDir();
  const first = open(dir);
  await type(first, 1, "read");
  await take(first, null);
  await type(first, 2, "on its way");
  await take(first, 7);
  await type(first, 3, "queued");
  // No close: the process was killed.
  const second = open(dir);
  const { messages } = await take(second, 8);
  expect(messages.map(({ text, repeat }) => [text, repeat])).toEqual([
    ["on its way", true],
    ["queued", false],
  ]);
  const news: HumanNews[] = [];
  second.subscribe((each) => news.push(each));
  second.settled(8, true);
  await Promise.resolve();
  expect(news.map(({ t }) => t)).toEqual(["marks", "reachable"]);
  const { entries } = await open(dir).ask("human.history", { before: null });
  expect(entries.map((entry) => (entry.kind === "typed" ? entry.state : entry.kind))).toEqual(["read", "read", "read"]);
});

test.each([1, 30, 90])("[HU77] a journal whose last line lacks %d bytes loses that line and no other", async (bytes) => {
  const dir = tempDir();
  const first = open(dir);
  await type(first, 1);
  await type(first, 2);
  const path = join(dir, "conversation.jsonl");
  truncateSync(path, statSync(path).size - bytes);
  const second = open(dir);
  expect((await take(second, null)).messages.map(({ text }) => text)).toEqual(["m1"]);
  expect(await type(second, 2)).toMatchObject({ outcome: "kept" });
});

test("[HU77] images are files, and go when nobody names them", async () => {
  const dir = tempDir();
  const clock = new ManualClock();
  const first = open(dir, clock);
  const put = (id: string) => first.ask("human.image.put", { image: { id, mimeType: "image/png", bytes: 3 }, part: 0, parts: 1, data: "AAAA" });
  await put(idOf(8));
  await put(idOf(9));
  await type(first, 1, "see", [idOf(8)]);
  const again = open(dir, clock);
  expect(await again.ask("human.image.get", { id: idOf(8), part: 0 })).toEqual({ data: "AAAA", parts: 1 });
  clock.advance(HUMAN_LIMITS.imageLifeMs);
  expect(readdirSync(join(dir, "images"))).toEqual([`${idOf(8)}.0`]);
});

test("[HU77] the journal is rewritten when most of it is over, and says the same", async () => {
  const dir = tempDir();
  const first = open(dir);
  for (let each = 1; each <= 300; each += 1) {
    await type(first, each, "z".repeat(20_000));
    await take(first, null);
  }
  const size = statSync(join(dir, "conversation.jsonl")).size;
  expect(size).toBeLessThan(10_000_000);
  const before = await first.ask("human.history", { before: null });
  expect(await open(dir).ask("human.history", { before: null })).toEqual(before);
});

test.skipIf(process.platform === "win32")("[HU77] only this account can read what is kept", async () => {
  const dir = tempDir();
  const image = { id: idOf(8), mimeType: "image/png", bytes: 3 } as const;
  await open(dir).ask("human.image.put", { image, part: 0, parts: 1, data: "AAAA" });
  const modes = [join("images", `${idOf(8)}.0`), "conversation.jsonl"].map((name) => statSync(join(dir, name)).mode & 0o777);
  expect(modes).toEqual([0o600, 0o600]);
});
