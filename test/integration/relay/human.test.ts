import { randomUUID } from "node:crypto";
import { afterEach, describe, expect, test } from "vitest";
import { HUMAN_NEWS, HUMAN_RESULTS } from "../../../shared/human/call-results.ts";
import type { HumanMethod, HumanResult } from "../../../shared/human/calls.ts";
import type { HumanEntry } from "../../../shared/human/entry.ts";
import type { Deposits, OfflineAnswers, RelayFrame } from "../../../shared/wire/frames.ts";
import * as v from "valibot";
import { depositsFor } from "../../support/deposits.ts";
import { call, post } from "../../support/mcp-post.ts";
import { asked, freshId, typed } from "../../support/queue-under-test.ts";
import { RawAgent } from "../../support/raw-agent.ts";
import { staticToken } from "../../support/static-token.ts";
import { AGENT_KEY, startWorker, type WorkerRuntime } from "../../support/worker-runtime.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const CLIENT = { principalId: "token:test", name: "test token" };
const OTHER = { principalId: "token:other", name: "other token" };
const MORTAL = new URL("../../fixtures/mortal-worker.workerd.ts", import.meta.url).pathname;
const tools = { tools: [{ name: "human_say" }] };

function deposits(worker: WorkerRuntime, changes: Partial<Deposits> = {}): Deposits {
  const own = depositsFor([worker.origin]);
  return { ...own, staticTokens: [...own.staticTokens, staticToken("other", "the-other-token-0123456789abcdef")], ...changes };
}

function offering(list: Record<string, unknown>): OfflineAnswers {
  const { offline } = depositsFor(["https://x.example"]);
  return {
    ...offline,
    legacy: { ...offline.legacy, results: { "tools/list": list } },
    modern: { ...offline.modern, results: { "tools/list": list } },
  };
}

async function start(entry?: string): Promise<WorkerRuntime> {
  const worker = await startWorker(entry === undefined ? {} : { entry });
  closers.push(() => worker.close());
  return worker;
}

async function dial(worker: WorkerRuntime, given: Deposits = deposits(worker)): Promise<RawAgent> {
  const agent = await RawAgent.dial(worker.origin);
  closers.push(() => agent.vanish());
  agent.hello({ deposits: given });
  await agent.next("welcome");
  return agent;
}

async function reply(agent: RawAgent, method: string, params: object) {
  const id = randomUUID();
  agent.send({ t: "call", id, method, params });
  for (let skip = 0; ; skip++) {
    const frame = await agent.next("reply", 5000, skip);
    if (frame.id === id) return frame;
  }
}

async function human<M extends HumanMethod>(agent: RawAgent, method: M, params: object): Promise<HumanResult<M>> {
  const { ok, result, message } = await reply(agent, method, params);
  if (!ok) throw new Error(message);
  return v.parse(HUMAN_RESULTS[method], result) as HumanResult<M>;
}

const take = (agent: RawAgent, x: number | null, { principalId } = CLIENT) => human(agent, "human.take", { principalId, x });
const history = async (agent: RawAgent): Promise<HumanEntry[]> => (await human(agent, "human.history", { before: null })).entries;
const isMarks = (frame: RelayFrame) => frame.t === "call" && frame.method === "human.marks";

async function marks(agent: RawAgent): Promise<v.InferOutput<(typeof HUMAN_NEWS)["human.marks"]>["marks"]> {
  for (let skip = 0; ; skip++) {
    const frame = await agent.next("call", 8000, skip);
    if (isMarks(frame)) return v.parse(HUMAN_NEWS["human.marks"], frame.params).marks;
  }
}

/** A request of the client that has taken "hello" and whose answer has begun. */
async function leased(worker: WorkerRuntime, agent: RawAgent, signal?: AbortSignal) {
  await human(agent, "human.append", { entry: typed("hello", { to: CLIENT }) });
  const answer = post(`${worker.origin}/mcp`, call(1), signal === undefined ? {} : { signal });
  answer.catch(() => undefined);
  const { x } = await agent.next("request");
  expect(await take(agent, x)).toMatchObject({ messages: [{ text: "hello", state: "delivered", repeat: false }], left: 0 });
  agent.send({ t: "head", x, status: 200, headers: [["content-type", "text/event-stream"]], last: "data: last words\n\n" });
  agent.sendData(x, 1, ": open\n\n");
  const response = await answer;
  const reader = response.body!.getReader();
  await reader.read();
  return { x, reader };
}

describe("words on their way to a client", () => {
  test("[HU8] are read, and the agent is told, when the client's stream ended well", async () => {
    const worker = await start();
    const agent = await dial(worker);
    const { x, reader } = await leased(worker, agent);
    agent.sendData(x, 2, "data: hello\n\n");
    agent.send({ t: "end", x, seq: 3, whole: true });
    while (!(await reader.read()).done);
    expect(await marks(agent)).toMatchObject([{ state: "read", repeat: false }]);
    expect(await take(agent, null)).toEqual({ messages: [], left: 0 });
    expect(await history(agent)).toMatchObject([{ text: "hello", state: "read" }]);
  });

  test("[HU8] are read when a whole small answer was handed over in one piece", async () => {
    const worker = await start();
    const agent = await dial(worker);
    await human(agent, "human.append", { entry: typed("hello") });
    const answer = post(`${worker.origin}/mcp`, call(1));
    const { x } = await agent.next("request");
    await take(agent, x);
    agent.send({ t: "head", x, status: 200, headers: [["content-type", "application/json"]], last: null, body: "{}" });
    expect(await (await answer).text()).toBe("{}");
    expect(await marks(agent)).toMatchObject([{ state: "read" }]);
  });

  test("[HU9] wait again as repeats when the client is gone", async () => {
    const worker = await start();
    const agent = await dial(worker);
    const client = new AbortController();
    const { x } = await leased(worker, agent, client.signal);
    client.abort();
    for (let seq = 2; agent.frames.every((frame) => !isMarks(frame)) && seq < 200; seq++) {
      agent.sendData(x, seq, ": comment\n\n");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(await marks(agent)).toMatchObject([{ state: "queued", repeat: true }]);
    expect(await take(agent, x)).toEqual({ messages: [], left: 0 }); // [HU12] That exchange is over.
    expect(await take(agent, null)).toMatchObject({ messages: [{ text: "hello", repeat: true }] });
  });

  test("[HU9] wait again as repeats when the answer broke in the agent", async () => {
    const worker = await start();
    const agent = await dial(worker);
    const { x } = await leased(worker, agent);
    agent.send({ t: "end", x, seq: 2, whole: false });
    expect(await marks(agent)).toMatchObject([{ state: "queued", repeat: true }]);
  });

  test("[HU9] wait again as repeats when another instance of the agent takes the place", async () => {
    const worker = await start();
    await leased(worker, await dial(worker));
    const next = await dial(worker);
    expect(await marks(next)).toMatchObject([{ state: "queued", repeat: true }]);
    expect(await take(next, null)).toMatchObject({ messages: [{ text: "hello", repeat: true }] });
  });

  test("[HU10] wait again as repeats when the object died in the middle", async () => {
    const worker = await start(MORTAL);
    const agent = await dial(worker);
    await leased(worker, agent);
    await expect(RawAgent.dial(worker.origin, AGENT_KEY, { "x-test": "die" })).rejects.toThrow();
    const next = await dial(worker);
    expect(await history(next)).toMatchObject([{ text: "hello", state: "queued", repeat: true }]);
    expect(await take(next, null)).toMatchObject({ messages: [{ text: "hello", repeat: true }] });
  });

  test("[HU11] hold the next ones back until they are settled, for a second at most", async () => {
    const worker = await start();
    const agent = await dial(worker);
    const { x, reader } = await leased(worker, agent);
    await human(agent, "human.append", { entry: typed("second", { to: CLIENT }) });
    const later = take(agent, null);
    agent.send({ t: "end", x, seq: 2, whole: true });
    while (!(await reader.read()).done);
    expect((await later).messages.map(({ text, repeat }) => [text, repeat])).toEqual([["second", false]]);
  });

  test("[HU11] are taken again before the next ones when they are not settled within a second", async () => {
    const worker = await start();
    const agent = await dial(worker);
    await leased(worker, agent);
    await human(agent, "human.append", { entry: typed("second", { to: CLIENT }) });
    expect((await take(agent, null)).messages.map(({ text, repeat }) => [text, repeat])).toEqual([
      ["hello", true],
      ["second", false],
    ]);
  });
});

test("[HU1] [HU10] the conversation outlives hibernation and a deploy", async () => {
  const worker = await start();
  const agent = await dial(worker);
  const entry = typed("hello");
  await human(agent, "human.append", { entry });
  await worker.hibernate();
  expect(await human(agent, "human.append", { entry })).toMatchObject({ outcome: "known", entry: { n: 1 } });
  await worker.redeploy();
  expect(await history(await dial(worker))).toMatchObject([{ text: "hello", state: "queued", repeat: false }]);
});

describe("human_say without a workstation", () => {
  const modern = { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } };
  const leave = async (agent: RawAgent) => {
    agent.send({ t: "bye", why: "leaving", message: "", comeBack: false });
    await agent.closed();
  };
  const say = async (worker: WorkerRuntime, args: unknown, meta: object = {}) => {
    const body = { jsonrpc: "2.0", id: "s", method: "tools/call", params: { name: "human_say", arguments: args, ...meta } };
    return (await (await post(`${worker.origin}/mcp`, body)).json()) as { id: string; result: Record<string, unknown> };
  };

  test("[HU20] is kept and answered in either era, and is in the history of the next agent", async () => {
    const worker = await start();
    const given = deposits(worker, { offline: offering(tools) });
    await leave(await dial(worker, given));
    const legacy = await say(worker, { text: "tests pass", category: "done" });
    expect(legacy).toMatchObject({ id: "s", result: { isError: false, structuredContent: { status: "queued" } } });
    expect(JSON.stringify(legacy.result["content"])).toMatch(/kept and the person sees it when the workstation is back.*away since/);
    expect((await say(worker, { text: "and {away}" }, modern)).result).toMatchObject({
      resultType: "complete",
      structuredContent: { status: "queued" },
    });
    const kept = await history(await dial(worker, given));
    expect(kept).toMatchObject([
      { kind: "said", text: "tests pass", category: "done", whileAway: true, client: CLIENT },
      { kind: "said", text: "and {away}", category: "message", whileAway: true },
    ]);
  });

  test("[HU20] is kept when the request waited for the link in vain", { timeout: 30_000 }, async () => {
    const worker = await start();
    const given = deposits(worker, { offline: offering(tools) });
    (await dial(worker, given)).vanish();
    expect((await say(worker, { text: "still there?" })).result).toMatchObject({ structuredContent: { status: "queued" } });
    expect(await history(await dial(worker, given))).toMatchObject([{ text: "still there?", whileAway: true }]);
  });

  test("[HU21] is answered as any other call when it is not offered or says nothing that can be kept", async () => {
    const worker = await start();
    await leave(await dial(worker, deposits(worker, { offline: offering(tools) })));
    for (const args of [{}, { text: "" }, { text: 7 }, { text: "x".repeat(64 * 1024 + 1) }, { text: "x", category: "loud" }, null])
      expect((await say(worker, args)).result).toMatchObject({ isError: true });
    const other = await dial(worker, deposits(worker, { offline: offering({ tools: [{ name: "echo" }] }) }));
    await leave(other);
    expect((await say(worker, { text: "hello" })).result).toMatchObject({ isError: true });
    const denied = await post(`${worker.origin}/mcp`, call(1, "human_say", { text: "hello" }), { token: "wrong" });
    expect(denied.status).toBe(401);
    expect(await history(await dial(worker))).toEqual([]);
  });
});

test("[HU14] a token that is taken back takes its questions along, and the agent is told", async () => {
  const worker = await start();
  const agent = await dial(worker);
  await human(agent, "human.ask", { entry: asked(OTHER, "Continue?") });
  await human(agent, "human.append", { entry: typed("for the other", { to: OTHER }) });
  const { staticTokens } = depositsFor([worker.origin]);
  expect(await reply(agent, "tokens.set", { staticTokens })).toMatchObject({ ok: true });
  const told = agent.frames.find((frame) => frame.t === "call" && frame.method === "human.entries");
  expect(told).toMatchObject({
    params: {
      entries: [
        { kind: "asked", state: "withdrawn" },
        { text: "for the other", to: null },
      ],
    },
  });
  expect((await take(agent, null)).messages).toMatchObject([{ text: "for the other", repeat: false }]);
  await human(agent, "human.append", { entry: typed("too late", { to: OTHER }) });
  expect(await take(agent, null, OTHER)).toEqual({ messages: [], left: 0 });
  expect((await take(agent, null)).messages).toMatchObject([{ text: "too late", to: null }]);
});

test("[HU17] an image of 5 MiB travels in parts", async () => {
  const worker = await start();
  const agent = await dial(worker);
  const image = { id: freshId(), mimeType: "image/png", bytes: 5 * 1024 * 1024 };
  const data = "A".repeat(512 * 1024);
  for (let part = 0; part < 14; part++) await human(agent, "human.image.put", { image, part, parts: 14, data });
  await human(agent, "human.append", { entry: { ...typed(""), images: [image] } });
  expect(await human(agent, "human.image.get", { id: image.id, part: 13 })).toEqual({ data, parts: 14 });
  expect(await human(agent, "human.image.get", { id: freshId(), part: 0 })).toEqual({ data: "", parts: 0 });
});

test("[HU18] a call with impossible parameters is refused with a sentence, and the link goes on", async () => {
  const worker = await start();
  const agent = await dial(worker);
  expect(await reply(agent, "human.append", { entry: { kind: "said" } })).toMatchObject({
    ok: false,
    message: expect.stringMatching(/^human\.append: entry/),
  });
  expect(await reply(agent, "human.nothing", {})).toMatchObject({ ok: false, message: expect.stringContaining("npm run deploy") });
  expect(await history(agent)).toEqual([]);
});
