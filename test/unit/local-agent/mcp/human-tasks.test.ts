import { describe, expect, test } from "vitest";
import { StoreUnreachable } from "../../../../shared/human/store.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { ASKED_AT, heard, QUESTION, scriptedHuman, typed, type HumanScript, type ScriptedHuman } from "../../../support/scripted-human.ts";
import { text } from "../../../support/scripted-tools.ts";
import { context, reply, requestOf, surfaceUnderTest, toolCall, type Message, type RpcAnswer } from "../../../support/surface-under-test.ts";

const TASKS = { "io.modelcontextprotocol/tasks": {} };
const DECLARED = { "io.modelcontextprotocol/clientCapabilities": { extensions: TASKS } };

interface Client extends ScriptedHuman {
  readonly send: (message: Message, declares?: boolean) => Promise<RpcAnswer>;
}

function client(script: Omit<HumanScript, "timers"> = {}, era: "modern" | "legacy" = "modern"): Client {
  const clock = new ManualClock();
  const human = scriptedHuman({ timers: clock, ...script });
  const { surface } = surfaceUnderTest({ read: () => text("contents") }, { human: human.channel, waits: { blockMs: null }, clock, timers: clock });
  return {
    ...human,
    async send(message, declares = true) {
      const params = { ...message.params, ...(declares && { _meta: { ...(message.params?.["_meta"] as object | undefined), ...DECLARED } }) };
      const taskId = message.params?.["taskId"];
      const headers = typeof taskId === "string" ? { "mcp-name": taskId } : {};
      return reply((await surface.handle(requestOf(era, { ...message, params }, headers), context())).response);
    },
  };
}

const about = (method: string, taskId: string = QUESTION.questionId): Message => ({ id: 7, method: `tasks/${method}`, params: { taskId } });
const ask = toolCall(1, "human_ask", { text: "Go on?" });

describe("[HU50] a modern client that declares the extension", () => {
  test("is told so by server/discover", async () => {
    const { result } = await client().send({ id: 1, method: "server/discover" });
    expect(result).toMatchObject({ capabilities: { extensions: TASKS } });
  });

  test("gets a task at once for a question, and nothing waits", async () => {
    const it = client();
    const { result } = await it.send(ask);
    expect(result).toMatchObject({ resultType: "task", taskId: QUESTION.questionId, status: "working", pollIntervalMs: 3000 });
    expect(result).toMatchObject({ createdAt: expect.stringMatching(/Z$/), lastUpdatedAt: expect.stringMatching(/Z$/), ttlMs: expect.any(Number) });
    expect(it.orders).toMatchObject([{ text: "Go on?" }]);
    expect(it.waits).toEqual([]);
  });

  test("gets no task for a question that cannot be asked", async () => {
    const { result } = await client({ ask: () => Promise.resolve("too_many") }).send(ask);
    expect(result).toMatchObject({ isError: true });
  });

  test("waits as everybody does with human_wait", async () => {
    const it = client();
    const answer = it.send(toolCall(1, "human_wait", {}));
    await expect.poll(() => it.waits.length).toBe(1);
    it.hears(heard(typed("hello")));
    expect((await answer).result).toMatchObject({ content: [{ text: "hello" }] });
  });

  test.each([
    ["does not declare it", "modern", false],
    ["is a legacy one", "legacy", true],
  ] as const)("a client that %s waits", async (_what, era, declares) => {
    const it = client({}, era);
    const answer = it.send(ask, declares);
    await expect.poll(() => it.waits.length).toBe(1);
    it.hears(heard(typed("yes", { questionId: QUESTION.questionId })));
    expect((await answer).result).toMatchObject({ content: [{ text: "yes" }] });
  });
});

describe("[HU51] tasks/get", () => {
  const asked = { askedAt: ASKED_AT, expiresAt: QUESTION.expiresAt };

  test("says working as long as nobody has answered", async () => {
    const { result } = await client().send(about("get"));
    expect(result).toMatchObject({ resultType: "complete", taskId: QUESTION.questionId, status: "working", createdAt: "2026-11-29T12:00:00.000Z" });
    expect(result).toMatchObject({ ttlMs: QUESTION.expiresAt - ASKED_AT });
  });

  test("hands over an answer that waits as the result of the call", async () => {
    const answer = typed("yes", { questionId: QUESTION.questionId, state: "queued" });
    const it = client({ question: () => Promise.resolve({ ...asked, state: "answered", answer }) });
    const got = it.send(about("get"));
    await expect.poll(() => it.waits.length).toBe(1);
    it.hears(heard(answer));
    expect((await got).result).toMatchObject({ status: "completed", result: { content: [{ text: "yes" }], isError: false } });
  });

  test("says working while the answer is on its way into another call", async () => {
    const answer = typed("yes", { questionId: QUESTION.questionId, state: "queued" });
    const it = client({ question: () => Promise.resolve({ ...asked, state: "answered", answer }) });
    const got = it.send(about("get"));
    await expect.poll(() => it.waits.length).toBe(1);
    it.hears({ at: "no_message", why: "busy" });
    expect((await got).result).toMatchObject({ status: "working" });
  });

  test("gives a delivered answer again, as often as it is asked", async () => {
    const answer = typed("yes", { questionId: QUESTION.questionId, state: "read" });
    const it = client({ question: () => Promise.resolve({ ...asked, state: "answered", answer }) });
    for (let time = 0; time < 2; time++) {
      expect((await it.send(about("get"))).result).toMatchObject({ status: "completed", result: { content: [{ text: "yes" }, {}] } });
    }
  });

  test("a question that ended without an answer is completed with what to do, a withdrawn one is cancelled", async () => {
    const over = client({ question: () => Promise.resolve({ ...asked, state: "over", answer: null }) });
    expect((await over.send(about("get"))).result).toMatchObject({
      status: "completed",
      result: { content: [{ text: expect.stringContaining("Ask again") }] },
    });
    const withdrawn = client({ question: () => Promise.resolve({ ...asked, state: "withdrawn", answer: null }) });
    expect((await withdrawn.send(about("get"))).result).toMatchObject({ status: "cancelled" });
  });
});

test("[HU52] tasks/cancel takes the question back, and nothing else does", async () => {
  const it = client();
  expect((await it.send(about("cancel"))).result).toMatchObject({ resultType: "complete" });
  expect(it.withdrawn).toEqual([QUESTION.questionId]);
});

test.each(["cancel", "update"])("[HU52] tasks/%s takes no words: an answer that waits is for the reply that carries it", async (method) => {
  const answer = typed("yes", { questionId: QUESTION.questionId, state: "queued" });
  const it = client({ question: () => Promise.resolve({ state: "answered", askedAt: ASKED_AT, expiresAt: QUESTION.expiresAt, answer }) });
  await it.send(about(method));
  expect(it.waits).toEqual([]);
});

describe("[HU53] refused", () => {
  test.each(["get", "cancel", "update"])("tasks/%s of a task that is none of the caller's", async (method) => {
    const it = client({ question: () => Promise.resolve(null) });
    for (const taskId of [QUESTION.questionId, "", "../x", "x".repeat(5000)]) {
      expect((await it.send(about(method, taskId))).error).toMatchObject({ code: -32602 });
    }
    expect(it.withdrawn).toEqual([]);
  });

  test.each(["get", "cancel", "update"])("tasks/%s without the declaration", async (method) => {
    const it = client();
    expect((await it.send(about(method), false)).error).toMatchObject({ code: -32021, data: { requiredCapabilities: { extensions: TASKS } } });
    expect(it.withdrawn).toEqual([]);
  });

  test("input for a question, which takes none", async () => {
    expect((await client().send(about("update"))).error).toMatchObject({ code: -32602, message: expect.stringContaining("tasks/get") });
  });

  test("while the relay cannot be reached: poll again", async () => {
    const it = client({ question: () => Promise.reject(new StoreUnreachable("The relay is away.")) });
    expect((await it.send(about("get"))).error).toMatchObject({ code: -32603, message: "The relay is away. Poll again." });
  });

  test("in legacy, where there is no such method", async () => {
    expect((await client({}, "legacy").send(about("get"))).error).toMatchObject({ code: -32601 });
  });
});
