import { describe, expect, test } from "vitest";
import type { AdapterEvent } from "../../../../local-agent/adapter/adapter.ts";
import type { JsonObject } from "../../../../shared/json.ts";
import type { PlayedServer } from "../../../support/adapter-under-test.ts";
import { adapterCall, adapterUnderTest, textOf } from "../../../support/adapter-under-test.ts";
import { memoryMetadataStore } from "../../../support/memory-metadata-store.ts";

const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });
const direct = (tools: PlayedServer["tools"], more: Partial<PlayedServer["definition"]> = {}): PlayedServer => ({
  tools,
  definition: { directTools: true, ...more },
});
const toolEvents = (events: readonly AdapterEvent[]) => events.filter(({ t }) => t === "tools").length;

describe("direct tools", () => {
  test("[CL85] are offered as providers take them", async () => {
    const inputSchema = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object" as const,
      properties: { q: { type: "string" } },
      additionalProperties: false,
    };
    const under = await adapterUnderTest({
      box: direct({ ask: { title: "Ask", inputSchema, annotations: { readOnlyHint: true } }, plain: { description: "x ".repeat(100) } }),
    });
    await under.mcp({ connect: "box" });
    const [ask, plain] = under.adapter.directTools();
    expect(ask).toMatchObject({ name: "box_ask", title: "Ask", description: "(no description)", annotations: { readOnlyHint: true }, shown: true });
    expect(ask?.inputSchema).toEqual({ type: "object", properties: { q: { type: "string" } } });
    expect(plain).toMatchObject({ title: "box_plain", annotations: {} });
    expect(plain?.promptSnippet.length).toBeLessThanOrEqual(100);
  });

  test("[CL85] are those the configuration names, known without a connection", async () => {
    const metadata = memoryMetadataStore();
    const servers = { box: direct({ a: {}, b: {} }, { directTools: ["b"] }), off: direct({ c: {} }, { directTools: false }) };
    const first = await adapterUnderTest(servers, { metadata });
    for (const server of ["box", "off"]) await first.mcp({ connect: server });
    await first.adapter.close();
    const under = await adapterUnderTest(servers, { metadata });
    expect(under.adapter.directTools().map(({ name }) => name)).toEqual(["box_b"]);
    expect(under.adapter.pool.state("box").at).toBe("idle");
  });

  test("[CL85] are those of MCP_DIRECT_TOOLS where it is set, and never take the place of a tool of the host", async () => {
    const env = { MCP_DIRECT_TOOLS: "box/b,nowhere" };
    const under = await adapterUnderTest({ box: direct({ a: {}, b: {}, read: {} }, { toolPrefix: "none" }) }, { env });
    await under.mcp({ connect: "box" });
    expect(under.adapter.directTools().map(({ name }) => name)).toEqual(["b"]);
    expect(under.events).toContainEqual({
      t: "notice",
      level: "warning",
      text: expect.stringContaining("no enabled server is called so") as unknown,
    });
    const plain = await adapterUnderTest({ box: direct({ read: {} }, { toolPrefix: "none" }) });
    await plain.mcp({ connect: "box" });
    expect(plain.adapter.directTools()).toEqual([]);
  });

  test("[CL86] are called like any other, with lean details", async () => {
    const under = await adapterUnderTest({ box: direct({ ask: {} }) });
    await under.mcp({ connect: "box" });
    const result = await under.adapter.direct("box_ask", adapterCall({ q: 1 }));
    expect(result).toEqual({ content: text("ran ask").content, details: { server: "box", tool: "ask" }, isError: false });
    const gone = await under.adapter.direct("box_gone", adapterCall({}));
    expect(textOf(gone)).toContain("is not offered any more");
    expect(gone.isError).toBe(true);
  });

  test("[CL86] carry the raw result where the settings say bounded", async () => {
    const under = await adapterUnderTest({ box: direct({ ask: {} }) }, { settings: { directToolResultDetails: "bounded" } });
    await under.mcp({ connect: "box" });
    expect((await under.adapter.direct("box_ask", adapterCall({}))).details["mcpResult"]).toEqual(text("ran ask"));
  });

  test("[CL7] leave their arguments to the server, unless the settings are strict", async () => {
    const tools = { ask: { inputSchema: { type: "object" as const, properties: { n: { type: "integer" } } } } };
    for (const [strict, received] of [
      [false, 1],
      [true, 0],
    ] as const) {
      const under = await adapterUnderTest({ box: direct(tools) }, { settings: { strictDirectToolArguments: strict } });
      await under.mcp({ connect: "box" });
      await under.adapter.direct("box_ask", adapterCall({ n: "x" }));
      expect(under.received).toHaveLength(received);
    }
  });

  test("[CL87] follow the server, and the host is told when they changed and only then", async () => {
    const played = direct({ a: {} });
    const under = await adapterUnderTest({ box: played });
    await under.mcp({ connect: "box" });
    const before = toolEvents(under.events);
    await under.mcp({ connect: "box" });
    expect(toolEvents(under.events)).toBe(before);
    played.tools = { a: {}, b: {} };
    await under.adapter.pool.connect("box", { signal: new AbortController().signal, caller: { kind: "pi" } });
    expect(toolEvents(under.events)).toBe(before + 1);
    expect(under.adapter.directTools()).toHaveLength(2);
  });

  test("[CL87] that are frozen change only when somebody asks for it", async () => {
    const played = direct({ a: {} });
    const under = await adapterUnderTest({ box: played, late: { ...direct({ z: {} }), down: "not yet" } }, { settings: { freezeDirectTools: true } });
    await under.mcp({ connect: "box" });
    const options = { signal: new AbortController().signal, caller: { kind: "pi" } as const };
    played.tools = { a: {}, b: {} };
    await under.adapter.pool.connect("box", options);
    expect(under.adapter.directTools().map(({ name }) => name)).toEqual(["box_a"]);
    await under.adapter.pool.connect("box", { ...options, replace: true });
    expect(under.adapter.directTools().map(({ name }) => name)).toEqual(["box_a", "box_b"]);
    played.tools = { b: {} };
    await under.mcp({ connect: "box" });
    expect(under.adapter.directTools().map(({ name }) => name)).toEqual(["box_b"]);
    expect((await under.mcp({})).details["directToolsFrozen"]).toBe(true);
  });

  test("[CL88] in search mode are registered, hidden, and named by the search that finds them", async () => {
    const under = await adapterUnderTest({ box: direct({ take_screenshot: {} }, { directTools: "search" }) });
    await under.mcp({ connect: "box" });
    expect(under.adapter.directTools()).toMatchObject([{ name: "box_take_screenshot", shown: false }]);
    expect((await under.mcp({ search: "screenshot" })).details["activated"]).toEqual(["box_take_screenshot"]);
  });

  test("[CL88] beyond 75 are offered with a warning", async () => {
    const many = Object.fromEntries(Array.from({ length: 75 }, (_, n) => [`tool${n}`, {}]));
    const under = await adapterUnderTest({ box: direct(many) });
    await under.mcp({ connect: "box" });
    expect(under.adapter.directTools()).toHaveLength(75);
    expect(under.events).toContainEqual({ t: "notice", level: "warning", text: expect.stringContaining("75 MCP tools are direct") as unknown });
  });
});

describe("namespace tools", () => {
  test("[CL89] stand for a server with known tools that are not all direct, and call them as mcp does", async () => {
    const under = await adapterUnderTest({ "my-box": { tools: { ask: {} } }, all: direct({ a: {} }), unknown: { tools: {}, down: "not yet" } });
    for (const server of ["my-box", "all"]) await under.mcp({ connect: server });
    const tools = under.adapter.namespaceTools();
    expect(tools.map(({ name, server }) => [name, server])).toEqual([["mcp__my_box", "my-box"]]);
    const call = (args: JsonObject) => under.adapter.namespace("mcp__my_box", adapterCall(args));
    expect(textOf(await call({ tool: "ask", args: '{"q":1}' }))).toBe("ran ask");
    expect(under.received).toEqual([{ server: "my-box", tool: "ask", args: { q: 1 } }]);
    expect(textOf(await call({}))).toBe('"tool" must name a tool of "my-box".');
    expect(textOf(await call({ tool: "a" }))).toContain("No tool");
    expect(textOf(await call({ tool: "ask", q: 1 }))).toContain('belong into "args"');
    expect((await under.adapter.namespace("mcp__gone", adapterCall({}))).isError).toBe(true);
  });

  test("[CL89] are none where the settings do not want them", async () => {
    const under = await adapterUnderTest({ box: { tools: { ask: {} } } }, { settings: { namespaceProxyTools: false } });
    await under.mcp({ connect: "box" });
    expect(under.adapter.namespaceTools()).toEqual([]);
  });
});

describe("what a host is offered", () => {
  test("[CL41] has the same bytes before and after a server is connected, lists anew, or fails", async () => {
    const played: PlayedServer = { tools: { a: {} }, instructions: "Be kind." };
    const under = await adapterUnderTest({ box: played });
    const before = JSON.stringify([under.adapter.proxyTool(), under.adapter.scriptTool()]);
    await under.mcp({ connect: "box" });
    played.tools = { b: {} };
    await under.mcp({ connect: "box" });
    played.down = "gone";
    await under.mcp({ connect: "box" });
    expect(JSON.stringify([under.adapter.proxyTool(), under.adapter.scriptTool()])).toBe(before);
  });

  test("[CL41] names what servers said of themselves in an earlier run", async () => {
    const metadata = memoryMetadataStore();
    const first = await adapterUnderTest({ box: { tools: {}, instructions: "Be kind." } }, { metadata });
    await first.mcp({ connect: "box" });
    await first.adapter.close();
    const under = await adapterUnderTest({ box: { tools: {} } }, { metadata });
    expect(under.adapter.proxyTool()?.description).toContain("box: Be kind.");
  });

  test("[CL43] lacks the proxy tool where it is off, once every direct tool is known", async () => {
    const under = await adapterUnderTest({ box: direct({ a: {} }) }, { settings: { disableProxyTool: true, scriptMode: false } });
    expect(under.adapter.scriptTool()).toBeNull();
    expect(under.adapter.proxyTool()).not.toBeNull();
    await under.mcp({ connect: "box" });
    expect(under.adapter.proxyTool()).toBeNull();
    const search = await adapterUnderTest({ box: direct({ a: {} }, { directTools: "search" }) }, { settings: { disableProxyTool: true } });
    await search.mcp({ connect: "box" });
    expect(search.adapter.proxyTool()).not.toBeNull();
  });

  test("[CL43] is nothing where no server is enabled", async () => {
    const under = await adapterUnderTest({ off: { tools: {}, state: "disabled" } });
    expect([under.adapter.proxyTool(), under.adapter.scriptTool(), under.adapter.directTools()]).toEqual([null, null, []]);
  });
});

describe("prompts", () => {
  test("[CT42] that would be one command are left out, and the person is told", async () => {
    const under = await adapterUnderTest({ box: { tools: {}, prompts: [{ name: "a b" }, { name: "a_b" }, { name: "c" }] } });
    await under.mcp({ connect: "box" });
    expect(under.adapter.promptCommands().map(({ command }) => command)).toEqual(["mcp__box__c"]);
    const text = 'box: 2 prompts are left out, because all of them would be "/mcp__box__a_b".';
    expect(under.events).toContainEqual({ t: "notice", level: "warning", text });
  });

  const plan = {
    name: "create plan",
    arguments: [{ name: "goal", required: true }],
    get: (args: Readonly<Record<string, string>>) => ({ messages: [{ role: "user" as const, content: text(`Plan ${args["goal"]}`).content[0]! }] }),
  };

  test("[CL82] are commands, fetched with the arguments of the line", async () => {
    const under = await adapterUnderTest({ "agent-board": { tools: {}, prompts: [plan] } });
    await under.mcp({ connect: "agent-board" });
    expect(under.adapter.promptCommands().map(({ command }) => command)).toEqual(["mcp__agent-board__create_plan"]);
    const { args: _args, ...call } = adapterCall({});
    expect(await under.adapter.prompt("mcp__agent-board__create_plan", '"a retry policy"', call)).toMatchObject({
      ok: true,
      value: { messages: [{ content: { text: "Plan a retry policy" } }] },
    });
    expect(await under.adapter.prompt("/mcp__agent-board__create_plan", "", call)).toMatchObject({
      ok: false,
      error: expect.stringContaining("Usage:") as unknown,
    });
    expect(await under.adapter.prompt("mcp__nothing__x", "", call)).toMatchObject({ ok: false });
  });

  test("[CL30] that fail are told in the server's own words", async () => {
    const refuse = () => {
      throw new Error("cannot call tool now");
    };
    const under = await adapterUnderTest({ box: { tools: {}, prompts: [{ name: "plan", get: refuse }] } });
    await under.mcp({ connect: "box" });
    const { args: _args, ...call } = adapterCall({});
    const error = "Failed to fetch the prompt: cannot call tool now (MCP error -32603)";
    expect(await under.adapter.prompt("mcp__box__plan", "", call)).toEqual({ ok: false, error });
  });
});
