import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { TransportFactory } from "../../../../local-agent/adapter/ports.ts";
import { backoffUntil, needsTicks, tickAction, type WatchedServer } from "../../../../local-agent/adapter/upstream/lifecycle.ts";
import { advance, echo, failureOf, poolUnderTest, settled, useOptions } from "../../../support/pool-under-test.ts";
import { serverDefinition } from "../../../support/server-definitions.ts";
import { NEVER, RpcError, ScriptedUpstreams } from "../../../support/scripted-upstreams.ts";

const watched = fc.record<WatchedServer>({
  lifecycle: fc.constantFrom("lazy", "eager", "keep-alive", "lazy-keep-alive"),
  idleTimeoutMs: fc.option(fc.integer({ min: 1, max: 3_600_000 })),
  connection: fc.constantFrom("none", "connecting", "connected"),
  wasConnected: fc.boolean(),
  parked: fc.boolean(),
  inFlight: fc.nat(3),
  lastUsedAt: fc.nat(10_000_000),
  failedAt: fc.option(fc.nat(10_000_000)),
  failures: fc.nat(50),
});

test("[UP50] nothing is ever ended while a call runs over it, and nothing is connected to twice", () => {
  expect(() =>
    fc.assert(
      fc.property(watched, fc.nat(20_000_000), (server, now) => {
        const action = tickAction(server, now);
        if (action === "none") return true;
        const possible = server.connection === "none" ? action === "connect" : server.connection === "connected" && server.inFlight === 0;
        // What can become due is looked at again and again.
        return possible && !server.parked && needsTicks(server);
      }),
    ),
  ).not.toThrow();
});

test("[UP52] a kept server is never given up: five minutes after its last failure it is tried again", () => {
  expect(() =>
    fc.assert(
      fc.property(watched, fc.integer({ min: 1, max: 100 }), fc.nat(10_000_000), (server, failures, failedAt) => {
        const down: WatchedServer = { ...server, lifecycle: "keep-alive", connection: "none", parked: false, failures, failedAt };
        return tickAction(down, failedAt + 300_000) === "connect" && tickAction(down, failedAt + 29_999) === "none";
      }),
    ),
  ).not.toThrow();
});

test("[UP23] the time a failed server is left alone ends", () => {
  expect(backoffUntil(null, 5)).toBeNull();
  expect(backoffUntil(1000, 60_999)).toBe(61_000);
  expect(backoffUntil(1000, 61_000)).toBeNull();
});

test("[UP50] an unused lazy server is disconnected after its idle time, not while a call runs", async () => {
  const { pool, upstreams, clock } = await poolUnderTest({
    servers: [serverDefinition("demo", { idleTimeoutMs: 120_000, requestTimeoutMs: 10_000_000 })],
  });
  const answer = Promise.withResolvers<unknown>();
  upstreams.script("demo").methods["tools/call"] = () => answer.promise;
  await pool.connect("demo", useOptions());
  const call = echo(pool, "demo");
  await settled();
  await advance(clock, 300_000, 30_000);
  expect(upstreams.living("demo")).toBe(1);
  answer.resolve({ content: [] });
  await call;
  await advance(clock, 120_000, 30_000);
  expect(upstreams.living("demo")).toBe(1);
  await advance(clock, 30_000, 30_000);
  expect(upstreams.living("demo")).toBe(0);
  expect(pool.state("demo").at).toBe("idle");
  expect(await echo(pool, "demo")).toMatchObject({ ok: true });
});

test("[UP59] a held server is not idle, and its idle time begins when the last one lets go", async () => {
  const { pool, upstreams, clock } = await poolUnderTest({ servers: [serverDefinition("demo", { idleTimeoutMs: 120_000 })] });
  await echo(pool, "demo");
  const [first, second] = [pool.hold("demo"), pool.hold("demo")];
  await advance(clock, 600_000, 30_000);
  first();
  first();
  await advance(clock, 600_000, 30_000);
  expect(upstreams.living("demo")).toBe(1);
  second();
  await advance(clock, 90_000, 30_000);
  expect(upstreams.living("demo")).toBe(1);
  await advance(clock, 90_000, 30_000);
  expect(upstreams.living("demo")).toBe(0);
  expect(pool.hold("nobody")).not.toThrow();
});

test("[UP50] a server without an idle time stays connected", async () => {
  const { pool, upstreams, clock } = await poolUnderTest({ servers: [serverDefinition("demo", { idleTimeoutMs: null })] });
  await echo(pool, "demo");
  await advance(clock, 36_000_000, 3_600_000);
  expect(upstreams.living("demo")).toBe(1);
});

test("[UP51] an eager server is connected at the start, and not again by itself when it ends", async () => {
  const { pool, upstreams, clock } = await poolUnderTest({
    servers: [serverDefinition("demo", { lifecycle: "eager", idleTimeoutMs: null }), serverDefinition("lazy")],
    kept: keptOf("demo"),
  });
  pool.start();
  const used = echo(pool, "demo");
  await settled();
  expect(await used).toMatchObject({ ok: true });
  expect([upstreams.of("demo").length, upstreams.of("lazy").length]).toEqual([1, 0]);
  upstreams.of("demo")[0]?.die();
  await advance(clock, 600_000, 30_000);
  expect(upstreams.of("demo")).toHaveLength(1);
  expect(await echo(pool, "demo")).toMatchObject({ ok: true });
});

test("[UP52] a keep-alive server is connected at the start and again when it ends, ever more patiently while that fails", async () => {
  const { pool, upstreams, clock } = await poolUnderTest({ servers: [serverDefinition("demo", { lifecycle: "keep-alive" })], kept: keptOf("demo") });
  pool.start();
  await settled();
  upstreams.of("demo")[0]?.die();
  await advance(clock, 30_000, 30_000);
  expect(upstreams.of("demo")).toHaveLength(2);
  const script = upstreams.script("demo");
  const tries: number[] = [];
  script.methods["initialize"] = (_params, peer) => {
    tries.push(clock.now());
    peer.die();
    return NEVER;
  };
  upstreams.of("demo")[1]?.die();
  await advance(clock, 1_500_000, 10_000);
  const gaps = tries.slice(1).map((at, index) => at - (tries[index] ?? 0));
  expect(gaps.slice(0, 4)).toEqual([30_000, 60_000, 120_000, 240_000]);
  expect(Math.max(...gaps)).toBeLessThanOrEqual(330_000);
  delete script.methods["initialize"];
  await advance(clock, 330_000, 30_000);
  expect(pool.state("demo").at).toBe("connected");
});

test("[UP53] a lazy-keep-alive server is left alone until its first use, and kept from then on", async () => {
  const { pool, upstreams, clock } = await poolUnderTest({
    servers: [serverDefinition("demo", { lifecycle: "lazy-keep-alive" })],
    kept: keptOf("demo"),
  });
  pool.start();
  await advance(clock, 120_000, 30_000);
  expect(upstreams.of("demo")).toHaveLength(0);
  await echo(pool, "demo");
  await advance(clock, 3_600_000, 60_000);
  expect(upstreams.living("demo")).toBe(1);
  upstreams.of("demo")[0]?.die();
  await advance(clock, 60_000, 30_000);
  expect(upstreams.living("demo")).toBe(1);
});

test("[UP54] a kept server that takes eight seconds to list its tools is no failed server", async () => {
  const { pool, upstreams, clock, events } = await poolUnderTest({ servers: [serverDefinition("demo", { lifecycle: "keep-alive" })] });
  pool.start();
  await settled();
  events.length = 0;
  upstreams.script("demo").methods["tools/list"] = async () => {
    await new Promise<void>((resolve) => clock.after(8000, resolve));
    return undefined;
  };
  await advance(clock, 600_000);
  expect(upstreams.of("demo")).toHaveLength(1);
  expect(events).toEqual([]);
  expect(upstreams.of("demo")[0]?.received.filter(({ method }) => method === "tools/list").length).toBeGreaterThan(10);
});

test("[UP54] a kept server that answers nothing at all any more is replaced", async () => {
  const { pool, upstreams, clock } = await poolUnderTest({ servers: [serverDefinition("demo", { lifecycle: "keep-alive" })] });
  pool.start();
  await settled();
  upstreams.script("demo").methods["tools/list"] = (_params, peer) => (peer.number === 1 ? NEVER : undefined);
  await advance(clock, 120_000, 10_000);
  expect(upstreams.of("demo").map((peer) => peer.open)).toEqual([false, true]);
});

test("[UP55] where nothing is known of any server all are looked at, at most ten at a time", async () => {
  const servers = Array.from({ length: 25 }, (_, index) => serverDefinition(`demo${index}`));
  const { pool, upstreams } = await poolUnderTest({ servers });
  const opening = Promise.withResolvers<void>();
  for (const { name } of servers) upstreams.script(name).opening = opening.promise;
  pool.start();
  await settled();
  expect(pool.connecting()).toHaveLength(10);
  opening.resolve();
  await settled();
  await settled();
  expect(servers.every(({ name }) => pool.state(name).at === "connected")).toBe(true);
});

test("[UP56] a server that was disconnected on demand is left alone until it is used", async () => {
  const { pool, upstreams, clock } = await poolUnderTest({ servers: [serverDefinition("demo", { lifecycle: "keep-alive" })] });
  pool.start();
  await settled();
  await pool.disconnect("demo");
  await advance(clock, 120_000, 30_000);
  expect(upstreams.of("demo")).toHaveLength(1);
  await echo(pool, "demo");
  upstreams.of("demo")[1]?.die();
  await advance(clock, 60_000, 30_000);
  expect(upstreams.of("demo")).toHaveLength(3);
});

test("[UP57] a kept server's new tools are known before a turn begins, also when it was restarted meanwhile", async () => {
  const { pool, upstreams, clock } = await poolUnderTest({ servers: [serverDefinition("demo", { lifecycle: "keep-alive" })] });
  pool.start();
  await settled();
  upstreams.script("demo").tools = [{ name: "new", inputSchema: { type: "object" } }];
  await pool.refreshKeptAlive(new AbortController().signal);
  expect(pool.held("demo")?.catalog.tools.map(({ name }) => name)).toEqual(["echo"]);
  clock.advance(2001);
  await pool.refreshKeptAlive(new AbortController().signal);
  expect(pool.held("demo")?.catalog.tools.map(({ name }) => name)).toEqual(["new"]);
  upstreams.of("demo")[0]?.die();
  upstreams.script("demo").tools = [{ name: "newer", inputSchema: { type: "object" } }];
  clock.advance(2001);
  await pool.refreshKeptAlive(new AbortController().signal);
  expect(pool.held("demo")?.catalog.tools.map(({ name }) => name)).toEqual(["newer"]);
});

test("[UP56] a use right after a connect was given up connects anew, when that has ended", async () => {
  const { pool, upstreams } = await poolUnderTest({ servers: [serverDefinition("demo")] });
  upstreams.script("demo").methods["initialize"] = (_params, peer) => (peer.number === 1 ? NEVER : undefined);
  const first = echo(pool, "demo");
  await expect.poll(() => upstreams.of("demo")[0]?.received.length).toBe(1);
  const disconnecting = pool.disconnect("demo");
  const second = echo(pool, "demo");
  await disconnecting;
  expect(await first).toMatchObject({ ok: false, error: { code: "aborted" } });
  expect(await second).toMatchObject({ ok: true });
  expect(upstreams.of("demo").map(({ open }) => open)).toEqual([false, true]);
});

test("[UP56] [UP57] a turn brings back no server that was disconnected on demand, and does not try a failed one before its time", async () => {
  const { pool, upstreams, clock } = await poolUnderTest({ servers: [serverDefinition("demo", { lifecycle: "keep-alive" })] });
  const turn = () => pool.refreshKeptAlive(new AbortController().signal);
  await pool.connect("demo", useOptions());
  await pool.disconnect("demo");
  clock.advance(10_000);
  await turn();
  expect(upstreams.of("demo")).toHaveLength(1);
  expect(pool.state("demo").at).toBe("idle");
  upstreams.script("demo").methods["initialize"] = () => new RpcError(-32603, "broken");
  await echo(pool, "demo");
  clock.advance(29_000);
  await turn();
  expect(upstreams.of("demo")).toHaveLength(2);
  clock.advance(1000);
  await turn();
  expect(upstreams.of("demo")).toHaveLength(3);
});

test("[UP57] a turn waits five seconds at most for that, and the slow listing is still taken", async () => {
  const { pool, upstreams, clock } = await poolUnderTest({ servers: [serverDefinition("demo", { lifecycle: "keep-alive" })] });
  pool.start();
  await settled();
  const answer = Promise.withResolvers<unknown>();
  upstreams.script("demo").methods["tools/list"] = () => answer.promise;
  clock.advance(2001);
  let done = false;
  const refreshed = pool.refreshKeptAlive(new AbortController().signal).then(() => (done = true));
  await settled();
  clock.advance(4999);
  await settled();
  expect(done).toBe(false);
  clock.advance(1);
  await refreshed;
  answer.resolve({ tools: [{ name: "late", inputSchema: { type: "object" } }] });
  await settled();
  expect(pool.held("demo")?.catalog.tools.map(({ name }) => name)).toEqual(["late"]);
});

test("[UP58] closing ends every connection and the calls over them, those being made included", async () => {
  const { pool, upstreams } = await poolUnderTest({ servers: [serverDefinition("demo"), serverDefinition("other")] });
  upstreams.script("demo").methods["tools/call"] = () => NEVER;
  upstreams.script("other").methods["initialize"] = () => NEVER;
  const running = failureOf(echo(pool, "demo"));
  const connecting = echo(pool, "other");
  await settled();
  await pool.close();
  expect(await running).toBeInstanceOf(Error);
  expect(await connecting).toMatchObject({ ok: false, error: { code: "aborted" } });
  expect([upstreams.living("demo"), upstreams.living("other")]).toEqual([0, 0]);
  expect(await pool.connect("demo", useOptions())).toMatchObject({ ok: false, error: { code: "aborted" } });
});

test.each(["legacy", "auto"] as const)("[UP58] what is cancelled while its transport is made is not started (%s)", async (protocolVersion) => {
  const upstreams = new ScriptedUpstreams();
  const asked = Promise.withResolvers<void>();
  const made = Promise.withResolvers<void>();
  const transports: TransportFactory = {
    // As npx is looked up: what it is asked for is made all the same.
    open: async (definition, { wire }) => {
      asked.resolve();
      await made.promise;
      return upstreams.open(definition, { wire, signal: new AbortController().signal });
    },
    explain: (definition) => upstreams.explain(definition),
    renewCredentials: (definition) => upstreams.renewCredentials(definition),
  };
  const { pool } = await poolUnderTest({ servers: [serverDefinition("demo", { protocolVersion })], transports });
  upstreams.script("demo").methods = { initialize: () => NEVER, "server/discover": () => NEVER };
  const connecting = echo(pool, "demo");
  await asked.promise;
  const closing = pool.close();
  made.resolve();
  await closing;
  expect(await connecting).toMatchObject({ ok: false, error: { code: "aborted" } });
  expect(upstreams.of("demo").map(({ received, open }) => [received, open])).toEqual([[[], false]]);
});

function keptOf(name: string) {
  const catalog = { tools: [], resources: [], prompts: [], instructions: null, ttlMs: null, cacheScope: null, listedAt: 1_000_000 };
  return new Map([[name, { configHash: `hash of ${name}`, catalog }]]);
}
