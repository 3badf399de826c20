import { expect, test } from "vitest";
import type { WaitOutcome } from "../../../../shared/human/channel.ts";
import { ADA, BOB, conversationUnderTest, settleDown } from "../../../support/simulated-store.ts";

const texts = (outcome: WaitOutcome): string[] => (outcome.at === "messages" ? outcome.messages.map(({ text }) => text) : [outcome.why]);

test("[HU64] the first words wake a waiting call at once, and its stream is written to before they are handed over", async () => {
  const { conversation, store, type, waits } = conversationUnderTest();
  const seen: string[] = [];
  const { outcome } = waits({ probe: () => seen.push(`probe before ${store.rows.count("queued")} queued`) });
  await settleDown();
  expect(conversation.view().waiting).toMatchObject({ client: ADA, until: 1_045_000 });
  expect(await type("now")).toEqual({ outcome: "kept" });
  expect(texts(await outcome)).toEqual(["now"]);
  expect(seen).toEqual(["probe before 0 queued", "probe before 1 queued"]);
  expect(conversation.view()).toMatchObject({ waiting: null, entries: [{ text: "now", state: "delivered", to: ADA }] });
});

test("[HU65] a call takes at once all that waits for its client, oldest first, and nothing of another one's", async () => {
  const { conversation, type, waits } = conversationUnderTest();
  conversation.sawClient(BOB, 999_000);
  await type("for anybody", null);
  await type("for Ada", ADA.principalId);
  await type("for Bob", BOB.principalId);
  await type("no, stop", ADA.principalId);
  expect(texts(await waits().outcome)).toEqual(["for Ada", "no, stop"]);
  expect(texts(await waits({ client: BOB }).outcome)).toEqual(["for anybody", "for Bob"]);
});

test.each(Array.from({ length: 16 }, (_, turns) => turns))("[HU66] words that come %d turns after a call began to wait reach it", async (turns) => {
  const { type, waits } = conversationUnderTest();
  const { outcome } = waits();
  await settleDown(turns);
  await type("in between");
  await settleDown();
  expect(texts(await outcome)).toEqual(["in between"]);
});

test("[HU67] a call that ended takes nothing, and its question goes on", async () => {
  const { conversation, store, type, waits } = conversationUnderTest();
  const question = await conversation.channel.ask({ client: ADA, text: "Go on?", options: [] });
  const { outcome, gone } = waits();
  await settleDown();
  gone.abort();
  expect(texts(await outcome)).toEqual(["ended"]);
  await type("late");
  expect(store.rows.count("queued")).toBe(1);
  expect(await conversation.channel.question(ADA, typeof question === "string" ? "" : question.questionId)).toMatchObject({ state: "answered" });
  expect(texts(await waits().outcome)).toEqual(["late"]);
});

test.each(Array.from({ length: 16 }, (_, turns) => turns))(
  "[HU67] words taken for a call that is cancelled %d turns later are given back, though its exchange ends well",
  async (turns) => {
    const { store, type, waits } = conversationUnderTest();
    await type("precious");
    const { outcome, gone } = waits({ x: 77 });
    await settleDown(turns);
    gone.abort();
    const told = texts(await outcome);
    await settleDown();
    store.settle(77, true);
    const next = texts(
      await Promise.race([waits({ budgetMs: 1 }).outcome, settleDown(300).then((): WaitOutcome => ({ at: "no_message", why: "budget" }))]),
    );
    expect([told[0], next[0]]).toEqual(told[0] === "precious" ? ["precious", "budget"] : ["ended", "precious"]);
  },
);

test("[HU68] a call goes on waiting while the store is away, and takes what came when it is back", async () => {
  const { store, type, waits } = conversationUnderTest();
  const { outcome } = waits();
  await settleDown();
  store.cut();
  expect(await type("from the outbox")).toEqual({ outcome: "unsent" });
  store.connect();
  await settleDown();
  expect(texts(await outcome)).toEqual(["from the outbox"]);
});

test("[HU68] its budget ends the waiting, with the store or without", async () => {
  const { clock, store, waits } = conversationUnderTest();
  const first = waits().outcome;
  await settleDown();
  clock.advance(45_000);
  expect(texts(await first)).toEqual(["budget"]);
  const second = waits().outcome;
  await settleDown();
  store.cut();
  clock.advance(45_000);
  expect(texts(await second)).toEqual(["budget"]);
});

test("[HU68] while it is not known whether words were taken for it, a call is not answered without them", async () => {
  const { clock, store, type, waits } = conversationUnderTest();
  await type("leased");
  store.losesAnswers = true;
  let isAnswered = false;
  const { outcome } = waits({ x: 5 });
  void outcome.then(() => (isAnswered = true));
  await settleDown();
  store.cut();
  clock.advance(60_000);
  await settleDown();
  expect(isAnswered).toBe(false);
  store.losesAnswers = false;
  store.connect();
  expect(texts(await outcome)).toEqual(["leased"]);
});

test("[HU69] a second call is turned away after its holder was written to twice, 50 ms apart", async () => {
  const { clock, waits } = conversationUnderTest();
  const probes: number[] = [];
  const first = waits({ probe: () => probes.push(clock.now()) });
  await settleDown();
  const second = waits({ client: BOB }).outcome;
  await settleDown();
  clock.advance(50);
  await settleDown();
  clock.advance(200);
  expect(texts(await second)).toEqual(["busy"]);
  expect(probes).toEqual([1_000_000, 1_000_050]);
  first.gone.abort();
  expect(texts(await first.outcome)).toEqual(["ended"]);
});

test("[HU69] a client is not turned away by its own earlier call, whose connection it closed", async () => {
  const { clock, type, waits } = conversationUnderTest();
  const ghost = waits({
    probe: () => {
      if (clock.now() > 1_000_000) ghost.gone.abort();
    },
  });
  await settleDown();
  const second = waits().outcome;
  await settleDown();
  clock.advance(50);
  await settleDown();
  await type("hello again");
  await settleDown();
  expect(texts(await second)).toEqual(["hello again"]);
  expect(texts(await ghost.outcome)).toEqual(["ended"]);
});

test("[HU70] what waits for a client reaches it although another one holds the seat", async () => {
  const { type, waits } = conversationUnderTest();
  const holder = waits();
  await settleDown();
  await type("for Bob", BOB.principalId);
  expect(texts(await waits({ client: BOB }).outcome)).toEqual(["for Bob"]);
  await type("for Ada");
  expect(texts(await holder.outcome)).toEqual(["for Ada"]);
});

test("[HU64] words that come back because an answer failed wake the call that waits now", async () => {
  const { clock, store, type, waits } = conversationUnderTest();
  await type("twice");
  expect(texts(await waits({ x: 1 }).outcome)).toEqual(["twice"]);
  const again = waits({ x: 2 }).outcome;
  await settleDown();
  store.settle(1, false);
  await settleDown();
  clock.advance(1000);
  expect(await again).toMatchObject({ at: "messages", messages: [{ text: "twice", repeat: true }] });
});
