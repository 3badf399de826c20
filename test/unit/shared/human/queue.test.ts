import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { answerHumanCall, type QueueHost } from "../../../../shared/human/answer-call.ts";
import { HUMAN_LIMITS } from "../../../../shared/human/limits.ts";
import { MemoryRows } from "../../../../shared/human/memory-rows.ts";
import { ALICE, asked, BOB, freshId, play, QueueUnderTest, said, stories, typed } from "../../../support/queue-under-test.ts";

const start = () => new QueueUnderTest(new MemoryRows());

describe("words of the person", () => {
  test("[HU1] have one order, and a repeat of one is known and kept once", () => {
    const it = start();
    const entry = typed("hello");
    const kept = it.queue.calls["human.append"]({ entry });
    expect(it.queue.calls["human.append"]({ entry })).toEqual({ ...kept, outcome: "known" });
    it.queue.calls["human.append"]({ entry: said(ALICE, "noted") });
    it.type("again");
    expect(it.history().map(({ n, text }) => [n, text])).toEqual([
      [1, "hello"],
      [2, "noted"],
      [3, "again"],
    ]);
    expect(() => it.ask(asked(ALICE, "?", { id: entry.id }))).toThrow(RangeError);
  });

  test("[HU2] beyond 10,000 that wait the next is refused, and none is dropped", () => {
    const it = start();
    for (let count = 0; count < HUMAN_LIMITS.queued; count++) it.type(`${count}`);
    expect(it.queue.calls["human.append"]({ entry: typed("too many") })).toEqual({ outcome: "full" });
    expect(it.take(ALICE)[0]?.text).toBe("0");
    expect(it.queue.calls["human.append"]({ entry: typed("now") })).toMatchObject({ outcome: "kept" });
  }, 60_000);

  test("[HU7] go to the client they are for or to whoever asks first, oldest first, within the bound of one answer", () => {
    const it = start();
    it.type("a", { to: ALICE });
    it.type("b", { to: BOB });
    it.type("c");
    expect(it.texts(ALICE)).toEqual(["a", "c"]);
    expect(it.texts(BOB)).toEqual(["b"]);
    const large = "x".repeat(HUMAN_LIMITS.textBytes);
    for (let count = 0; count < 8; count++) it.type(large);
    const { messages, left } = it.queue.calls["human.take"]({ principalId: ALICE.principalId, x: null });
    expect([messages.length, left]).toEqual([5, 3]);
    it.take(ALICE);
    it.type("\u0001".repeat(HUMAN_LIMITS.textBytes));
    expect(it.take(ALICE)).toHaveLength(1);
    const images = [{ id: "0".repeat(32), mimeType: "image/png" as const, bytes: HUMAN_LIMITS.imageBytes }];
    for (let count = 0; count < 3; count++) it.type("", { images });
    expect([it.take(ALICE).length, it.take(ALICE).length, it.take(ALICE).length]).toEqual([1, 1, 1]);
  });

  test("[HU52] a client withdraws its own open question, once, and no other", () => {
    const it = start();
    const question = asked(ALICE, "Go on?");
    const { id } = question;
    it.ask(question);
    it.queue.calls["human.withdraw"]({ principalId: BOB.principalId, id });
    expect(it.entry(id)).toMatchObject({ state: "open" });
    it.queue.calls["human.withdraw"]({ principalId: ALICE.principalId, id });
    it.queue.calls["human.withdraw"]({ principalId: ALICE.principalId, id });
    expect(it.entry(id)).toMatchObject({ state: "withdrawn" });
    expect(it.queue.calls["human.question"]({ principalId: ALICE.principalId, id }).question).toMatchObject({ state: "withdrawn" });
    expect(it.news.filter(({ t }) => t === "entries")).toHaveLength(1);
    expect(it.ask(asked(ALICE, "Go on?"))).toMatchObject({ outcome: "asked" });
  });

  test("[HU8] [HU9] count as read when the answer left whole, else they wait in their old place as repeats", () => {
    const it = start();
    const { id } = it.type("a", { to: ALICE });
    expect(it.texts(ALICE, 7)).toEqual(["a"]);
    expect(it.entry(id)).toMatchObject({ state: "delivered" });
    expect(it.take(BOB)).toEqual([]);
    it.type("b", { to: ALICE });
    it.queue.settled(7, false);
    expect(it.texts(ALICE, 8)).toEqual(["a (repeat)", "b"]);
    it.queue.settled(8, true);
    it.queue.settled(8, false);
    expect(it.entry(id)).toMatchObject({ state: "read" });
    expect(it.news.map((news) => (news.t === "marks" ? news.marks.map(({ state, repeat }) => [state, repeat]) : news))).toEqual([
      [["queued", true]],
      [
        ["read", true],
        ["read", false],
      ],
    ]);
  });

  test("[HU10] that were on their way when the queue's keeper died are repeats", () => {
    const it = start();
    it.type("a");
    it.take(ALICE, 1);
    it.restart();
    it.queue.settled(1, true);
    expect(it.texts(ALICE, 1)).toEqual(["a (repeat)"]);
  });

  test("[HU12] are answered to the same exchange again, and go back when its call lets go of them", () => {
    const it = start();
    it.type("a");
    expect(it.texts(ALICE, 1)).toEqual(["a"]);
    it.type("b");
    expect(it.texts(ALICE, 1)).toEqual(["a"]);
    it.queue.calls["human.release"]({ x: 1 });
    it.queue.settled(1, true);
    expect(it.texts(ALICE, 2)).toEqual(["a (repeat)", "b"]);
    expect(it.queue.calls["human.release"]({ x: 99 })).toEqual({});
  });

  test("[HU7] [HU9] [HU10] are never lost, overtaken, heard twice, or repeated without a reason, over any story", () => {
    const story = fc.property(stories, (steps) => play(new MemoryRows(), steps));
    expect(() => fc.assert(story, { numRuns: 300 })).not.toThrow();
  }, 60_000);
});

describe("a question", () => {
  test("[HU3] takes one answer, which goes to the client that asked", () => {
    const it = start();
    const question = asked(ALICE, "Continue?");
    it.ask(question);
    expect(it.type("yes", { questionId: question.id, to: BOB })).toMatchObject({ to: ALICE });
    expect(it.queue.calls["human.append"]({ entry: typed("no", { questionId: question.id }) })).toEqual({ outcome: "answered" });
    expect(it.entry(question.id)).toMatchObject({ state: "answered" });
    expect(it.texts(BOB)).toEqual([]);
    expect(it.texts(ALICE)).toEqual(["yes"]);
    expect(it.type("to nothing", { questionId: freshId() })).toMatchObject({ questionId: null, to: null });
  });

  test("[HU3] is answered late as well, once", () => {
    const it = start();
    const question = asked(ALICE, "Continue?");
    it.ask(question);
    it.now += HUMAN_LIMITS.questionLifeMs;
    expect(it.queue.calls["human.question"]({ principalId: ALICE.principalId, id: question.id }).question).toMatchObject({ state: "expired" });
    it.type("yes", { questionId: question.id });
    expect(it.texts(ALICE)).toEqual(["yes"]);
    expect(it.queue.calls["human.append"]({ entry: typed("no", { questionId: question.id }) })).toEqual({ outcome: "answered" });
  });

  test("[HU4] [HU5] asked again is the open one, or the one whose answer was not heard; a heard one is asked anew", () => {
    const it = start();
    const first = asked(ALICE, "Continue?", { options: ["yes", "no"] });
    const again = () => it.ask(asked(ALICE, "Continue?", { options: ["yes", "no"] }));
    expect(it.ask(first)).toMatchObject({ outcome: "asked" });
    expect(again()).toMatchObject({ outcome: "attached", entry: { id: first.id } });
    expect(it.ask(first)).toMatchObject({ outcome: "attached", entry: { id: first.id } });
    expect(it.ask(asked(ALICE, "Continue?"))).toMatchObject({ outcome: "asked" });
    expect(it.ask(asked(BOB, "Continue?", { options: ["yes", "no"] }))).toMatchObject({ outcome: "asked" });
    it.type("yes", { questionId: first.id });
    expect(again()).toMatchObject({ outcome: "attached", entry: { id: first.id, state: "answered" } });
    it.take(ALICE, 1);
    it.queue.settled(1, true);
    expect(again()).toMatchObject({ outcome: "asked", entry: { state: "open" } });
  });

  test("[HU6] is one of 20 open ones of its client and 100 in all; expired ones do not count", () => {
    const it = start();
    for (let count = 0; count < HUMAN_LIMITS.openPerClient; count++) expect(it.ask(asked(ALICE, `${count}`)).outcome).toBe("asked");
    expect(it.ask(asked(ALICE, "one more"))).toEqual({ outcome: "too_many" });
    for (let count = HUMAN_LIMITS.openPerClient; count < HUMAN_LIMITS.open; count++)
      it.ask(asked({ principalId: `token:${count % 10}`, name: "" }, `${count}`));
    expect(it.ask(asked(BOB, "?"))).toEqual({ outcome: "too_many" });
    it.now += HUMAN_LIMITS.questionLifeMs;
    expect(it.ask(asked(BOB, "?"))).toMatchObject({ outcome: "asked", entry: { expiresAt: it.now + HUMAN_LIMITS.questionLifeMs } });
  });

  test("[HU13] is shown to the client that asked it and no other, with its answer however often that was heard", () => {
    const it = start();
    const question = asked(ALICE, "?");
    it.ask(question);
    const look = (principalId: string) => it.queue.calls["human.question"]({ principalId, id: question.id });
    expect(look(ALICE.principalId)).toMatchObject({ question: { state: "open" }, answer: null });
    const answer = it.type("yes", { questionId: question.id });
    it.take(ALICE);
    expect(look(ALICE.principalId)).toMatchObject({ question: { state: "answered" }, answer: { id: answer.id, state: "read" } });
    expect(look(BOB.principalId)).toEqual({ question: null, answer: null });
    expect(it.queue.calls["human.question"]({ principalId: ALICE.principalId, id: answer.id })).toEqual({ question: null, answer: null });
  });
});

test("[HU14] a client that loses its access loses its questions, and its words are for whoever asks first", () => {
  const it = start();
  const answered = asked(ALICE, "1");
  const open = asked(ALICE, "2");
  it.ask(answered);
  it.ask(open);
  it.type("yes", { questionId: answered.id });
  it.take(ALICE, 1);
  it.type("for Alice", { to: ALICE });
  it.gone.add(ALICE.principalId);
  it.queue.revokeGone();
  it.queue.settled(1, true);
  expect(it.entry(open.id)).toMatchObject({ state: "withdrawn" });
  const entries = it.news.flatMap((news) => (news.t === "entries" ? news.entries : []));
  expect(entries.map(({ text }) => text)).toEqual(["2", "yes", "for Alice"]);
  expect(it.type("later", { questionId: open.id, to: ALICE })).toMatchObject({ to: null, questionId: open.id });
  // Its call may wait on.
  expect(it.queue.calls["human.take"]({ principalId: ALICE.principalId, x: 3 })).toEqual({ messages: [], left: 0 });
  // Whoever gets it is told that it was an answer to somebody else.
  expect(it.take(BOB, 2).map(({ text, questionId }) => [text, questionId])).toEqual([
    ["yes", answered.id],
    ["for Alice", null],
    ["later", open.id],
  ]);
  it.queue.settled(2, false);
  expect(it.texts(BOB)).toEqual(["yes (repeat)", "for Alice (repeat)", "later (repeat)"]);
});

test("[HU15] history comes in pages of 200 entries, newest page first, each in order of arrival", () => {
  const it = start();
  for (let count = 1; count <= 450; count++) it.type(`${count}`);
  const pages: string[][] = [];
  for (let before: number | null = null, more = true; more;) {
    const page = it.queue.calls["human.history"]({ before });
    pages.push(page.entries.map(({ text }) => text));
    before = page.entries[0]?.n ?? 0;
    more = page.more;
  }
  expect(pages.map((page) => [page[0], page.at(-1)])).toEqual([
    ["251", "450"],
    ["51", "250"],
    ["1", "50"],
  ]);
});

test("[HU16] settled entries that are more than 1000 old are forgotten, what waits never", () => {
  const it = start();
  const question = asked(ALICE, "?");
  it.ask(question);
  const word = it.type("for Bob", { to: BOB });
  for (let count = 0; count < 1500; count++) it.queue.calls["human.append"]({ entry: said(ALICE, `${count}`) });
  const kept: number[] = [];
  for (let before: number | null = null, more = true; more;) {
    const page = it.queue.calls["human.history"]({ before });
    kept.unshift(...page.entries.map(({ n }) => n));
    before = page.entries[0]?.n ?? 0;
    more = page.more;
  }
  expect(kept.slice(0, 2)).toEqual([1, word.n]);
  expect(kept.length).toBeLessThanOrEqual(HUMAN_LIMITS.history + 52);
  expect(kept.length).toBeGreaterThan(HUMAN_LIMITS.history);
  expect(it.texts(BOB)).toEqual(["for Bob"]);
});

describe("an image", () => {
  const image = () => ({ id: freshId(), mimeType: "image/png" as const, bytes: 3 });
  const put = (it: QueueUnderTest, one: ReturnType<typeof image>, part = 0, parts = 1) =>
    it.queue.calls["human.image.put"]({ image: one, part, parts, data: `part${part}` });
  const get = (it: QueueUnderTest, id: string, part = 0) => it.queue.calls["human.image.get"]({ id, part });

  test("[HU17] is kept in parts, and goes a day later if no message named it", () => {
    const it = start();
    const [named, orphan] = [image(), image()];
    expect(() => put(it, named, 1, 2)).toThrow(RangeError);
    expect(() => put(it, named, 2, 2)).toThrow(RangeError);
    for (const part of [0, 1, 1]) put(it, named, part, 2);
    put(it, orphan);
    it.type("look", { images: [named] });
    expect(it.queue.sweep()).toBe(it.now + HUMAN_LIMITS.imageLifeMs);
    it.now += HUMAN_LIMITS.imageLifeMs;
    expect(it.queue.sweep()).toBeUndefined();
    expect(get(it, named.id, 1)).toEqual({ data: "part1", parts: 2 });
    expect(get(it, orphan.id)).toEqual({ data: "", parts: 0 });
  });

  test("[HU17] goes with its message, and 400 are kept: the oldest that was read gives way", () => {
    const it = start();
    const images = Array.from({ length: HUMAN_LIMITS.images }, image);
    for (const one of images) {
      put(it, one);
      it.now += 1;
      it.type("look", { images: [one] });
    }
    expect(() => put(it, image())).toThrow("400 images");
    it.take(ALICE);
    put(it, image());
    expect([get(it, images[0]!.id).parts, get(it, images[1]!.id).parts]).toEqual([0, 1]);
    for (let count = 0; count < 1500; count++) it.queue.calls["human.append"]({ entry: said(ALICE, "") });
    it.queue.sweep();
    expect(get(it, images[1]!.id).parts).toBe(0);
  });
});

describe("a call", () => {
  const host = (it: QueueUnderTest, changes: Partial<QueueHost> = {}): QueueHost => ({
    queue: it.queue,
    isOpen: () => true,
    delay: () => new Promise(() => undefined),
    ...changes,
  });
  const take = (x: number | null) => ({ principalId: ALICE.principalId, x });

  test("[HU11] for words waits for the client's earlier answer, so that nothing is overtaken", async () => {
    const it = start();
    it.type("a");
    it.take(ALICE, 1);
    it.type("b");
    const words = answerHumanCall("human.take", take(2), host(it));
    it.queue.settled(1, true);
    expect(await words).toMatchObject({ messages: [{ text: "b", repeat: false }] });
  });

  test("[HU11] for words takes what is on its way again, as a repeat, when that is not settled in time", async () => {
    const it = start();
    it.type("a");
    it.take(ALICE, 1);
    it.type("b");
    const words = await answerHumanCall("human.take", take(2), host(it, { delay: () => Promise.resolve() }));
    expect(words).toMatchObject({ messages: [{ text: "a", repeat: true }, { text: "b" }] });
    it.queue.settled(1, true);
    expect(it.history().map((entry) => entry.kind === "typed" && entry.state)).toEqual(["delivered", "delivered"]);
  });

  test("[HU5] [HU11] to ask waits to know whether the earlier answer was heard", async () => {
    const it = start();
    const question = asked(ALICE, "Continue?");
    it.ask(question);
    it.type("yes", { questionId: question.id });
    it.take(ALICE, 1);
    const heard = answerHumanCall("human.ask", { entry: asked(ALICE, "Continue?") }, host(it));
    it.queue.settled(1, true);
    expect(await heard).toMatchObject({ outcome: "asked" });
  });

  test("[HU12] for an exchange that is over takes nothing", async () => {
    const it = start();
    it.type("a");
    expect(await answerHumanCall("human.take", take(2), host(it, { isOpen: () => false }))).toEqual({ messages: [], left: 0 });
    expect(it.texts(ALICE)).toEqual(["a"]);
  });

  test.each([
    ["human.append", {}],
    ["human.append", { entry: typed("x".repeat(HUMAN_LIMITS.textBytes + 1)) }],
    ["human.append", { entry: typed("x", { id: "../../etc" }) }],
    ["human.take", { principalId: "", x: 0 }],
    ["human.image.get", { id: "__proto__", part: 0 }],
  ] as const)("[HU18] %s with impossible parameters is refused with a sentence that says where", async (method, params) => {
    await expect(answerHumanCall(method, params, host(start()))).rejects.toThrow(new RegExp(`^${method}: \\w+`));
    await expect(answerHumanCall(method, params, host(start()))).rejects.toThrow(RangeError);
  });
});
