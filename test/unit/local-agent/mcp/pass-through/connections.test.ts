import { PassThrough as Pipe } from "node:stream";
import { Client } from "@modelcontextprotocol/client";
import type { Server } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { describe, expect, test } from "vitest";
import { isRevoked } from "../../../../../local-agent/desk/revoked-clients.ts";
import { createConnections } from "../../../../../local-agent/mcp/pass-through/connections.ts";
import type { PassageOpen } from "../../../../../local-agent/mcp/pass-through/passage.ts";
import { silentLog } from "../../../../../local-agent/node/log-sinks.ts";
import { systemClock, systemTimers } from "../../../../../local-agent/node/system-time.ts";
import type { Passage } from "../../../../../local-agent/mcp/pass-through/passage.ts";
import { err } from "../../../../../shared/result.ts";
import { createEverything } from "../../../../fixtures/everything/build-server.ts";
import { serveFixtureHttp } from "../../../../fixtures/upstreams/fixture-host.ts";
import { abortOf } from "../../../../support/abort-of.ts";
import { ManualClock } from "../../../../support/manual-clock.ts";
import { passageUnderTest } from "../../../../support/passage-under-test.ts";
import { everything, passingSurface } from "../../../../support/passing-surface.ts";
import { said, smallUpstream, type SmallRun } from "../../../../support/small-upstream.ts";
import { context, legacyRequest, MODERN, modernRequest, reply, requestOf, toolCall } from "../../../../support/surface-under-test.ts";
import { waitUntil } from "../../../../support/wait-until.ts";

/** Of its tools `works` runs until `more` is resolved. */
function withWork() {
  let count = 0;
  const more = Promise.withResolvers<void>();
  const run: SmallRun = () => {
    count += 1;
    return more.promise.then(() => said("worked"));
  };
  const surface = passingSurface({ small: smallUpstream("legacy", { tools: { plain: {}, works: { run } } }) });
  return { surface, more, working: () => count };
}

describe("connections to an upstream", () => {
  test("[PT80] one serves all requests of a client to a modern upstream, whatever each declares", async () => {
    await using surface = passingSurface({ everything: everything(MODERN) });
    const call = (capabilities: object) => {
      const _meta = { "io.modelcontextprotocol/clientCapabilities": capabilities };
      const message = { ...toolCall(1, "echo"), params: { name: "echo", arguments: { text: "x" }, _meta } };
      return surface.surface.handle(modernRequest(message), context()).then(reply);
    };
    await Promise.all([call({}), call({ elicitation: {} }), call({ sampling: {} })]);
    expect(surface.passage.opened).toEqual(["everything"]);
  });

  test("[PT80] a legacy upstream gets another for other capabilities and for each session", async () => {
    await using surface = passingSurface({ everything: everything("legacy") });
    const call = (capabilities: object) => {
      const _meta = { "io.modelcontextprotocol/clientCapabilities": capabilities };
      const message = { ...toolCall(1, "echo"), params: { name: "echo", arguments: { text: "x" }, _meta } };
      return surface.surface.handle(modernRequest(message), context()).then(reply);
    };
    for (const capabilities of [{}, { elicitation: {} }, { elicitation: { form: {} } }, {}]) await call(capabilities);
    expect(surface.passage.opened).toHaveLength(2);
    await reply(await surface.surface.handle(legacyRequest(toolCall(2, "echo", { text: "x" })), context()));
    expect(surface.passage.opened).toHaveLength(2);
  });

  test("[PT81] end when nobody used them for ten minutes, and are made again", async () => {
    const clock = new ManualClock();
    const closed: string[] = [];
    await using surface = passingSurface(
      { small: smallUpstream("legacy", { tools: { plain: {} }, more: (server) => (server.onclose = () => closed.push("closed")) }) },
      { options: { clock, timers: clock } },
    );
    const call = () => surface.surface.handle(legacyRequest(toolCall(1, "plain")), context()).then(reply);
    await call();
    clock.advance(599_000);
    await call();
    clock.advance(599_000);
    expect(closed).toEqual([]);
    clock.advance(1000);
    await expect.poll(() => closed).toEqual(["closed"]);
    expect((await call()).result?.["content"]).toEqual([{ type: "text", text: "plain" }]);
    expect(surface.passage.opened).toHaveLength(2);
  });

  test("[PT81] of more than sixteen to one upstream those give way that nobody uses, not one that is just being made", async () => {
    const { surface, working, more } = withWork();
    await using _ = surface;
    const call = (client: number, tool: string) => surface.surface.handle(legacyRequest(toolCall(1, tool)), context(`grant:${client}`)).then(reply);
    for (let client = 0; client < 16; client++) await call(client, "plain");
    const working16 = Array.from({ length: 16 }, (_, n) => call(100 + n, "works"));
    await expect.poll(working).toBe(16);
    expect((await call(200, "plain")).result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("Too many connections") }] });
    more.resolve();
    for (const { result } of await Promise.all(working16)) expect(result?.["content"]).toEqual([{ type: "text", text: "worked" }]);
  });

  test("[PT81] one client has eight at most, of which the idle ones give way, and shuts nobody out", async () => {
    const { surface, working, more } = withWork();
    await using _ = surface;
    const begin = async () => {
      const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } };
      const { response } = await surface.surface.handle(legacyRequest({ id: 0, method: "initialize", params }), context());
      return { "mcp-session-id": response.headers.get("mcp-session-id") ?? "" };
    };
    const call = async (tool: string, principal = "grant:1") =>
      reply(await surface.surface.handle(legacyRequest(toolCall(1, tool), principal === "grant:1" ? await begin() : {}), context(principal)));
    for (let session = 0; session < 9; session++) expect((await call("plain")).result?.["content"]).toEqual([{ type: "text", text: "plain" }]);
    const busy = Array.from({ length: 8 }, () => call("works"));
    await expect.poll(working).toBe(8);
    expect((await call("plain")).result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("This client uses 8 connections") }],
    });
    expect((await call("plain", "grant:2")).result?.["content"]).toEqual([{ type: "text", text: "plain" }]);
    more.resolve();
    for (const { result } of await Promise.all(busy)) expect(result?.["content"]).toEqual([{ type: "text", text: "worked" }]);
  });

  test("[PT9] [PT83] that are ended while they are being made keep no other client from the upstream", async () => {
    let opened = 0;
    const small = smallUpstream("legacy", { tools: { plain: {} } });
    const real = passageUnderTest({ small });
    const open: Passage["open"] = async (upstream, options) => {
      opened += 1;
      if (opened === 2) await abortOf(options.signal);
      return options.signal.aborted ? err({ message: "It was cancelled." }) : real.open(upstream, options);
    };
    await using surface = passingSurface({ small }, { passage: { open } });
    const call = (client: number) => surface.surface.handle(legacyRequest(toolCall(1, "plain")), context(`grant:${client}`)).then(reply);
    await call(1);
    const waiting = call(2);
    await expect.poll(() => opened).toBe(2);
    await surface.surface.forget((principal) => principal === "grant:2");
    expect((await call(3)).result?.["content"]).toEqual([{ type: "text", text: "plain" }]);
    await waiting;
  });

  test("[PT82] that broke are made again by the next request; the call that was on it says so", async () => {
    const run = (_args: unknown, _context: unknown, server: { close(): Promise<void> }) => server.close().then(() => new Promise(() => {}));
    const small = smallUpstream("legacy", { tools: { dies: { run }, plain: {} } });
    await using surface = passingSurface({ small });
    const broken = await reply(await surface.surface.handle(legacyRequest(toolCall(1, "dies")), context()));
    expect(broken.result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("small") }] });
    const { result } = await reply(await surface.surface.handle(legacyRequest(toolCall(2, "plain")), context()));
    expect(result?.["content"]).toEqual([{ type: "text", text: "plain" }]);
  });

  test("[PT82] whose session the upstream forgot are made again at once, and the call runs once", async () => {
    let called = 0;
    const build = createEverything();
    const host = { toolsChanged: () => {}, promptsChanged: () => {}, called: () => called++ };
    const fixture = await serveFixtureHttp({ name: "http", era: "legacy", build: ({ modern }) => build({ ...host, modern, lasting: true }) });
    const surface = passingSurface({ http: { url: fixture.url, speaks: "legacy" } });
    const call = () => surface.surface.handle(legacyRequest(toolCall(1, "echo", { text: "x" })), context()).then(reply);
    await call();
    fixture.sessions.clear();
    expect((await call()).result?.["content"]).toEqual([{ type: "text", text: "x" }]);
    expect([called, surface.passage.opened.length]).toEqual([2, 2]);
    await surface.surface.close();
    await fixture.close();
  });

  test("[PT83] all end with the surface", async () => {
    const closed: string[] = [];
    const more = (server: { onclose?: () => void }) => void (server.onclose = () => closed.push("closed"));
    const surface = passingSurface({ small: smallUpstream("legacy", { tools: { plain: {} }, more }) });
    await reply(await surface.surface.handle(legacyRequest(toolCall(1, "plain")), context()));
    await reply(await surface.surface.handle(legacyRequest(toolCall(1, "plain")), context("grant:2")));
    await surface.surface.close();
    expect(closed).toEqual(["closed", "closed"]);
    const { result } = await reply(await surface.surface.handle(legacyRequest(toolCall(1, "plain")), context()));
    expect(result).toMatchObject({ isError: true });
  });

  test("[PT83] those of one client end when its access is taken back, with the calls that wait for it", async () => {
    const closed: string[] = [];
    const run: SmallRun = (_args, _context, server) => server.elicitInput({ message: "?", requestedSchema: { type: "object", properties: {} } });
    const more = (server: Server) => void (server.onclose = () => closed.push("closed"));
    await using surface = passingSurface({ small: smallUpstream("legacy", { tools: { asks: { run }, plain: {} }, more }) });
    const _meta = { "io.modelcontextprotocol/clientCapabilities": { elicitation: {} } };
    const asks = { ...toolCall(1, "asks"), params: { name: "asks", arguments: {}, _meta } };
    const { result } = await reply(await surface.surface.handle(modernRequest(asks), context()));
    await reply(await surface.surface.handle(modernRequest(toolCall(1, "plain")), context("grant:2")));
    await surface.surface.forget((principalId) => principalId === "grant:1");
    expect(closed).toEqual(["closed"]);
    const back = { ...asks, params: { ...asks.params, requestState: result?.["requestState"], inputResponses: {} } };
    expect((await reply(await surface.surface.handle(modernRequest(back), context()))).result).toMatchObject({ isError: true });
  });

  test("[PT83] those of every app end when all access is taken back, whether or not anybody looked at the list of grants", async () => {
    const closed: string[] = [];
    const more = (server: Server) => void (server.onclose = () => closed.push("closed"));
    await using surface = passingSurface({ small: smallUpstream("legacy", { tools: { plain: {} }, more }) });
    for (const principal of ["grant:1", "grant:2", "token:1"]) {
      await reply(await surface.surface.handle(modernRequest(toolCall(1, "plain")), context(principal)));
    }
    await surface.surface.forget(isRevoked({ ids: ["2"] }));
    expect(closed).toEqual(["closed"]);
    await surface.surface.forget(isRevoked({ ids: "all" }));
    expect(closed).toEqual(["closed", "closed"]);
  });

  test("[PT83] one that is being made for it then fails for nobody else", async () => {
    await using under = passingSurface({ small: smallUpstream("legacy", { tools: { plain: {} } }) });
    const started = Promise.withResolvers<void>();
    let tries = 0;
    const open = async (upstream: string, options: PassageOpen) => {
      tries += 1;
      await Promise.race([started.promise, abortOf(options.signal)]);
      return options.signal.aborted ? err({ message: "It was given up." }) : under.passage.open(upstream, options);
    };
    await using surface = passingSurface({}, { passage: { ...under.passage, open } });
    const call = (principal: string) => surface.surface.handle(modernRequest(toolCall(1, "plain")), context(principal)).then(reply);
    const own = call("grant:1");
    await waitUntil("it is being made", () => tries === 1);
    const others = [call("grant:2"), call("grant:3")];
    await surface.surface.forget((principalId) => principalId === "grant:1");
    started.resolve();
    await own;
    for (const other of others) expect((await other).result?.["content"]).toEqual([{ type: "text", text: "plain" }]);
  });

  test.each(["legacy", "modern"] as const)("[PT83] a %s client's call that began before its access was taken back opens no other", async (era) => {
    const asked: string[] = [];
    const leave = Promise.withResolvers<void>();
    const beforeCall = async ({ principalId }: { readonly principalId: string }) => {
      asked.push(principalId);
      if (asked.length <= 2) await leave.promise;
      return { allowed: true } as const;
    };
    await using surface = passingSurface({ small: smallUpstream("legacy", { tools: { plain: {} } }) }, { passage: { beforeCall } });
    const call = (principal: string) => surface.surface.handle(requestOf(era, toolCall(1, "plain")), context(principal)).then(reply);
    const calls = [call("grant:1"), call("grant:2")];
    await waitUntil("somebody is asked about both", () => asked.length === 2);
    const opened = surface.passage.opened.length;
    await surface.surface.forget((principalId) => principalId === "grant:1");
    leave.resolve();
    const [own, other] = await Promise.all(calls);
    expect(own?.result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("access of this client was taken back") }] });
    expect(other?.result?.["content"]).toEqual([{ type: "text", text: "plain" }]);
    expect(surface.passage.opened).toHaveLength(opened);
    // Who asks for the relay asks again under the same name.
    expect((await call("grant:1")).result?.["content"]).toEqual([{ type: "text", text: "plain" }]);
  });

  test("[PT86] of one upstream are 16, and none is ended for another's sake while it is made or used", async () => {
    await using under = passingSurface({ small: smallUpstream("legacy", { tools: { plain: {} } }) });
    const connections = createConnections({ passage: under.passage, clock: systemClock, timers: systemTimers, log: silentLog, onChange: () => {} });
    const over = Promise.withResolvers<string>();
    const use = (client: number) => {
      const caller = {
        principal: context(`grant:${client}`).principal,
        since: 0,
        place: "",
        era: "legacy",
        capabilities: {},
        logLevel: null,
      } as const;
      return connections.use("small", caller, {}, () => over.promise);
    };
    const uses = Array.from({ length: 17 }, (_, client) => use(client));
    expect(await uses[16]).toMatchObject({ ok: false, error: expect.stringContaining("Too many connections") });
    over.resolve("used");
    for (const used of uses.slice(0, 16)) expect(await used).toEqual({ ok: true, value: "used" });
    expect(await use(17)).toEqual({ ok: true, value: "used" });
    await connections.close();
  });

  test("[PT84] what the relay answers without the workstation lists what upstreams offer", async () => {
    const closed: string[] = [];
    const more = (server: Server) => void (server.onclose = () => closed.push("closed"));
    await using surface = passingSurface({ everything: everything("legacy"), small: smallUpstream("legacy", { tools: {}, more }) });
    const offline = await surface.surface.offlineAnswers();
    expect(JSON.stringify(offline.legacy.results["tools/list"])).toContain("test_simple_text");
    expect(JSON.stringify(offline.modern.results["resources/list"])).toContain("test://static-text");
    expect(surface.begun).toEqual([]);
    const opened = surface.passage.opened.filter((upstream) => upstream === "small");
    expect(opened.length).toBeLessThanOrEqual(2);
    expect(closed).toHaveLength(opened.length);
  });
});

describe.each(["legacy", "modern"] as const)("a %s client over stdio", (era) => {
  test.each(["legacy", MODERN] as const)("[PT85] uses a %s upstream, is asked, and hears of changes", async (speaks) => {
    const changing = smallUpstream(speaks, {
      tools: {
        grow: { run: (_args, _context, server) => server.sendToolListChanged().then(() => said("grew")) },
      },
      capabilities: { tools: { listChanged: true } },
    });
    await using surface = passingSurface({ everything: everything(speaks), small: changing });
    const [input, output] = [new Pipe(), new Pipe()];
    const served = surface.surface.serveStdio({ input, output });
    // The two ends of a pipe are alike: what the server's transport reads, the client's writes.
    const transport = new StdioServerTransport(output, input);
    const versionNegotiation = { mode: era === "modern" ? { pin: MODERN } : ("legacy" as const) };
    const client = new Client({ name: "stdio", version: "1" }, { capabilities: { elicitation: { form: {} } }, versionNegotiation });
    client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { username: "ada", email: "e" } }));
    const changed = Promise.withResolvers<void>();
    client.setNotificationHandler("notifications/tools/list_changed", () => changed.resolve());
    await client.connect(transport);
    if (era === "modern") await client.listen({ toolsListChanged: true });
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("everything_echo");
    const asked = await client.callTool({ name: "everything_test_elicitation", arguments: { message: "Who?" } });
    expect(JSON.stringify(asked.content)).toContain("ada");
    await client.callTool({ name: "small_grow", arguments: {} });
    await changed.promise;
    await client.close();
    await served.close();
  });
});
