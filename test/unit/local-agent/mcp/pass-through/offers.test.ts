import { PassThrough as Pipe } from "node:stream";
import { describe, expect, test } from "vitest";
import type { Server } from "@modelcontextprotocol/server";
import { withoutHeaderHints } from "../../../../../local-agent/mcp/pass-through/header-hints.ts";
import type { PassageOpen } from "../../../../../local-agent/mcp/pass-through/passage.ts";
import { systemTimers } from "../../../../../local-agent/node/system-time.ts";
import { err } from "../../../../../shared/result.ts";
import { ManualClock } from "../../../../support/manual-clock.ts";
import { clientOf, everything, passingSurface, type PassingSurface } from "../../../../support/passing-surface.ts";
import { text } from "../../../../support/scripted-tools.ts";
import { said, smallUpstream } from "../../../../support/small-upstream.ts";
import { context, MODERN, modernRequest, reply, toolCall } from "../../../../support/surface-under-test.ts";
import { waitUntil } from "../../../../support/wait-until.ts";

const ERAS = ["legacy", "modern"] as const;

async function toolNames(surface: PassingSurface): Promise<string[]> {
  const { result } = await reply(await surface.surface.handle(modernRequest({ id: 1, method: "tools/list" }), context()));
  const tools = (result?.["tools"] ?? []) as { name: string }[];
  return tools.map(({ name }) => name);
}

describe.each(ERAS)("what a %s client is offered", (era) => {
  test("[PT1] a single upstream's tools, prompts and resources stand after ours by their own names", async () => {
    await using surface = passingSurface({ everything: everything("legacy") });
    await using connected = await clientOf(surface.surface, { era });
    const { client } = connected;
    const tools = (await client.listTools()).tools.map(({ name }) => name);
    expect(tools.slice(0, 3)).toEqual(["read", "get_instructions", "test_simple_text"]);
    const prompts = (await client.listPrompts()).prompts.map(({ name }) => name);
    expect(prompts.slice(0, 2)).toEqual(["pi_as_mcp_instructions", "test_simple_prompt"]);
    expect((await client.listResources()).resources.map(({ uri }) => uri)).toContain("test://static-text");
    expect((await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(["test://template/{id}/data"]);
    expect((await client.callTool({ name: "read", arguments: {} })).content).toEqual([{ type: "text", text: "ours" }]);
    expect((await client.getPrompt({ name: "pi_as_mcp_instructions" })).messages).toHaveLength(1);
  });

  test("[PT2] of several upstreams each tool and prompt bears the upstream's name, and a call reaches its own", async () => {
    const small = smallUpstream("legacy", { tools: { echo: { run: ({ text }) => said(`small: ${String(text)}`) } } });
    await using surface = passingSurface({ everything: everything(MODERN), small });
    await using connected = await clientOf(surface.surface, { era });
    const { client } = connected;
    const tools = (await client.listTools()).tools.map(({ name }) => name);
    expect(tools).toContain("everything_echo");
    expect(tools).toContain("small_echo");
    expect(tools).not.toContain("echo");
    expect((await client.callTool({ name: "small_echo", arguments: { text: "hi" } })).content).toEqual([{ type: "text", text: "small: hi" }]);
    expect((await client.callTool({ name: "everything_echo", arguments: { text: "hi" } })).content).toEqual([{ type: "text", text: "hi" }]);
    const { messages } = await client.getPrompt({ name: "everything_test_prompt_with_arguments", arguments: { arg1: "a", arg2: "b" } });
    expect(JSON.stringify(messages)).toContain("arg1='a'");
    expect((await client.readResource({ uri: "test://template/7/data" })).contents).toHaveLength(1);
    await expect(client.readResource({ uri: "nowhere://at/all" })).rejects.toMatchObject({ code: -32602 });
  });

  test("[PT6] completion goes to whoever has the prompt or the template", async () => {
    await using surface = passingSurface({ everything: everything("legacy"), small: smallUpstream("legacy", { tools: {} }) });
    await using connected = await clientOf(surface.surface, { era });
    const { client } = connected;
    const ref = { type: "ref/prompt", name: "everything_test_prompt_with_arguments" } as const;
    expect((await client.complete({ ref, argument: { name: "arg1", value: "b" } })).completion.values).toEqual(["beta"]);
    const template = { type: "ref/resource", uri: "test://template/{id}/data" } as const;
    expect((await client.complete({ ref: template, argument: { name: "id", value: "g" } })).completion.values).toEqual(["gamma"]);
    const ours = { type: "ref/prompt", name: "pi_as_mcp_instructions" } as const;
    expect((await client.complete({ ref: ours, argument: { name: "x", value: "" } })).completion.values).toEqual([]);
  });
});

describe("names", () => {
  test("[PT3] a tool of ours, or a name kept for us, is never an upstream's", async () => {
    const small = smallUpstream("legacy", { tools: { read: {}, human_ask: {}, get_instructions: {}, plain: {} } });
    await using surface = passingSurface({ small });
    expect(await toolNames(surface)).toEqual(["read", "get_instructions", "small_read", "small_human_ask", "small_get_instructions", "plain"]);
    const answer = async (name: string) =>
      (await reply(await surface.surface.handle(modernRequest(toolCall(1, name)), context()))).result?.["content"];
    expect(await answer("read")).toEqual([{ type: "text", text: "ours" }]);
    expect(await answer("small_read")).toEqual([{ type: "text", text: "read" }]);
    const hidden = await reply(await surface.surface.handle(modernRequest(toolCall(1, "human_ask")), context()));
    expect(hidden.error?.code).toBe(-32602);
  });

  test("[PT3] nor by the longer name", async () => {
    const small = smallUpstream("legacy", { tools: { read: {} } });
    await using surface = passingSurface({ small }, { tools: { read: () => text("ours"), small_read: () => text("ours too") } });
    expect(await toolNames(surface)).toEqual(["read", "small_read", "get_instructions"]);
  });

  test("[PT4] two tools that would have one name are both left out", async () => {
    const tools = { "a.b": {}, a_b: {}, other: {} };
    await using surface = passingSurface({ one: smallUpstream("legacy", { tools }), two: smallUpstream("legacy", { tools: {} }) });
    expect(await toolNames(surface)).toEqual(["read", "get_instructions", "one_other"]);
  });

  test("[PT5] a tool that the configuration leaves out is neither listed nor called", async () => {
    const called: string[] = [];
    const admits = (_upstream: string, tool: string) => tool !== "echo";
    await using surface = passingSurface({ everything: everything("legacy", (tool) => called.push(tool)) }, { passage: { admits } });
    expect(await toolNames(surface)).not.toContain("echo");
    const { error } = await reply(await surface.surface.handle(modernRequest(toolCall(1, "echo", { text: "x" })), context()));
    expect(error?.code).toBe(-32602);
    expect(called).toEqual([]);
  });
});

describe("what is said of upstreams", () => {
  test("[PT7] capabilities are what one of them can do, and their guidance follows ours", async () => {
    await using surface = passingSurface({ small: smallUpstream("legacy", { tools: {}, instructions: "x".repeat(9000) }) });
    const { result } = await reply(await surface.surface.handle(modernRequest({ id: 1, method: "server/discover" }), context()));
    expect(result?.["capabilities"]).toEqual({ tools: {}, prompts: {}, logging: {} });
    expect(result?.["instructions"]).toBe(`operating prompt\n\n## small\n\n${"x".repeat(4000)}`);
    await using all = passingSurface({ everything: everything(MODERN) });
    const discovered = await reply(await all.surface.handle(modernRequest({ id: 1, method: "server/discover" }), context()));
    expect(discovered.result?.["capabilities"]).toMatchObject({
      resources: { subscribe: true, listChanged: true },
      completions: {},
      tools: { listChanged: true },
    });
  });

  test("[PT8] what a client keeps it keeps for itself, and for a minute at most", async () => {
    const more = (server: Server) => {
      server.setRequestHandler("resources/list", () => ({
        resources: [{ uri: "a://b", name: "b" }],
        ttlMs: 3_600_000,
        cacheScope: "public" as const,
      }));
      server.setRequestHandler("resources/read", () => ({
        contents: [{ uri: "a://b", text: "b" }],
        ttlMs: 3_600_000,
        cacheScope: "public" as const,
      }));
    };
    await using surface = passingSurface({ small: smallUpstream(MODERN, { tools: {}, capabilities: { resources: {} }, more }) });
    for (const method of ["tools/list", "resources/list", "prompts/list"]) {
      const { result } = await reply(await surface.surface.handle(modernRequest({ id: 1, method }), context()));
      expect(result).toMatchObject({ ttlMs: 60_000, cacheScope: "private" });
    }
    const request = modernRequest({ id: 1, method: "resources/read", params: { uri: "a://b" } }, { "mcp-name": "a://b" });
    const { result } = await reply(await surface.surface.handle(request, context()));
    expect(result).toMatchObject({ ttlMs: 60_000, cacheScope: "private" });
  });

  test("[PT9] an upstream that cannot be reached hides nothing else, and is not tried for each request", async () => {
    let tries = 0;
    const small = smallUpstream("legacy", { tools: { plain: {} } });
    await using surface = passingSurface({ small, gone: small });
    const open = (upstream: string, options: PassageOpen) => {
      if (upstream !== "gone") return surface.passage.open(upstream, options);
      tries += 1;
      return Promise.resolve(err({ message: "It is not there." }));
    };
    const passage = { ...surface.passage, open };
    await using half = passingSurface({}, { passage });
    expect(await toolNames(half)).toEqual(["read", "get_instructions", "small_plain"]);
    await toolNames(half);
    expect(tries).toBe(1);
    const { result } = await reply(await half.surface.handle(modernRequest(toolCall(1, "gone_plain")), context()));
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("gone: It is not there.") }] });
  });

  test("[PT9] one that is slow to start holds up no list, and its client hears when it is there", async () => {
    const started = Promise.withResolvers<void>();
    const small = smallUpstream("legacy", { tools: { plain: {} } });
    await using under = passingSurface({ small, slow: small });
    const open = async (upstream: string, options: PassageOpen) => {
      if (upstream === "slow") await started.promise;
      return under.passage.open(upstream, options);
    };
    // What takes 20 s takes a moment here.
    const timers = { after: (ms: number, run: () => void) => systemTimers.after(ms > 20_000 ? ms : Math.min(ms, 60), run) };
    await using surface = passingSurface({}, { passage: { ...under.passage, open }, options: { timers } });
    const exchange = context();
    const notifications = { toolsListChanged: true };
    const listen = modernRequest({ id: "l", method: "subscriptions/listen", params: { notifications } });
    const { response } = await surface.surface.handle(listen, exchange);
    expect(await toolNames(surface)).toEqual(["read", "get_instructions", "small_plain"]);
    const discovered = await reply(await surface.surface.handle(modernRequest({ id: 1, method: "server/discover" }), context()));
    expect(discovered.result?.["capabilities"]).toHaveProperty("resources");
    started.resolve();
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let heard = "";
    while (!heard.includes("notifications/tools/list_changed")) heard += new TextDecoder().decode((await reader.read()).value);
    expect(await toolNames(surface)).toEqual(["read", "get_instructions", "small_plain", "slow_plain"]);
    exchange.leave.abort(new Error("left"));
  });

  test("[PT9] one that takes longer to start than any list may take is there at last, too", async () => {
    const clock = new ManualClock();
    const started = Promise.withResolvers<void>();
    await using under = passingSurface({ small: smallUpstream("legacy", { tools: { plain: {} } }) });
    let tries = 0;
    const open = async (upstream: string, options: PassageOpen) => {
      tries += 1;
      await started.promise;
      return under.passage.open(upstream, options);
    };
    await using surface = passingSurface({}, { passage: { ...under.passage, open }, options: { clock, timers: clock } });
    const [input, output] = [new Pipe(), new Pipe()];
    const served = surface.surface.serveStdio({ input, output });
    const said = (message: object) => input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    let heard = "";
    output.on("data", (chunk) => (heard += String(chunk)));
    const clientInfo = { name: "raw", version: "1" };
    said({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } });
    await waitUntil("it is started", () => tries === 1);
    clock.advance(5000);
    await waitUntil("the client is answered", () => heard.includes('"id":1'));
    said({ method: "notifications/initialized" });
    said({ id: 2, method: "tools/list" });
    await waitUntil("the list is answered", () => {
      clock.advance(1000);
      return heard.includes('"id":2');
    });
    expect(heard).not.toContain("plain");
    clock.advance(60_000);
    started.resolve();
    await waitUntil("its client hears", () => heard.includes("notifications/tools/list_changed"));
    await served.close();
  });

  test("[PT10] a list in pages comes whole, and one without an end is cut", async () => {
    let pages = 0;
    const more = (server: Server) =>
      server.setRequestHandler("resources/list", ({ params }) => {
        pages += 1;
        const page = Number(params?.cursor ?? "0");
        return { resources: [{ uri: `a://${page}`, name: "x" }], nextCursor: String(page + 1) };
      });
    await using surface = passingSurface({ small: smallUpstream("legacy", { tools: {}, capabilities: { resources: {} }, more }) });
    const { result } = await reply(await surface.surface.handle(modernRequest({ id: 1, method: "server/discover" }), context()));
    expect(result?.["capabilities"]).toHaveProperty("resources");
    const listed = await reply(await surface.surface.handle(modernRequest({ id: 1, method: "resources/list" }), context()));
    expect(listed.result?.["resources"]).toHaveLength(64);
    expect(pages).toBe(64);
  });

  test("[PT10] of a list of large pages no more is asked for than can be kept", async () => {
    let pages = 0;
    const more = (server: Server) =>
      server.setRequestHandler("resources/list", () => {
        pages += 1;
        return { resources: [{ uri: `a://${pages}`, name: "x".repeat(4_000_000) }], nextCursor: String(pages) };
      });
    await using surface = passingSurface({ small: smallUpstream("legacy", { tools: {}, capabilities: { resources: {} }, more }) });
    await reply(await surface.surface.handle(modernRequest({ id: 1, method: "resources/list" }), context()));
    expect(pages).toBe(5);
  });

  test("[PT11] arguments that an upstream wants in headers go there, and clients are not told", async () => {
    const inputSchema = { type: "object" as const, properties: { region: { type: "string", "x-mcp-header": "Region" } } };
    await using surface = passingSurface({ small: smallUpstream(MODERN, { tools: { deploy: { inputSchema } } }) });
    const listed = await reply(await surface.surface.handle(modernRequest({ id: 1, method: "tools/list" }), context()));
    expect(JSON.stringify(listed)).not.toContain("x-mcp-header");
    await reply(await surface.surface.handle(modernRequest(toolCall(2, "deploy", { region: "eu" })), context()));
    const call = surface.passage.sent.find(({ method }) => method === "tools/call");
    expect(call?.headers).toMatchObject({ "Mcp-Param-Region": "eu" });
  });

  test("[PT11] an argument may be called like that", () => {
    const schema = {
      type: "object",
      properties: { "x-mcp-header": { type: "string", "x-mcp-header": "A" }, b: { items: [{ "x-mcp-header": "B" }] } },
    };
    expect(withoutHeaderHints(schema)).toEqual({ type: "object", properties: { "x-mcp-header": { type: "string" }, b: { items: [{}] } } });
  });
});
