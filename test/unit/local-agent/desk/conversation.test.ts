import { expect, test } from "vitest";
import { DeskSnapshot, type DeskEvent } from "../../../../shared/desk.ts";
import * as v from "valibot";
import type { HumanEntry } from "../../../../shared/human/entry.ts";
import { HUMAN_LIMITS } from "../../../../shared/human/limits.ts";
import { StoreUnreachable } from "../../../../shared/human/store.ts";
import { deskUnderTest } from "../../../support/desk-under-test.ts";
import { blackPng } from "../../../support/png.ts";
import { ADA, BOB, conversationUnderTest, idOf, memoryOutbox, settleDown } from "../../../support/simulated-store.ts";

const textsOf = (entries: readonly HumanEntry[]): string[] => entries.map(({ text }) => text);
const HOUR = 3_600_000;

async function ask(under: ReturnType<typeof conversationUnderTest>, client = ADA, text = "Go on?"): Promise<string> {
  const question = await under.conversation.channel.ask({ client, text, options: ["yes", "no"] });
  return question === "too_many" ? question : question.questionId;
}

test("[HU60] words said while the store is away are on the disk before the page is answered, shown as unsent, and sent in order", async () => {
  const { conversation, store, outbox, type } = conversationUnderTest({ away: true });
  expect(await type("one")).toEqual({ outcome: "unsent" });
  expect(await type("two")).toEqual({ outcome: "unsent" });
  expect(textsOf(outbox.list() as HumanEntry[])).toEqual(["one", "two"]);
  expect(conversation.view()).toMatchObject({ entries: [], unsent: [{ text: "one" }, { text: "two" }] });
  store.connect();
  await type("three");
  await settleDown();
  expect(textsOf(conversation.view().entries)).toEqual(["one", "two", "three"]);
  expect(conversation.view().unsent).toEqual([]);
  expect(outbox.list()).toEqual([]);
});

test("[HU60] nothing overtakes the outbox: a client's question is asked after what was said before it", async () => {
  const under = conversationUnderTest({ away: true });
  await under.conversation.channel.say({ client: ADA, category: "message", text: "first" });
  const asked = ask(under, ADA, "then?");
  await settleDown();
  under.store.connect();
  under.clock.advance(500);
  await settleDown();
  await asked;
  expect(textsOf(under.conversation.view().entries)).toEqual(["first", "then?"]);
});

test("[HU60] a full store keeps the words in the outbox until it takes them", async () => {
  const { clock, conversation, store, type } = conversationUnderTest({ away: true });
  await type("waits");
  const append = store.queue.calls["human.append"];
  Object.assign(store.queue.calls, { "human.append": () => ({ outcome: "full" }) });
  store.connect();
  await settleDown();
  expect(textsOf(conversation.view().unsent as HumanEntry[])).toEqual(["waits"]);
  Object.assign(store.queue.calls, { "human.append": append });
  clock.advance(5_000);
  await settleDown();
  expect(textsOf(conversation.view().entries)).toEqual(["waits"]);
});

test("[HU60] what the store refuses for good stays on the disk and holds up nothing", async () => {
  const { conversation, store, outbox, type } = conversationUnderTest({ away: true });
  await type("poison");
  await type("good");
  const append = store.queue.calls["human.append"];
  Object.assign(store.queue.calls, {
    "human.append": (params: Parameters<typeof append>[0]) => {
      if (params.entry.text === "poison") throw new RangeError("no");
      return append(params);
    },
  });
  store.connect();
  await settleDown();
  expect(textsOf(conversation.view().entries)).toEqual(["good"]);
  expect(textsOf(outbox.list() as HumanEntry[])).toEqual(["poison"]);
});

test("[HU61] an image is what its first bytes say, kept in pieces and given back whole", async () => {
  const { conversation } = conversationUnderTest();
  const bytes = new Uint8Array(900_000);
  bytes.set(blackPng(2, 2));
  const put = await conversation.putImage(bytes);
  if (put.outcome !== "kept") throw new Error(put.outcome);
  expect(put.image).toMatchObject({ mimeType: "image/png", bytes: 900_000 });
  expect(Buffer.from((await conversation.channel.image(put.image)) ?? "", "base64").equals(bytes)).toBe(true);
  expect(await conversation.image(put.image.id)).toEqual({ mimeType: "image/png", bytes });
  expect(await conversation.image(idOf(99))).toBeNull();
  expect(await conversation.putImage(new TextEncoder().encode("<svg onload=alert(1)>"))).toEqual({ outcome: "not_an_image" });
  expect(await conversation.putImage(new Uint8Array(HUMAN_LIMITS.imageBytes + 1))).toEqual({ outcome: "too_large" });
});

test("[HU61] while the relay is away an image is refused with a sentence, and words are not", async () => {
  const { conversation, type } = conversationUnderTest({ away: true });
  await expect(conversation.putImage(blackPng(1, 1))).rejects.toThrow(/when the relay is back/);
  expect(await type("words")).toEqual({ outcome: "unsent" });
});

test("[HU62] the same id says nothing twice: kept, unsent, and when an answer was lost", async () => {
  const { conversation, store, type } = conversationUnderTest();
  expect(await type("a", null, idOf(1))).toEqual({ outcome: "kept" });
  expect(await type("a", null, idOf(1))).toEqual({ outcome: "known" });
  store.losesAnswers = true;
  expect(await type("b", null, idOf(2))).toEqual({ outcome: "unsent" });
  store.losesAnswers = false;
  expect(await type("b", null, idOf(2))).toEqual({ outcome: "unsent" });
  store.cut();
  store.connect();
  await settleDown();
  expect(await type("b", null, idOf(2))).toEqual({ outcome: "known" });
  expect(textsOf(conversation.view().entries)).toEqual(["a", "b"]);
});

test("[HU63] with a full outbox, and with a disk that takes nothing, the words are refused where they are typed", async () => {
  const { store, type } = conversationUnderTest({ away: true, outbox: memoryOutbox(1) });
  await type("fits");
  expect(await type("does not")).toEqual({ outcome: "full" });
  expect(store.asked).toEqual([]);
  const broken = conversationUnderTest({
    away: true,
    outbox: {
      list: () => [],
      remove: () => {},
      add: () => {
        throw new Error("ENOSPC");
      },
    },
  });
  await expect(broken.type("x")).rejects.toThrow(StoreUnreachable);
});

test("[HU71] by default words go to whoever waits, else to the client active last, else to whoever asks first", async () => {
  const { clock, conversation, store, type, waits } = conversationUnderTest();
  await type("nobody yet");
  conversation.sawClient(BOB, clock.now());
  await type("Bob was last");
  const waiting = waits({ budgetMs: 1000, client: ADA });
  await waiting.outcome; // It takes what waits for nobody in particular.
  store.settle(1, true);
  const { outcome } = waits({ client: ADA });
  await settleDown();
  conversation.sawClient(BOB, clock.now());
  await type("Ada waits");
  await outcome;
  clock.advance(10);
  conversation.sawClient(BOB, clock.now());
  await type("Bob again");
  clock.advance(13 * HOUR);
  await type("everybody is long gone");
  await type("chosen", ADA.principalId);
  await type("a stranger", "grant:new");
  const to = conversation.view().entries.map((entry) => (entry.kind === "typed" ? (entry.to?.name ?? null) : "?"));
  expect(to).toEqual([null, "Bob", "Ada", "Bob", null, "Ada", "grant:new"]);
});

test("[HU72] free words to a client with open questions answer the newest, whose card closes", async () => {
  const under = conversationUnderTest();
  const older = await ask(under, ADA, "older?");
  const newer = await ask(under, ADA, "newer?");
  await under.type("yes", ADA.principalId);
  await under.type("and yes", ADA.principalId);
  await under.type("just talking", ADA.principalId);
  const { entries } = under.conversation.view();
  expect(entries).toMatchObject([
    { id: older, state: "answered" },
    { id: newer, state: "answered" },
    { text: "yes", questionId: newer },
    { text: "and yes", questionId: older },
    { text: "just talking", questionId: null },
  ]);
});

test("[HU72] free words whose question was answered meanwhile are said all the same", async () => {
  const under = conversationUnderTest();
  const id = await ask(under);
  under.store.queue.calls["human.append"]({
    entry: { kind: "typed", id: idOf(500), at: 1, text: "by another agent", images: [], to: ADA, questionId: id },
  });
  expect(await under.type("mine", ADA.principalId)).toEqual({ outcome: "kept" });
  expect(under.conversation.view().entries.at(-1)).toMatchObject({ text: "mine", questionId: null });
});

test("[HU73] an answer goes to the asker; a second one, and one to a question that is over, keeps nothing", async () => {
  const under = conversationUnderTest();
  const { conversation, clock, store } = under;
  const id = await ask(under, BOB);
  const order = { id: idOf(1), questionId: id, text: "yes" };
  expect(await conversation.answer(order)).toEqual({ outcome: "kept" });
  expect(await conversation.answer(order)).toEqual({ outcome: "known" });
  expect(await conversation.answer({ ...order, id: idOf(2) })).toEqual({ outcome: "answered" });
  expect(conversation.view().entries.at(-1)).toMatchObject({ to: BOB, questionId: id });
  const late = await ask(under, ADA, "late?");
  clock.advance(HUMAN_LIMITS.questionLifeMs);
  expect(await conversation.answer({ id: idOf(3), questionId: late, text: "x" })).toEqual({ outcome: "over" });
  expect(await conversation.answer({ id: idOf(4), questionId: idOf(4), text: "x" })).toEqual({ outcome: "over" });
  const unsent = await ask(under, ADA, "away?");
  store.cut();
  expect(await conversation.answer({ id: idOf(5), questionId: unsent, text: "x" })).toEqual({ outcome: "unsent" });
  expect(await conversation.answer({ id: idOf(6), questionId: unsent, text: "y" })).toEqual({ outcome: "answered" });
});

test("[HU74] what a client says is shown while a page is open, kept for one while none is, or unsent while the relay is away", async () => {
  const { conversation, store } = conversationUnderTest();
  const say = () => conversation.channel.say({ client: ADA, category: "done", text: "ready" });
  const close = conversation.pageOpened();
  expect(await say()).toBe("shown");
  close();
  close();
  expect(await say()).toBe("page_closed");
  store.cut();
  expect(await say()).toBe("unsent");
});

test("[HU74] its call is an entry of the conversation and no row of tool calls, and makes its client one to write to", () => {
  const { conversation, events } = conversationUnderTest();
  const { desk } = deskUnderTest({ conversation });
  const told: DeskEvent[] = [];
  desk.subscribe((event) => told.push(event));
  desk.callStarted({ callId: "1", tool: "human_say", args: {}, client: "Ada", principalId: ADA.principalId, at: 5 });
  desk.callFinished({ callId: "1", outcome: { content: [], isError: false }, at: 6, state: "ok" });
  desk.callStarted({ callId: "2", tool: "bash", args: {}, client: "Ada", principalId: ADA.principalId, at: 7 });
  const snapshot = v.parse(DeskSnapshot, desk.snapshot());
  expect(snapshot.timeline.map(({ callId }) => callId)).toEqual(["2"]);
  expect(snapshot.conversation?.clients).toEqual([{ ...ADA, lastAt: 7 }]);
  expect(told.filter(({ t }) => t === "conversation")).toHaveLength(1);
  expect(events.filter(({ t }) => t === "conversation").length).toBeGreaterThan(0);
});

test("[HU75] what was said before this start, and while the link was down, is loaded, bounded in number and in size", async () => {
  const { clock, conversation, store, events } = conversationUnderTest({ away: true, maxEntries: 300, maxChars: 200_000 });
  const append = (n: number, text = `m${n}`) =>
    store.queue.calls["human.append"]({ entry: { kind: "said", id: idOf(2000 + n), at: clock.now(), client: ADA, category: "message", text } });
  for (let n = 0; n < 500; n += 1) append(n);
  expect(conversation.view().isLoaded).toBe(false);
  store.connect();
  await settleDown();
  const { entries, isLoaded, clients } = conversation.view();
  expect([isLoaded, entries.length, entries[0]?.text, entries.at(-1)?.text]).toEqual([true, 300, "m200", "m499"]);
  expect(clients).toMatchObject([ADA]);
  store.cut();
  append(500, "while it was down");
  store.connect();
  await settleDown();
  expect(conversation.view().entries.at(-1)?.text).toBe("while it was down");
  expect(events.filter((event) => event.t === "entry" && event.entry.text === "while it was down")).toHaveLength(1);
  expect(await conversation.history(250)).toMatchObject({ more: true });
  for (let n = 501; n < 506; n += 1) append(n, "x".repeat(60_000));
  store.cut();
  store.connect();
  await settleDown();
  expect(conversation.view().entries).toHaveLength(3);
});

test("[HU75] a mark that was missed while the link was down is seen when it is back", async () => {
  const { conversation, store, type, waits } = conversationUnderTest();
  await type("hello");
  await waits({ x: 9 }).outcome;
  store.cut();
  store.settle(9, true);
  expect(conversation.view().entries).toMatchObject([{ state: "delivered" }]);
  store.connect();
  await settleDown();
  expect(conversation.view().entries).toMatchObject([{ state: "read" }]);
});

test("[HU75] marks change what the page shows", async () => {
  const { conversation, events, store, type, waits } = conversationUnderTest();
  await type("hello");
  await waits({ x: 9 }).outcome;
  store.settle(9, true);
  expect(events.filter(({ t }) => t === "marks")).toEqual([{ t: "marks", marks: [{ id: idOf(1), state: "read", repeat: false }] }]);
  expect(conversation.view().entries).toMatchObject([{ state: "read" }]);
});

test.each([true, false])("[HU75] news that overtakes the answer it is about stands (left whole: %s)", async (whole) => {
  const { conversation, store, type, waits } = conversationUnderTest();
  await type("hello");
  const { outcome, gone } = waits({ x: 9 });
  for (let turns = 0; turns < 100 && store.rows.count("queued") > 0; turns++) await Promise.resolve();
  store.settle(9, whole);
  gone.abort();
  await outcome;
  expect(conversation.view().entries).toMatchObject([whole ? { state: "read" } : { state: "queued", repeat: true }]);
});

test("[HU76] an open question is shown as expired when its time is over, and stays on the page until then", async () => {
  const under = conversationUnderTest({ maxEntries: 2 });
  const id = await ask(under);
  for (const text of ["a", "b", "c"]) await under.type(text, BOB.principalId);
  expect(under.conversation.view().entries).toMatchObject([{ id, state: "open" }, { text: "c" }]);
  under.clock.advance(HUMAN_LIMITS.questionLifeMs);
  expect(under.events.filter((event) => event.t === "entry" && event.entry.id === id).at(-1)).toMatchObject({ entry: { state: "expired" } });
});
