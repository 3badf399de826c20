import { expect, test } from "vitest";
import type { UpstreamPool } from "../../../../local-agent/adapter/upstream/upstream-pool.ts";
import { advance, failureOf, poolUnderTest, settled, useOptions } from "../../../support/pool-under-test.ts";
import { httpError, NEVER, RpcError, type Script, type ScriptedPeer } from "../../../support/scripted-upstreams.ts";
import { serverDefinition } from "../../../support/server-definitions.ts";

const MINUTE = 60_000;

type Listen = { readonly id: string | number; readonly uris: readonly string[] };

/** A server whose resources can be subscribed to; it acknowledges every stream unless the test says otherwise. */
async function watchable(fields: Parameters<typeof serverDefinition>[1] = {}) {
  const definition = serverDefinition("demo", { protocolVersion: "2026-07-28", idleTimeoutMs: null, ...fields });
  const { pool, clock, upstreams } = await poolUnderTest({ servers: [definition] });
  const script = upstreams.script("demo");
  const listens: Listen[] = [];
  script.modern = true;
  script.capabilities = { tools: {}, resources: { subscribe: true } };
  script.methods["resources/list"] = () => ({ resources: [] });
  script.methods["resources/read"] = ({ uri }) => ({ contents: [{ uri, text: "text" }] });
  const acknowledge: Script["methods"][string] = ({ notifications }, peer, id) => {
    listens.push({ id, uris: (notifications as { resourceSubscriptions: string[] }).resourceSubscriptions });
    peer.notify("notifications/subscriptions/acknowledged", { notifications, _meta: { "io.modelcontextprotocol/subscriptionId": id } });
    return NEVER;
  };
  script.methods["subscriptions/listen"] = acknowledge;
  const peer = () => upstreams.of("demo").at(-1) as ScriptedPeer;
  const messages = () => peer().received.flatMap(({ method, params, id }) => lifeOf(method, params, id));
  return {
    pool,
    clock,
    upstreams,
    script,
    acknowledge,
    listens,
    peer,
    messages,
    open: () => {
      const ended = new Set(messages().flatMap((message) => (message.startsWith("close ") ? [message.slice(6)] : [])));
      return listens.filter(({ id }) => !ended.has(String(id))).map(({ uris }) => uris);
    },
    asked: () => peer().received.filter(({ method }) => method === "subscriptions/listen").length,
    update: async (uri: string) => {
      peer().notify("notifications/resources/updated", { uri });
      await settled();
    },
    drop: async () => {
      for (const { id } of listens) peer().notify("notifications/cancelled", { requestId: id });
      await settled();
    },
  };
}

function lifeOf(method: string, params: Readonly<Record<string, unknown>>, id: unknown): string[] {
  if (method === "subscriptions/listen") return [`open ${String(id)}`];
  return method === "notifications/cancelled" ? [`close ${String(params["requestId"])}`] : [];
}

const read = (pool: UpstreamPool, uri: string) => pool.use("demo", useOptions(), (upstream) => upstream.readResource(uri, upstream.requestOptions()));

async function readEach(pool: UpstreamPool, uris: readonly string[]): Promise<void> {
  for (const uri of uris) await read(pool, uri);
}

function changed(pool: UpstreamPool) {
  const state = pool.state("demo");
  return state.at === "connected" ? state.changedResources : state.at;
}

const uris = (count: number, first = 0) => Array.from({ length: count }, (_, index) => `note://${first + index}`);

test("[UP79] nothing is opened while no resource was read, and a burst of reads is one stream", async () => {
  const { pool, clock, open, asked } = await watchable();
  await pool.connect("demo", useOptions());
  await advance(clock, MINUTE);
  expect(asked()).toBe(0);
  await readEach(pool, uris(5));
  await advance(clock, 249, 249);
  expect(asked()).toBe(0);
  await advance(clock, 1);
  expect(open()).toEqual([uris(5)]);
  await readEach(pool, uris(5));
  await advance(clock, 1000);
  expect(asked()).toBe(1);
});

test("[UP79] of more than 32 the ones that were read last are watched", async () => {
  const { pool, clock, open } = await watchable();
  await readEach(pool, uris(32));
  await advance(clock, 300, 300);
  await readEach(pool, ["note://0", "note://32"]);
  await advance(clock, 300, 300);
  expect(open()).toEqual([[...uris(30, 2), "note://0", "note://32"]]);
  await readEach(pool, uris(1000, 1000));
  await advance(clock, 300, 300);
  expect(open()).toEqual([uris(32, 1968)]);
});

test("[UP79] each is watched for ten minutes after it was last read, and with the last one the stream ends", async () => {
  const { pool, clock, open, update } = await watchable();
  await readEach(pool, ["note://a", "note://b"]);
  await advance(clock, 9 * MINUTE);
  await read(pool, "note://b");
  await advance(clock, MINUTE - 1000);
  expect(open()).toEqual([["note://a", "note://b"]]);
  await update("note://a");
  expect(changed(pool)).toEqual({ certain: ["note://a"], possible: [] });
  await advance(clock, 2000);
  expect(changed(pool)).toBeUndefined();
  expect(open()).toEqual([["note://b"]]);
  await advance(clock, 9 * MINUTE);
  expect(open()).toEqual([]);
  await read(pool, "note://b");
  await advance(clock, 300, 300);
  expect(open()).toEqual([["note://b"]]);
});

test.each([
  ["an old server", { protocolVersion: "legacy" }, false, { resources: { subscribe: true } }],
  ["one that says nothing of subscriptions", {}, true, { resources: { listChanged: false } }],
] as const)("[UP79] %s is not asked", async (_which, fields, modern, capabilities) => {
  const { pool, clock, script, asked } = await watchable(fields);
  Object.assign(script, { modern, capabilities });
  await readEach(pool, uris(3));
  await advance(clock, MINUTE);
  expect(asked()).toBe(0);
});

test.each([
  ["as its answer", () => new RpcError(-32601, "Method not found")],
  [
    "as HTTP does",
    () => {
      throw httpError(404, '{"jsonrpc":"2.0","id":"listen:0","error":{"code":-32601,"message":"Method not found"}}');
    },
  ],
])("[UP79] a server that says it has no such method, %s, is not asked again", async (_how, answer) => {
  const { pool, clock, script, asked, update } = await watchable();
  script.methods["subscriptions/listen"] = answer;
  await read(pool, "note://a");
  await advance(clock, MINUTE);
  await read(pool, "note://b");
  await advance(clock, 20 * MINUTE, MINUTE);
  await read(pool, "note://b");
  await advance(clock, MINUTE);
  await update("note://b");
  expect([asked(), changed(pool)]).toEqual([1, undefined]);
});

test("[UP79] an endless address is read and not watched", async () => {
  const { pool, clock, asked } = await watchable();
  expect(await read(pool, `note://${"x".repeat(5000)}`)).toMatchObject({ ok: true });
  await advance(clock, 1000);
  expect(asked()).toBe(0);
});

test("[UP80] the new stream stands before the old one is closed", async () => {
  const { pool, clock, script, acknowledge, messages, listens } = await watchable();
  await read(pool, "note://a");
  await advance(clock, 300, 300);
  let answer = (): void => undefined;
  script.methods["subscriptions/listen"] = (params, peer, id) => {
    answer = () => void acknowledge(params, peer, id);
    return NEVER;
  };
  await read(pool, "note://b");
  await advance(clock, 300, 300);
  // Read meanwhile: one more stream, and only after this one.
  await read(pool, "note://c");
  await advance(clock, 10_000);
  expect(messages()).toEqual(["open listen:0", "open listen:1"]);
  answer();
  await settled();
  expect(messages()).toEqual(["open listen:0", "open listen:1", "close listen:0", "open listen:2"]);
  answer();
  await settled();
  expect(messages().slice(4)).toEqual(["close listen:1"]);
  expect(listens.at(-1)?.uris).toEqual(["note://a", "note://b", "note://c"]);
});

test("[UP80] while no new stream can be had the old one stays, and the server is asked ever more seldom, however much is read", async () => {
  const { pool, clock, script, acknowledge, open, asked, update } = await watchable();
  await read(pool, "note://a");
  await advance(clock, 300, 300);
  script.methods["subscriptions/listen"] = () => new RpcError(-32603, "too many");
  for (let second = 0; second < 300; second++) {
    await read(pool, `note://${second % 10}`);
    await advance(clock, 1000);
  }
  await read(pool, "note://a");
  expect(asked()).toBeGreaterThan(4);
  expect(asked()).toBeLessThan(9);
  expect(open()).toEqual([["note://a"]]);
  await update("note://a");
  expect(changed(pool)).toEqual({ certain: ["note://a"], possible: [] });
  script.methods["subscriptions/listen"] = acknowledge;
  await advance(clock, 5 * MINUTE, 5000);
  expect(open()).toEqual([[...uris(10), "note://a"]]);
});

test("[UP80] a stream that drops is opened again after five seconds, then later, with what is watched by then", async () => {
  const { pool, clock, script, acknowledge, listens, asked, drop } = await watchable();
  await read(pool, "note://a");
  await advance(clock, 300, 300);
  script.methods["subscriptions/listen"] = () => new RpcError(-32603, "restarting");
  await drop();
  await read(pool, "note://b");
  await advance(clock, 4999, 4999);
  expect(asked()).toBe(1);
  await advance(clock, 1);
  expect(asked()).toBe(2);
  script.methods["subscriptions/listen"] = acknowledge;
  await advance(clock, 9999, 9999);
  expect(asked()).toBe(2);
  await advance(clock, 1);
  expect(listens.map((listen) => listen.uris)).toEqual([["note://a"], ["note://a", "note://b"]]);
  await drop();
  await advance(clock, 5000);
  expect(listens).toHaveLength(3);
});

test("[UP81] what was updated counts as changed until it is read again", async () => {
  const { pool, clock, script, update } = await watchable();
  await readEach(pool, ["note://a", "note://b"]);
  await advance(clock, 300, 300);
  expect(changed(pool)).toBeUndefined();
  await update("note://a");
  await update("note://b");
  expect(changed(pool)).toEqual({ certain: ["note://b", "note://a"], possible: [] });
  script.methods["resources/read"] = () => new RpcError(-32603, "locked");
  await failureOf(read(pool, "note://a"));
  expect(changed(pool)).toEqual({ certain: ["note://b", "note://a"], possible: [] });
  script.methods["resources/read"] = ({ uri }) => ({ contents: [{ uri, text: "new" }] });
  await read(pool, "note://a");
  expect(changed(pool)).toEqual({ certain: ["note://b"], possible: [] });
  await read(pool, "note://b");
  expect(changed(pool)).toBeUndefined();
});

test("[UP81] news that comes during a read stays: what is read may be older", async () => {
  const { pool, clock, script, update } = await watchable();
  await read(pool, "note://a");
  await advance(clock, 300, 300);
  const answer = Promise.withResolvers<void>();
  script.methods["resources/read"] = async ({ uri }) => {
    await answer.promise;
    return { contents: [{ uri, text: "?" }] };
  };
  const reading = read(pool, "note://a");
  await settled();
  await update("note://a");
  answer.resolve();
  await reading;
  expect(changed(pool)).toEqual({ certain: ["note://a"], possible: [] });
});

test("[UP81] a read that began before the news and ends after a later one takes nothing back", async () => {
  const { pool, clock, script, update } = await watchable();
  await read(pool, "note://a");
  await advance(clock, 300, 300);
  const standard = script.methods["resources/read"];
  const answer = Promise.withResolvers<void>();
  script.methods["resources/read"] = async ({ uri }) => {
    await answer.promise;
    return { contents: [{ uri, text: "old" }] };
  };
  const early = read(pool, "note://a");
  await settled();
  await update("note://a");
  script.methods["resources/read"] = standard ?? (() => NEVER);
  await read(pool, "note://a");
  expect(changed(pool)).toBeUndefined();
  answer.resolve();
  await early;
  expect(changed(pool)).toBeUndefined();
});

test("[UP81] a flood of news, of what is watched and what is not, is bounded and harmless", async () => {
  const { pool, clock, peer, asked } = await watchable();
  await readEach(pool, uris(32));
  await advance(clock, 300, 300);
  const timers = clock.waiting;
  for (let news = 0; news < 5000; news++) peer().notify("notifications/resources/updated", { uri: `note://${news % 64}` });
  peer().notify("notifications/resources/updated", { uri: 7 });
  await settled();
  const state = changed(pool);
  expect(typeof state === "object" && [state.certain.length, state.possible.length]).toEqual([32, 0]);
  expect([asked(), clock.waiting]).toEqual([1, timers]);
  await readEach(pool, uris(32));
  expect(changed(pool)).toBeUndefined();
});

test("[UP81] after a stream had dropped everything watched may have changed; such a read takes no kept answer", async () => {
  const { pool, clock, script, drop, update } = await watchable();
  let reads = 0;
  script.methods["resources/read"] = ({ uri }) => ({ contents: [{ uri, text: String(++reads) }], ttlMs: MINUTE, cacheScope: "private" });
  await readEach(pool, ["note://a", "note://a", "note://b"]);
  expect(reads).toBe(2);
  await advance(clock, 300, 300);
  await drop();
  expect(changed(pool)).toBeUndefined();
  await advance(clock, 5000);
  expect(changed(pool)).toEqual({ certain: [], possible: ["note://b", "note://a"] });
  await update("note://a");
  expect(changed(pool)).toEqual({ certain: ["note://a"], possible: ["note://b"] });
  await readEach(pool, ["note://a", "note://b"]);
  expect([reads, changed(pool)]).toEqual([4, undefined]);
});

test("[UP81] a new connection begins without marks and without a stream", async () => {
  const { pool, clock, update, asked } = await watchable();
  await read(pool, "note://a");
  await advance(clock, 300, 300);
  await update("note://a");
  await pool.connect("demo", { ...useOptions(), replace: true });
  await advance(clock, MINUTE);
  expect([asked(), changed(pool)]).toEqual([0, undefined]);
});

const ACKNOWLEDGED = "acknowledged";

test.each([
  ["settling", 0, ACKNOWLEDGED],
  ["being opened", 300, "never"],
  ["open", 300, ACKNOWLEDGED],
  ["waiting to be opened again", 300, "fails"],
])("[UP82] a stream that is %s ends with its connection, and no timer is left", async (_stage, ms, answer) => {
  const { pool, clock, script, open, peer, messages, update } = await watchable();
  if (answer !== ACKNOWLEDGED) script.methods["subscriptions/listen"] = () => (answer === "never" ? NEVER : new RpcError(-32603, "no"));
  await readEach(pool, uris(3));
  await advance(clock, ms, ms);
  await pool.disconnect("demo");
  await settled();
  expect([peer().open, open(), changed(pool)]).toEqual([false, [], "idle"]);
  const told = messages();
  await update("note://0");
  await pool.close();
  expect(clock.waiting).toBe(0);
  expect(messages()).toEqual(told);
});

test("[UP82] a replaced connection watches nothing any more, also while a use of it runs", async () => {
  const { pool, clock, open, upstreams, script } = await watchable();
  await read(pool, "note://a");
  await advance(clock, 300, 300);
  expect(open()).toEqual([["note://a"]]);
  const answer = Promise.withResolvers<void>();
  script.methods["resources/read"] = async ({ uri }) => {
    await answer.promise;
    return { contents: [{ uri, text: "late" }] };
  };
  const reading = read(pool, "note://b");
  await settled();
  await pool.connect("demo", { ...useOptions(), replace: true });
  const [old] = upstreams.of("demo") as [ScriptedPeer];
  expect(old.received.filter(({ method }) => method === "notifications/cancelled")).toHaveLength(1);
  answer.resolve();
  expect(await reading).toMatchObject({ ok: true });
  await advance(clock, MINUTE);
  expect(upstreams.living("demo")).toBe(1);
  expect(upstreams.of("demo").flatMap(({ received }) => received.filter(({ method }) => method === "subscriptions/listen"))).toHaveLength(1);
});
