import * as fc from "fast-check";
import { expect, test } from "vitest";
import { HUMAN_LIMITS } from "../../../../shared/human/limits.ts";
import { createHumanStore } from "../../../../worker/workspace/human-store.ts";
import { ALICE, asked, BOB, freshId, play, QueueUnderTest, said, stories } from "../../../support/queue-under-test.ts";
import { withIssuer } from "../oauth/bench.workerd.ts";

const withRows = (work: (rows: ReturnType<typeof createHumanStore>, sql: SqlStorage) => void) =>
  withIssuer(async ({ storage }) => {
    storage.sql.exec("DELETE FROM human_entries; DELETE FROM human_images");
    work(createHumanStore(storage), storage.sql);
  });

test("[HU7] [HU9] [HU10] the rules hold over SQLite, over any story", { timeout: 60_000 }, () =>
  withRows((rows, sql) => {
    const story = fc.property(stories, (steps) => {
      sql.exec("DELETE FROM human_entries");
      play(rows, steps);
    });
    expect(() => fc.assert(story, { numRuns: 40 })).not.toThrow();
  }),
);

test("[HU1] [HU4] [HU5] [HU13] questions and answers are found again in SQLite", () =>
  withRows((rows) => {
    const it = new QueueUnderTest(rows);
    const question = asked(ALICE, "Continue?", { options: ["yes"] });
    expect(it.ask(question)).toMatchObject({ outcome: "asked", entry: { n: 1 } });
    expect(it.ask(asked(ALICE, "Continue?", { options: ["yes"] }))).toMatchObject({ outcome: "attached", entry: { id: question.id } });
    const answer = it.type("yes", { questionId: question.id });
    expect(it.ask(asked(ALICE, "Continue?", { options: ["yes"] }))).toMatchObject({ outcome: "attached", entry: { state: "answered" } });
    it.take(ALICE);
    const found = it.queue.calls["human.question"]({ principalId: ALICE.principalId, id: question.id });
    expect(found).toMatchObject({ question: { state: "answered", n: 1 }, answer: { id: answer.id, state: "read", n: 2 } });
    expect(it.ask(asked(ALICE, "Continue?", { options: ["yes"] }))).toMatchObject({ outcome: "asked" });
  }));

test("[HU14] [HU15] [HU16] revoking, paging and sweeping work on more rows than are read at a time", () =>
  withRows((rows, sql) => {
    const it = new QueueUnderTest(rows);
    for (let count = 0; count < 70; count++) it.type(`${count}`, { to: ALICE });
    expect(it.history().map(({ text }) => text)).toEqual(Array.from({ length: 70 }, (_, index) => `${index}`));
    it.gone.add(ALICE.principalId);
    it.queue.revokeGone();
    expect(it.texts(BOB)).toHaveLength(70);
    for (let count = 0; count < 1100; count++) it.queue.calls["human.append"]({ entry: said(BOB, "x") });
    expect(sql.exec<{ c: number }>("SELECT count(*) AS c FROM human_entries").one().c).toBeLessThanOrEqual(HUMAN_LIMITS.history + 50);
  }));

test("[HU17] images are kept in rows below the platform's bound, and go", () =>
  withRows((rows, sql) => {
    const it = new QueueUnderTest(rows);
    const image = { id: freshId(), mimeType: "image/png" as const, bytes: HUMAN_LIMITS.imageBytes };
    const data = "A".repeat(HUMAN_LIMITS.imagePartChars);
    for (let part = 0; part < 14; part++) it.queue.calls["human.image.put"]({ image, part, parts: 14, data });
    expect(it.queue.calls["human.image.get"]({ id: image.id, part: 13 })).toEqual({ data, parts: 14 });
    it.type("", { images: [image] });
    expect(rows.images()).toEqual([{ id: image.id, at: it.now, usedBy: "waiting" }]);
    it.take(ALICE);
    expect(rows.images()).toMatchObject([{ usedBy: "settled" }]);
    rows.dropSettled(1);
    it.queue.sweep();
    expect(sql.exec<{ c: number }>("SELECT count(*) AS c FROM human_images").one().c).toBe(0);
  }));

test("[HU19] keeping, delivering and reading a message write ten rows at most, indexes included", () =>
  withIssuer(async ({ storage }) => {
    const cursors: { readonly rowsWritten: number }[] = [];
    const exec: SqlStorage["exec"] = (query, ...values) => {
      const cursor = storage.sql.exec(query, ...values);
      cursors.push(cursor);
      return cursor as never;
    };
    const counting = { sql: { exec }, transactionSync: <T>(work: () => T) => storage.transactionSync(work) };
    const it = new QueueUnderTest(createHumanStore(counting as unknown as DurableObjectStorage));
    it.type("hello", { to: ALICE });
    it.take(ALICE, 1);
    it.queue.settled(1, true);
    const written = cursors.reduce((sum, { rowsWritten }) => sum + rowsWritten, 0);
    expect(written).toBeGreaterThan(2);
    expect(written).toBeLessThanOrEqual(10);
  }));
