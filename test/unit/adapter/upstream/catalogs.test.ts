import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { UpstreamCatalog } from "../../../../local-agent/adapter/catalog/upstream-catalog.ts";
import { declaresValidHeaders } from "../../../../local-agent/adapter/upstream/header-declarations.ts";
import { advance, echo, poolUnderTest, settled, useOptions } from "../../../support/pool-under-test.ts";
import { httpServer } from "../../../support/server-transports.ts";
import { serverDefinition } from "../../../support/server-definitions.ts";
import { NEVER, RpcError, type ScriptedPeer, type ScriptedUpstreams } from "../../../support/scripted-upstreams.ts";

const DAY = 24 * 3_600_000;

function catalogOf(given: Partial<UpstreamCatalog> = {}): UpstreamCatalog {
  const tools = [{ name: "kept", inputSchema: { type: "object" as const } }];
  return { tools, resources: [], prompts: [], instructions: null, ttlMs: null, cacheScope: null, listedAt: 1_000_000, ...given };
}

const names = (catalog: UpstreamCatalog | undefined) => catalog?.tools.map(({ name }) => name);
const listings = (upstreams: ScriptedUpstreams) =>
  upstreams
    .of("demo")
    .flatMap((peer) => peer.received)
    .filter(({ method }) => method === "tools/list").length;

test("[UP70] what was listed in an earlier run is held without a connection, of this very definition only", async () => {
  const kept = new Map([
    ["demo", { configHash: "hash of demo", catalog: catalogOf() }],
    ["changed", { configHash: "another", catalog: catalogOf() }],
  ]);
  const { pool, upstreams } = await poolUnderTest({ servers: [serverDefinition("demo"), serverDefinition("changed")], kept });
  expect(pool.held("demo")).toMatchObject({ freshness: "cached", catalog: { tools: [{ name: "kept" }] } });
  expect(pool.held("changed")).toBeNull();
  expect(upstreams.of("demo")).toEqual([]);
});

test.each([
  ["no hint", null, 7 * DAY, "cached"],
  ["no hint", null, 7 * DAY + 1, "stale"],
  ["an hour", 3_600_000, 3_599_999, "cached"],
  ["an hour", 3_600_000, 3_600_000, "stale"],
  ["nothing", 0, 0, "stale"],
  ["a year", 365 * DAY, 8 * DAY, "stale"],
] as const)("[UP70] a catalog that is good for %s is, after its time, stale and still held (%#)", async (_for, ttlMs, age, freshness) => {
  const kept = new Map([["demo", { configHash: "hash of demo", catalog: catalogOf({ ttlMs }) }]]);
  const { pool, clock } = await poolUnderTest({ servers: [serverDefinition("demo")], kept });
  clock.advance(age);
  expect(pool.held("demo")).toMatchObject({ freshness, catalog: { tools: [{ name: "kept" }] } });
});

test.each([
  ["nothing", {}],
  ["zero", { ttlMs: 0 }],
])("[UP70] a modern server that hints at %s stays searchable in the next run, marked, and its first call lists anew", async (_hint, hint) => {
  const servers = [serverDefinition("demo", { protocolVersion: "2026-07-28" })];
  const first = await poolUnderTest({ servers });
  first.upstreams.script("demo").modern = true;
  first.upstreams.script("demo").methods["tools/list"] = () => ({ tools: [{ name: "echo", inputSchema: { type: "object" } }], ...hint });
  await echo(first.pool, "demo");
  expect(first.pool.held("demo")?.freshness).toBe("live");
  const second = await poolUnderTest({ servers, kept: first.kept });
  expect(second.pool.held("demo")).toMatchObject({ freshness: "stale", catalog: { tools: [{ name: "echo" }], ttlMs: 0 } });
  second.upstreams.script("demo").modern = true;
  second.upstreams.script("demo").tools = [{ name: "renamed", inputSchema: { type: "object" } }];
  await echo(second.pool, "demo");
  expect(names(second.pool.held("demo")?.catalog)).toEqual(["renamed"]);
});

test("[UP71] a server that comes back with other tools loses the old ones, told and kept", async () => {
  const { pool, upstreams, kept, events } = await poolUnderTest({ servers: [serverDefinition("demo")] });
  await echo(pool, "demo");
  upstreams.of("demo")[0]?.die();
  upstreams.script("demo").tools = [{ name: "new", inputSchema: { type: "object" } }];
  upstreams.script("demo").instructions = "Use new.";
  await settled();
  await echo(pool, "demo");
  expect(names(pool.held("demo")?.catalog)).toEqual(["new"]);
  expect(kept.get("demo")).toMatchObject({ configHash: "hash of demo", catalog: { instructions: "Use new." } });
  expect(events.flatMap((event) => (event.t === "catalog" ? [names(event.held.catalog)] : []))).toEqual([["echo"], ["new"]]);
});

test("[UP71] the end of one server leaves what another offers", async () => {
  const { pool, upstreams } = await poolUnderTest({ servers: [serverDefinition("demo"), serverDefinition("other")] });
  await Promise.all([echo(pool, "demo"), echo(pool, "other")]);
  upstreams.of("other")[0]?.die();
  await settled();
  expect(names(pool.held("demo")?.catalog)).toEqual(["echo"]);
  expect(await echo(pool, "demo")).toMatchObject({ ok: true });
  expect(pool.held("other")).toMatchObject({ freshness: "cached" });
});

test("[UP72] resources and prompts that cannot be listed stay as they were; tools that cannot be listed are a failed connection", async () => {
  const resource = { uri: "note://a", name: "a" };
  const kept = new Map([["demo", { configHash: "hash of demo", catalog: catalogOf({ resources: [resource], prompts: [{ name: "p" }] }) }]]);
  const { pool, upstreams } = await poolUnderTest({ servers: [serverDefinition("demo")], kept });
  const script = upstreams.script("demo");
  script.capabilities = { tools: {}, resources: {}, prompts: {} };
  expect(await pool.connect("demo", useOptions())).toMatchObject({ ok: true, value: { resources: [resource], prompts: [{ name: "p" }] } });
  await pool.disconnect("demo");
  script.methods["tools/list"] = () => new RpcError(-32603, "database locked");
  expect(await echo(pool, "demo")).toMatchObject({ ok: false, error: { message: expect.stringContaining("database locked") } });
  expect(upstreams.living("demo")).toBe(0);
});

test("[UP72] a server that ends when it is asked for its resources could not be connected to, and is not started again by the same use", async () => {
  const { pool, upstreams } = await poolUnderTest({ servers: [serverDefinition("demo")] });
  const script = upstreams.script("demo");
  script.capabilities = { tools: {}, resources: {}, prompts: {} };
  script.methods["resources/list"] = (_params, peer) => {
    if (peer.number > 20) return { resources: [] };
    peer.die();
    return NEVER;
  };
  expect(await echo(pool, "demo")).toMatchObject({ ok: false, error: { code: "connect_failed" } });
  expect(upstreams.of("demo")).toHaveLength(1);
  expect(pool.state("demo").at).toBe("failed");
});

test("[UP72] a listing that fails while the server is connected leaves its tools", async () => {
  const { pool, upstreams, clock } = await poolUnderTest({ servers: [serverDefinition("demo")] });
  await echo(pool, "demo");
  upstreams.script("demo").methods["tools/list"] = () => new RpcError(-32603, "busy");
  upstreams.of("demo")[0]?.notify("notifications/tools/list_changed");
  await advance(clock, 1000);
  expect(listings(upstreams)).toBe(2);
  expect(names(pool.held("demo")?.catalog)).toEqual(["echo"]);
  expect(pool.state("demo").at).toBe("connected");
});

test("[UP73] pages are gathered, and pages without end are not", async () => {
  const { pool, upstreams } = await poolUnderTest({ servers: [serverDefinition("demo")] });
  const page = (cursor: unknown) => Number(cursor ?? 0);
  const script = upstreams.script("demo");
  script.methods["tools/list"] = ({ cursor }) => {
    const number = page(cursor);
    return { tools: [{ name: `t${number}`, inputSchema: { type: "object" } }], ...(number < 4 && { nextCursor: String(number + 1) }) };
  };
  await pool.connect("demo", useOptions());
  expect(names(pool.held("demo")?.catalog)).toEqual(["t0", "t1", "t2", "t3", "t4"]);
  script.methods["tools/list"] = ({ cursor }) => ({ tools: [], nextCursor: String(page(cursor) + 1) });
  expect(await pool.connect("demo", useOptions())).toMatchObject({ ok: true, value: { tools: [] } });
  script.methods["tools/list"] = () => ({ tools: [{ name: "round", inputSchema: { type: "object" } }], nextCursor: "again" });
  expect(await pool.connect("demo", useOptions())).toMatchObject({ ok: true, value: { tools: [{ name: "round" }] } });
  expect(listings(upstreams)).toBeLessThan(5 + 200 + 5);
});

test("[UP73] of a giant catalog the first 5,000 tools are taken", async () => {
  const { pool, upstreams } = await poolUnderTest({ servers: [serverDefinition("demo")] });
  upstreams.script("demo").methods["tools/list"] = ({ cursor }) => {
    const from = Number(cursor ?? 0);
    const tools = Array.from({ length: 2000 }, (_, index) => ({ name: `t${from + index}`, inputSchema: { type: "object" } }));
    return { tools, nextCursor: String(from + 2000) };
  };
  const listed = await pool.connect("demo", useOptions());
  expect(listed.ok && listed.value.tools.length).toBe(5000);
  expect(listings(upstreams)).toBe(3);
});

test("[UP73] one malformed, huge or repeated tool costs itself only", async () => {
  const { pool, upstreams } = await poolUnderTest({ servers: [serverDefinition("demo")] });
  const good = { name: "good", inputSchema: { type: "object" }, "x-own": 1 };
  const bad = [null, 7, "tool", [], {}, { name: "" }, { name: 5, inputSchema: {} }, { name: "none" }, { name: "odd", inputSchema: "x" }];
  const huge = { name: "huge", description: "x".repeat(300_000), inputSchema: { type: "object" } };
  upstreams.script("demo").methods["tools/list"] = () => ({ tools: [...bad, good, huge, { ...good, title: "again" }] });
  expect(await pool.connect("demo", useOptions())).toMatchObject({ ok: true, value: { tools: [good] } });
});

test.each(["legacy", "2026-07-28"] as const)(
  "[UP73] so does one that is nested deeper than anything can be looked into (%s)",
  async (protocolVersion) => {
    const { pool, upstreams } = await poolUnderTest({ servers: [serverDefinition("demo", { protocolVersion })] });
    const nested = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`);
    const tool = (levels: number) => ({ name: `deep${levels}`, inputSchema: { type: "object" as const, default: nested(levels) } });
    const script = upstreams.script("demo");
    script.modern = protocolVersion !== "legacy";
    script.tools = [tool(40_000), tool(4000), tool(300), tool(200)];
    const listed = await pool.connect("demo", useOptions());
    expect(listed.ok && names(listed.value)).toEqual(["deep200"]);
  },
);

test("[UP73] whatever a server answers to a listing, connecting comes to an end", async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.jsonValue(), fc.record({ tools: fc.jsonValue(), nextCursor: fc.jsonValue() })), async (answer) => {
      const { pool, upstreams, clock } = await poolUnderTest({ servers: [serverDefinition("demo")] });
      upstreams.script("demo").methods["tools/list"] = () => answer ?? null;
      const connecting = pool.connect("demo", useOptions());
      await advance(clock, 200_000, 200_000);
      const result = await connecting;
      expect(result.ok || result.error.code === "connect_failed").toBe(true);
      await pool.close();
    }),
    { numRuns: 40 },
  );
});

test("[UP74] however often a server tells of changes, it is listed at a bounded pace, and the last state is what is held", async () => {
  const { pool, upstreams, clock } = await poolUnderTest({ servers: [serverDefinition("demo")] });
  await echo(pool, "demo");
  const [peer] = upstreams.of("demo") as [ScriptedPeer];
  for (let second = 0; second < 10; second++) {
    for (let change = 0; change < 1000; change++) peer.notify(`notifications/${["tools", "prompts", "resources"][change % 3]}/list_changed`);
    await advance(clock, 1000, 100);
  }
  upstreams.script("demo").tools = [{ name: "last", inputSchema: { type: "object" } }];
  peer.notify("notifications/tools/list_changed");
  await advance(clock, 5000, 100);
  expect(listings(upstreams)).toBeLessThanOrEqual(10);
  expect(names(pool.held("demo")?.catalog)).toEqual(["last"]);
});

test.each([-32601, -32602, -32020])("[UP78] a server that denies a tool it listed (%i) is listed anew", async (code) => {
  const { pool, upstreams, clock } = await poolUnderTest({ servers: [serverDefinition("demo")] });
  await echo(pool, "demo");
  upstreams.script("demo").tools = [{ name: "renamed", inputSchema: { type: "object" } }];
  upstreams.script("demo").methods["tools/call"] = () => new RpcError(code, "no");
  await expect(echo(pool, "demo")).rejects.toMatchObject({ code });
  await advance(clock, 1000, 100);
  expect(names(pool.held("demo")?.catalog)).toEqual(["renamed"]);
});

test("[UP78] a server that answers again after it could not be reached is listed anew, as it may be another one", async () => {
  const { pool, upstreams, clock } = await poolUnderTest({
    servers: [serverDefinition("demo", { transport: httpServer("http://127.0.0.1:9/mcp") })],
  });
  await echo(pool, "demo");
  const script = upstreams.script("demo");
  script.methods["tools/call"] = () => {
    throw new TypeError("fetch failed");
  };
  await expect(echo(pool, "demo")).rejects.toThrow("fetch failed");
  expect(pool.state("demo")).toMatchObject({ at: "connected", unanswered: true });
  script.tools = [{ name: "another", inputSchema: { type: "object" } }];
  delete script.methods["tools/call"];
  await echo(pool, "demo");
  await advance(clock, 1000, 100);
  expect(names(pool.held("demo")?.catalog)).toEqual(["another"]);
  expect(pool.state("demo")).not.toHaveProperty("unanswered");
  expect(upstreams.of("demo")).toHaveLength(1);
});

test("[UP75] a modern server is listened to; a stream that drops is opened again after five seconds, and the lists are read again then", async () => {
  const { pool, upstreams, clock } = await poolUnderTest({ servers: [serverDefinition("demo", { protocolVersion: "2026-07-28" })] });
  const script = upstreams.script("demo");
  const listens: (string | number)[] = [];
  script.modern = true;
  script.methods["subscriptions/listen"] = (params, peer, id) => {
    listens.push(id);
    expect(params["notifications"]).toEqual({ toolsListChanged: true });
    const _meta = { "io.modelcontextprotocol/subscriptionId": id };
    peer.notify("notifications/subscriptions/acknowledged", { notifications: params["notifications"], _meta });
    return NEVER;
  };
  await echo(pool, "demo");
  await settled();
  expect(pool.state("demo")).toMatchObject({ listening: "active" });
  const [peer] = upstreams.of("demo") as [ScriptedPeer];
  peer.notify("notifications/cancelled", { requestId: listens[0] });
  await settled();
  expect(pool.state("demo")).toMatchObject({ listening: "dropped" });
  script.tools = [{ name: "missed", inputSchema: { type: "object" } }];
  clock.advance(4999);
  await settled();
  expect(listens).toHaveLength(1);
  await advance(clock, 1000, 100);
  expect(pool.state("demo")).toMatchObject({ listening: "active" });
  expect(names(pool.held("demo")?.catalog)).toEqual(["missed"]);
});

test("[UP75] a server that cannot be listened to is not asked again, one that fails ever more seldom", async () => {
  const { pool, upstreams, clock } = await poolUnderTest({
    servers: [serverDefinition("demo", { protocolVersion: "2026-07-28", idleTimeoutMs: null })],
  });
  const script = upstreams.script("demo");
  script.modern = true;
  await echo(pool, "demo");
  await advance(clock, 60_000);
  expect(pool.state("demo")).toMatchObject({ listening: "not-listening" });
  await pool.disconnect("demo");
  let listens = 0;
  script.methods["subscriptions/listen"] = () => {
    listens++;
    return new RpcError(-32603, "too many");
  };
  await echo(pool, "demo");
  await advance(clock, 600_000, 5000);
  expect(listens).toBeGreaterThan(3);
  expect(listens).toBeLessThan(10);
});

test("[UP75] an old server tells of changes unasked", async () => {
  const { pool, upstreams } = await poolUnderTest({ servers: [serverDefinition("demo")] });
  await echo(pool, "demo");
  expect(pool.state("demo")).toMatchObject({ listening: "legacy" });
  expect(upstreams.of("demo")[0]?.received.map(({ method }) => method)).not.toContain("subscriptions/listen");
});

const header = (schema: object) => ({ name: "t", inputSchema: { type: "object" as const, ...schema } });

test.each([
  [true, {}],
  [true, { properties: { a: { type: "string", "x-mcp-header": "Region" }, b: { properties: { c: { type: "boolean", "x-mcp-header": "Deep" } } } } }],
  [true, { properties: { "x-mcp-header": { type: "object" } }, default: { "x-mcp-header": 1 } }],
  [false, { properties: { a: { type: "string", "x-mcp-header": "no spaces" } } }],
  [false, { properties: { a: { type: "string", "x-mcp-header": "" } } }],
  [false, { properties: { a: { type: "number", "x-mcp-header": "N" } } }],
  [false, { properties: { a: { type: "array", items: { type: "string", "x-mcp-header": "I" } } } }],
  [false, { properties: { a: { type: "string", "x-mcp-header": "Same" }, b: { type: "string", "x-mcp-header": "same" } } }],
  [false, { $defs: { a: { type: "string", "x-mcp-header": "D" } } }],
  [false, { "x-mcp-header": "Root" }],
])("[UP76] whether headers may be taken from a tool's arguments: %s for %j", (valid, schema) => {
  expect(declaresValidHeaders(header(schema))).toBe(valid);
});

test("[UP77] log lines are told, and a flood of them now and then", async () => {
  const { pool, upstreams, events, clock } = await poolUnderTest({
    servers: [serverDefinition("demo", { transport: httpServer("http://127.0.0.1:9/mcp") })],
  });
  await echo(pool, "demo");
  const [peer] = upstreams.of("demo") as [ScriptedPeer];
  clock.advance(1000);
  events.length = 0;
  peer.notify("notifications/message", { level: "warning", logger: "db", data: { slow: true } });
  await settled();
  expect(events).toEqual([{ t: "log", server: "demo", level: "warning", logger: "db", data: { slow: true } }]);
  for (let line = 0; line < 10_000; line++) peer.notify("notifications/message", { level: "info", data: "spam" });
  await settled();
  expect(events.length).toBeLessThanOrEqual(50);
  expect(await echo(pool, "demo")).toMatchObject({ ok: true });
});

test("[UP77] log lines are told at once when the clock was set back", async () => {
  const { pool, upstreams, events, clock } = await poolUnderTest({
    servers: [serverDefinition("demo", { transport: httpServer("http://127.0.0.1:9/mcp") })],
  });
  await echo(pool, "demo");
  const [peer] = upstreams.of("demo") as [ScriptedPeer];
  for (let line = 0; line < 60; line++) peer.notify("notifications/message", { level: "info", data: "spam" });
  await settled();
  events.length = 0;
  clock.advance(-500_000);
  peer.notify("notifications/message", { level: "info", data: "after" });
  await settled();
  expect(events).toEqual([{ t: "log", server: "demo", level: "info", logger: null, data: "after" }]);
});
