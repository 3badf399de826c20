import { describe, expect, test } from "vitest";
import { StoreUnreachable } from "../../../../shared/human/store.ts";
import type { HumanImage } from "../../../../shared/human/entry.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { heard, QUESTION, scriptedHuman, typed, type HumanScript, type ScriptedHuman } from "../../../support/scripted-human.ts";
import { text } from "../../../support/scripted-tools.ts";
import {
  context,
  messages,
  reply,
  requestOf,
  surfaceUnderTest,
  toolCall,
  type RpcAnswer,
  type SurfaceUnderTest,
  type TestContext,
} from "../../../support/surface-under-test.ts";
import { waitUntil } from "../../../support/wait-until.ts";

const ERAS = ["legacy", "modern"] as const;
const PNG: HumanImage = { id: "f".repeat(32), mimeType: "image/png", bytes: 2 };

interface Talk extends SurfaceUnderTest, ScriptedHuman {
  readonly clock: ManualClock;
  readonly call: (name: string, args?: Record<string, unknown>, more?: { at?: TestContext; token?: string; id?: number }) => Promise<RpcAnswer[]>;
}

function talk(era: (typeof ERAS)[number], script: Omit<HumanScript, "timers"> = {}, blockMs: number | null = null): Talk {
  const clock = new ManualClock();
  const human = scriptedHuman({ timers: clock, ...script });
  const under = surfaceUnderTest({ read: () => text("contents") }, { human: human.channel, waits: { blockMs }, clock, timers: clock });
  const call: Talk["call"] = async (name, args = {}, { at = context(), token, id = 1 } = {}) =>
    messages(await under.surface.handle(requestOf(era, toolCall(id, name, args, token)), at));
  return { ...under, ...human, clock, call };
}

const waits = (client: Talk, count = 1) => waitUntil("the call waits", () => client.waits.length === count);
const resultOf = (all: readonly RpcAnswer[]) => all.at(-1)?.result;
const textOf = (all: readonly RpcAnswer[]) => JSON.stringify(resultOf(all)?.["content"]).replaceAll('\\"', '"');

describe.each(ERAS)("the conversation as tools (%s)", (era) => {
  test("[HU30] stand after Pi's tools and before get_instructions, and only with a conversation", async () => {
    const list = async ({ surface }: SurfaceUnderTest) => {
      const listed = (await reply(await surface.handle(requestOf(era, { id: 1, method: "tools/list" }), context()))).result?.["tools"];
      return listed as { name: string; inputSchema: Record<string, unknown>; annotations: Record<string, unknown> }[];
    };
    const tools = await list(talk(era));
    expect(tools.map(({ name }) => name)).toEqual(["read", "human_say", "human_ask", "human_wait", "get_instructions"]);
    for (const tool of tools.slice(1, 4)) {
      expect(tool.annotations).toMatchObject({ title: expect.any(String), readOnlyHint: false, destructiveHint: false });
      expect(tool.inputSchema).not.toHaveProperty("additionalProperties");
    }
    const without = surfaceUnderTest({ read: () => text("contents") });
    expect((await list(without)).map(({ name }) => name)).toEqual(["read", "get_instructions"]);
    const refused = await reply(await without.surface.handle(requestOf(era, toolCall(1, "human_say", { text: "hello" })), context()));
    expect(refused.error).toMatchObject({ code: -32602 });
  });

  test("[HU30] the other tools run as they did", async () => {
    const client = talk(era);
    expect(resultOf(await client.call("read"))).toMatchObject({ content: [{ text: "contents" }], isError: false });
    expect(textOf(await client.call("get_instructions"))).toContain("operating prompt");
  });

  test("[HU31] a wrong argument is an error that the model can read, and the person sees nothing", async () => {
    const client = talk(era);
    for (const name of ["human_say", "human_ask"]) {
      const result = resultOf(await client.call(name, {}));
      expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("text: expected a string, got nothing") }] });
    }
    expect(client.orders).toEqual([]);
  });

  test.each([
    ["shown", "shown"],
    ["page_closed", "queued"],
    ["unsent", "queued"],
  ] as const)("[HU34] human_say returns at once: %s is said as %s", async (outcome, status) => {
    const client = talk(era, { say: () => Promise.resolve(outcome) });
    const result = resultOf(await client.call("human_say", { text: "# done", category: "done" }, { at: context("grant:7") }));
    expect(result).toMatchObject({ structuredContent: { status }, isError: false });
    expect(client.orders).toEqual([{ client: { principalId: "grant:7", name: "client of grant:7" }, text: "# done", category: "done" }]);
  });

  test("[HU33] human_ask puts the question, waits for its answer as this client and this exchange, and returns it verbatim", async () => {
    const client = talk(era);
    const at = { ...context("grant:7"), x: 12 };
    const answered = client.call("human_ask", { text: "Which?", options: ["a", "b"] }, { at });
    await waits(client);
    expect(client.orders).toEqual([{ client: { principalId: "grant:7", name: "client of grant:7" }, text: "Which?", options: ["a", "b"] }]);
    expect(client.waits[0]).toMatchObject({ client: { principalId: "grant:7" }, x: 12, questionId: QUESTION.questionId, budgetMs: 45_000 });
    client.hears(heard(typed("b", { questionId: QUESTION.questionId })));
    expect(resultOf(await answered)).toMatchObject({
      content: [{ type: "text", text: "b" }],
      structuredContent: { status: "messages", count: 1, left: 0 },
      isError: false,
    });
    expect(client.ended[0]?.state).toBe("ok");
  });

  test("[HU33] too many open questions are refused before anything waits", async () => {
    const client = talk(era, { ask: () => Promise.resolve("too_many") });
    expect(resultOf(await client.call("human_ask", { text: "?" }))).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("nothing was asked") }],
    });
    expect(client.waits).toEqual([]);
  });

  test("[HU44] earlier words come first, and the question stays open", async () => {
    const client = talk(era);
    const answered = client.call("human_ask", { text: "Which?" });
    await waits(client);
    client.hears(heard(typed("by the way"), typed("more", { questionId: "e".repeat(32) })));
    const all = await answered;
    expect(resultOf(all)).toMatchObject({ structuredContent: { status: "messages", count: 2, questionId: QUESTION.questionId } });
    expect(textOf(all)).toContain("stays open");
  });

  test("[HU43] images are fetched, and one that cannot be takes nothing from the words", async () => {
    const gone = { ...PNG, id: "e".repeat(32) };
    const client = talk(era, { image: ({ id }) => (id === PNG.id ? Promise.resolve("aGk=") : Promise.reject(new StoreUnreachable("no link"))) });
    const answered = client.call("human_wait");
    await waits(client);
    client.hears(heard(typed("look", { images: [PNG, gone] })));
    const all = await answered;
    expect(resultOf(all)?.["content"]).toMatchObject([{ text: "look" }, { type: "image", data: "aGk=", mimeType: "image/png" }, { type: "text" }]);
    expect(textOf(all)).toContain("can no longer be read");
  });

  test("[HU40] [HU37] a wait ends with its budget, and says what to do", async () => {
    const client = talk(era, {}, 30_000);
    const answered = client.call("human_wait");
    await waits(client);
    client.clock.advance(30_000);
    const all = await answered;
    expect(resultOf(all)).toMatchObject({ structuredContent: { status: "no_message" }, isError: false });
    expect(textOf(all)).toContain('"Call human_wait again now: the person has not answered within 30 s');
  });

  test("[HU38] a timeout that was clamped is told", async () => {
    const client = talk(era);
    const answered = client.call("human_ask", { text: "?", timeout: 1 });
    await waits(client);
    expect(client.waits[0]?.budgetMs).toBe(5000);
    client.clock.advance(5000);
    expect(textOf(await answered)).toContain("this call waits 5 s at most");
  });

  test("[HU37] the time that asking took is part of the budget", async () => {
    const asking = Promise.withResolvers<typeof QUESTION>();
    const client = talk(era, { ask: () => asking.promise });
    const answered = client.call("human_ask", { text: "?" });
    await waitUntil("it is asked", () => client.orders.length === 1);
    client.clock.advance(4000);
    asking.resolve(QUESTION);
    await waits(client);
    expect(client.waits[0]?.budgetMs).toBe(41_000);
    client.clock.advance(41_000);
    await answered;
  });

  test("[HU46] a call beside another that waits answers at once, and its question is asked", async () => {
    const client = talk(era);
    const answered = client.call("human_ask", { text: "?" });
    await waits(client);
    client.hears({ at: "no_message", why: "busy" });
    const all = await answered;
    expect(resultOf(all)).toMatchObject({ structuredContent: { status: "no_message", questionId: QUESTION.questionId }, isError: false });
    expect(textOf(all)).toContain("Another call waits");
  });

  test("[HU36] a waiting call reports every 12 s whom it waits for, when it was asked to", async () => {
    const client = talk(era);
    const answered = client.call("human_wait", {}, { token: "tok" });
    const silent = client.call("human_wait", {}, { id: 2 });
    await waits(client, 2);
    for (let s = 0; s < 45; s++) {
      client.clock.advance(1000);
      await Promise.resolve();
    }
    const reports = (await answered).slice(0, -1).map(({ params }) => params?.["message"]);
    expect(reports).toEqual(["waiting for the person, 12 s", "waiting for the person, 24 s", "waiting for the person, 37 s"]);
    expect(await silent).toHaveLength(1);
  });

  test("[HU35] a client that leaves ends the waiting and not the question", async () => {
    const client = talk(era);
    const at = context();
    const { response } = await client.surface.handle(requestOf(era, toolCall(1, "human_ask", { text: "?" })), at);
    await waits(client);
    expect(client.waits[0]?.signal.aborted).toBe(false);
    at.leave.abort(new Error("gone"));
    expect(client.waits[0]?.signal.aborted).toBe(true);
    await waitUntil("the call has ended", () => client.ended.length === 1);
    expect(client.orders).toHaveLength(1);
    await response.body?.cancel();
  });

  test("[HU35] notifications/cancelled ends the waiting, and nothing is said to the conversation", async () => {
    const client = talk(era);
    const answered = client.call("human_ask", { text: "?" }, { id: 5 });
    await waits(client);
    await client.surface.handle(requestOf(era, { method: "notifications/cancelled", params: { requestId: 5 } }), context());
    expect(await answered).toEqual([]);
    await waitUntil("the call has ended", () => client.ended.length === 1);
    expect(client.ended[0]?.state).toBe("cancelled");
    expect([client.orders.length, client.released]).toEqual([1, []]);
  });

  test("[HU35] words that were taken for a call that is cancelled before it answers are given back", async () => {
    const image = Promise.withResolvers<string>();
    const client = talk(era, { image: () => image.promise });
    const at = { ...context(), x: 44 };
    const answered = client.call("human_wait", {}, { at });
    await waits(client);
    client.hears(heard(typed("look", { images: [PNG] })));
    await Promise.resolve();
    at.end.abort(new Error("cancelled"));
    image.resolve("aGk=");
    await waitUntil("they are given back", () => client.released.length === 1);
    expect(client.released).toEqual([44]);
    expect(await answered).toEqual([]);
  });

  test("[HU35] [EE32] the probe writes into the stream of the call that waits, which then ends with one write more, later than its answer", async () => {
    const client = talk(era);
    const { response } = await client.surface.handle(requestOf(era, toolCall(1, "human_wait")), context());
    let text = "";
    let isOver = false;
    const reading = (async () => {
      for await (const piece of response.body ?? []) text += new TextDecoder().decode(piece);
      isOver = true;
    })();
    await waits(client);
    client.waits[0]?.probe();
    client.hears(heard(typed("hello")));
    await waitUntil("the answer is there", () => text.includes("hello"));
    await new Promise((resolve) => setImmediate(resolve));
    expect([isOver, text.split(": keep-alive\n\n").length]).toEqual([false, 2]);
    client.clock.advance(50);
    await reading;
    expect(text).toMatch(/: keep-alive\n\n[\s\S]*hello[\s\S]*: keep-alive\n\n$/);
  });

  test("[EE32] a stream that was not probed ends with its answer", async () => {
    const client = talk(era);
    const answered = client.call("human_wait");
    await waits(client);
    client.hears(heard(typed("hello")));
    expect(textOf(await answered)).toContain("hello");
  });
});

describe("asking after a question", () => {
  const id = QUESTION.questionId;
  const { expiresAt } = QUESTION;
  const answer = typed("yes", { questionId: id, state: "read" });

  test("[HU39] its answer comes at once however often it was delivered, and that is said", async () => {
    const client = talk("modern", { question: () => Promise.resolve({ state: "answered", askedAt: 0, expiresAt, answer }) });
    for (const _ of [1, 2]) {
      const all = await client.call("human_wait", { questionId: id });
      expect(resultOf(all)).toMatchObject({
        content: [{ text: "yes" }, { text: expect.stringContaining("sent this answer before") }],
        isError: false,
      });
      expect(resultOf(all)?.["structuredContent"]).toEqual({ status: "messages", count: 1, left: 0 });
    }
    expect(client.waits).toEqual([]);
  });

  test("[HU39] an answer that nobody has heard is taken, with whatever else waits", async () => {
    const client = talk("modern", {
      question: () => Promise.resolve({ state: "answered", askedAt: 0, expiresAt, answer: { ...answer, state: "queued" } }),
    });
    const answered = client.call("human_wait", { questionId: id });
    await waits(client);
    client.hears(heard(typed("first"), typed("yes", { questionId: id })));
    const result = resultOf(await answered);
    expect(result?.["structuredContent"]).toEqual({ status: "messages", count: 2, left: 0 });
  });

  test("[HU45] one that is over is not waited for", async () => {
    const client = talk("modern", { question: () => Promise.resolve({ state: "over", askedAt: 0, expiresAt, answer: null }) });
    const all = await client.call("human_wait", { questionId: id });
    expect(textOf(all)).toContain("Ask again with human_ask");
    expect(resultOf(all)).toMatchObject({ structuredContent: { status: "no_message" }, isError: false });
    expect(client.waits).toEqual([]);
  });

  test("[HU45] one that this client never asked is an error", async () => {
    const client = talk("modern", { question: () => Promise.resolve(null) });
    const all = await client.call("human_wait", { questionId: id });
    expect(resultOf(all)).toMatchObject({ isError: true });
    expect(textOf(all)).toContain("expected the id of a question of yours");
  });

  test("[HU49] while the relay cannot say, it waits all the same", async () => {
    const client = talk("modern", { question: () => Promise.reject(new StoreUnreachable("no link")) });
    const answered = client.call("human_wait", { questionId: id });
    await waits(client);
    client.clock.advance(45_000);
    expect(resultOf(await answered)?.["structuredContent"]).toEqual({ status: "no_message", questionId: id });
  });
});

test("[HU49] what cannot be asked or said right now is an error with the reason", async () => {
  const unreachable = () => Promise.reject(new StoreUnreachable("The relay cannot be reached: try again in a minute."));
  const client = talk("modern", { ask: unreachable, say: unreachable });
  for (const name of ["human_ask", "human_say"]) {
    expect(resultOf(await client.call(name, { text: "?" }))).toMatchObject({
      isError: true,
      content: [{ text: "The relay cannot be reached: try again in a minute." }],
    });
  }
});

test("[HU30] the deposited tool lists name them, and depositing says and asks nothing", async () => {
  const client = talk("legacy");
  const { legacy, modern } = await client.surface.offlineAnswers();
  for (const results of [legacy.results, modern.results]) expect(JSON.stringify(results["tools/list"])).toContain('"human_ask"');
  expect([client.orders, client.waits, client.begun]).toEqual([[], [], []]);
});

test("[HU30] depositing says nothing even where the conversation has the only tools", async () => {
  const clock = new ManualClock();
  const human = scriptedHuman({ timers: clock });
  const { surface } = surfaceUnderTest({}, { human: human.channel });
  expect((await surface.offlineAnswers()).legacy.toolCall).toMatchObject({ isError: true });
  expect([human.orders, human.waits]).toEqual([[], []]);
});

test("[HU35] a call that waits ends at the limit of any call", async () => {
  const clock = new ManualClock();
  const human = scriptedHuman({ timers: clock });
  const { surface, ended } = surfaceUnderTest({}, { human: human.channel, waits: { blockMs: 10_000_000 }, clock, timers: clock, lifeMs: 60_000 });
  const answer = messages(await surface.handle(requestOf("legacy", toolCall(1, "human_wait")), context()));
  await waitUntil("the call waits", () => human.waits.length === 1);
  clock.advance(60_000);
  await answer;
  expect(ended.map(({ state }) => state)).toEqual(["cancelled"]);
});
