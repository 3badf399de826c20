import type { Transport } from "@modelcontextprotocol/client";
import { ProtocolError, type Server } from "@modelcontextprotocol/server";
import { describe, expect, test } from "vitest";
import type { PassedCall } from "../../../../../local-agent/mcp/pass-through/passage.ts";
import { clientOf, everything, passingSurface, type Speaks } from "../../../../support/passing-surface.ts";
import { said, smallUpstream, type SmallRun } from "../../../../support/small-upstream.ts";
import { context, MODERN, messages, modernRequest, reply, requestOf, toolCall } from "../../../../support/surface-under-test.ts";
import { waitUntil } from "../../../../support/wait-until.ts";

const ERAS = ["legacy", "modern"] as const;
const UPSTREAMS: readonly Speaks[] = ["legacy", MODERN];
const ALL = ERAS.flatMap((era) => UPSTREAMS.map((speaks) => ({ era, speaks })));

describe.each(ALL)("a call of a $era client to a $speaks upstream", ({ era, speaks }) => {
  test("[PT20] is answered with what the upstream says, whether or not it fits its schema", async () => {
    const result = {
      content: [
        { type: "audio", data: "AAAA", mimeType: "audio/wav" },
        { type: "resource_link", uri: "a://b", name: "b" },
      ],
      structuredContent: { wrong: true },
      isError: true,
      _meta: { "example.com/x": 1 },
    };
    const outputSchema = { type: "object" as const, properties: { right: { type: "number" } }, required: ["right"] };
    await using surface = passingSurface({ small: smallUpstream(speaks, { tools: { odd: { outputSchema, run: () => result } } }) });
    const answer = await reply(await surface.surface.handle(requestOf(era, toolCall(1, "odd")), context()));
    expect(answer.result).toMatchObject(result);
  });

  test("[PT21] fails with the upstream's error: code, message and data", async () => {
    const run = () => {
      throw new ProtocolError(-32077, "no such thing", { hint: "look elsewhere" });
    };
    await using surface = passingSurface({ small: smallUpstream(speaks, { tools: { odd: { run } } }) });
    const { error } = await reply(await surface.surface.handle(requestOf(era, toolCall(1, "odd")), context()));
    expect(error).toMatchObject({ code: -32077, data: { hint: "look elsewhere" } });
    expect(error?.message).toContain("no such thing");
  });

  test("[PT24] reports the upstream's progress under the client's own token", async () => {
    await using surface = passingSurface({ everything: everything(speaks) });
    const answer = await surface.surface.handle(requestOf(era, toolCall(1, "slow_lines", { lines: 3, intervalMs: 5 }, "mine")), context());
    const reports = (await messages(answer)).filter(({ method }) => method === "notifications/progress");
    expect(reports.map(({ params }) => params)).toEqual([1, 2, 3].map((n) => ({ progressToken: "mine", progress: n, message: `line ${n}` })));
    expect(surface.deltas).toEqual(["line 1\n", "line 2\n", "line 3\n"]);
  });

  test("[PT24] without a token nothing is reported, and a value that does not rise never is", async () => {
    const run: SmallRun = async (_args, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken;
      if (progressToken !== undefined)
        for (const progress of [2, 2, 1, 3]) await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress } });
      return said("done");
    };
    await using surface = passingSurface({ small: smallUpstream(speaks, { tools: { jumps: { run } } }) });
    const reports = async (token?: string) =>
      (await messages(await surface.surface.handle(requestOf(era, toolCall(1, "jumps", {}, token)), context()))).filter(
        ({ method }) => method !== undefined,
      );
    expect(await reports()).toEqual([]);
    expect((await reports("t")).map(({ params }) => params?.["progress"])).toEqual([2, 3]);
  });

  test("[PT26] that its client cancels is cancelled at the upstream", async () => {
    const began: AbortSignal[] = [];
    const run: SmallRun = (_args, { mcpReq }) => {
      began.push(mcpReq.signal);
      return new Promise(() => {});
    };
    await using surface = passingSurface({ small: smallUpstream(speaks, { tools: { hangs: { run } } }) });
    const exchange = context();
    const answer = await surface.surface.handle(requestOf(era, toolCall("c", "hangs")), exchange);
    const body = answer.response.text();
    await waitUntil("the upstream runs it", () => began.length === 1);
    if (era === "modern") exchange.leave.abort(new Error("left"));
    else await surface.surface.handle(requestOf("legacy", { method: "notifications/cancelled", params: { requestId: "c" } }), context());
    await waitUntil("the upstream was told", () => began[0]?.aborted === true);
    await body;
    await waitUntil("the call is over", () => surface.ended.length === 1);
    expect(surface.ended.map(({ state }) => state)).toEqual(["cancelled"]);
  });

  test("[PT26] lives no longer than any may, and nor does a prompt, whatever progress is reported", async () => {
    const more = (server: Server) =>
      server.setRequestHandler("prompts/get", async (_request, { mcpReq }) => {
        const progressToken = mcpReq._meta?.progressToken ?? "";
        for (let progress = 1; !mcpReq.signal.aborted; progress++) {
          await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress } });
          await new Promise((later) => setTimeout(later, 20));
        }
        return { messages: [] };
      });
    const list = (server: Server) => server.setRequestHandler("prompts/list", () => ({ prompts: [{ name: "endless" }] }));
    const small = smallUpstream(speaks, { tools: {}, capabilities: { prompts: {} }, more: (server) => [more(server), list(server)] });
    await using surface = passingSurface({ small }, { options: { lifeMs: 200 } });
    const { error } = await reply(
      await surface.surface.handle(requestOf(era, { id: 1, method: "prompts/get", params: { name: "endless" } }), context()),
    );
    expect(error?.message).toContain("small");
  });

  test("[PT25] brings the upstream's log lines from the level that the client named", async () => {
    const run: SmallRun = async (_args, { mcpReq }) => {
      for (const level of ["debug", "warning"] as const) await mcpReq.log(level, `at ${level}`);
      return said("done");
    };
    await using surface = passingSurface({ small: smallUpstream(speaks, { tools: { talks: { run } }, capabilities: { logging: {} } }) });
    const lines = async (logLevel?: string): Promise<unknown[]> => {
      const call = toolCall(1, "talks");
      const _meta = logLevel === undefined ? {} : { "io.modelcontextprotocol/logLevel": logLevel };
      const sent = await messages(await surface.surface.handle(requestOf(era, { ...call, params: { ...call.params, _meta } }), context()));
      return sent.filter(({ method }) => method === "notifications/message").map(({ params }) => params?.["data"]);
    };
    const all = ["at debug", "at warning"];
    expect(await lines()).toEqual(era === "legacy" ? ["at warning"] : []);
    expect(await lines("debug")).toEqual(era === "legacy" ? ["at warning"] : all);
    expect(await lines("error")).toEqual(era === "legacy" ? ["at warning"] : []);
  });
});

describe("what is said of a request meanwhile", () => {
  test.each(["tools/call", "prompts/get"])("[PT24] [PT25] of a %s is not kept for a client that does not read", async (method) => {
    const over = Promise.withResolvers<void>();
    const flood = async (server: Server): Promise<{ content: []; messages: [] }> => {
      for (let line = 0; line < 1000; line++) await server.sendLoggingMessage({ level: "error", data: "x".repeat(1000) });
      over.resolve();
      return { content: [], messages: [] };
    };
    const more = (server: Server) => {
      server.setRequestHandler("prompts/list", () => ({ prompts: [{ name: "floods" }] }));
      server.setRequestHandler("prompts/get", () => flood(server));
    };
    const run: SmallRun = (_args, _context, server) => flood(server);
    const small = smallUpstream("legacy", { tools: { floods: { run } }, capabilities: { prompts: {}, logging: {} }, more });
    await using surface = passingSurface({ small });
    const params = { name: "floods", _meta: { "io.modelcontextprotocol/logLevel": "debug" } };
    const { response } = await surface.surface.handle(requestOf("modern", { id: 1, method, params }), context());
    await over.promise;
    const said = await response.text();
    expect(said).toContain('"id":1');
    expect(said.length).toBeLessThan(300_000);
  });
});

describe("a call", () => {
  test("[PT24] reports also what arrives in one piece with the answer", async () => {
    await using surface = passingSurface({ abrupt: { transport: abruptTransport, speaks: "legacy" } });
    const answer = await surface.surface.handle(requestOf("legacy", toolCall(1, "jump", {}, "t")), context());
    const sent = await messages(answer);
    expect(sent.map(({ method, params }) => [method, params?.["progress"]])).toEqual([
      ["notifications/progress", 1],
      [undefined, undefined],
    ]);
  });

  test("[PT21] that needs what its client did not declare is refused with status 400 in modern", async () => {
    await using surface = passingSurface({ everything: everything(MODERN) });
    const answer = await surface.surface.handle(modernRequest(toolCall(1, "test_missing_capability")), context());
    expect(answer.response.status).toBe(400);
    expect((await reply(answer)).error).toMatchObject({ code: -32021, data: { requiredCapabilities: { sampling: {} } } });
  });

  test("[PT22] is sent once it was allowed, with the arguments that were shown", async () => {
    const asked: PassedCall[] = [];
    const leave = Promise.withResolvers<void>();
    const beforeCall = async (call: PassedCall) => {
      asked.push(call);
      await leave.promise;
      return { allowed: true } as const;
    };
    const called: string[] = [];
    await using surface = passingSurface({ everything: everything("legacy", (tool) => called.push(tool)) }, { passage: { beforeCall } });
    const answer = await surface.surface.handle(modernRequest(toolCall(1, "echo", { text: "hi" })), context());
    const done = reply(answer);
    await waitUntil("somebody is asked", () => asked.length === 1);
    expect(called).toEqual([]);
    expect(asked[0]).toMatchObject({ upstream: "everything", original: "echo", displayed: "echo", args: { text: "hi" }, principalId: "grant:1" });
    expect(asked[0]?.callId).toBe(surface.begun[0]?.callId);
    leave.resolve();
    expect((await done).result?.["content"]).toEqual([{ type: "text", text: "hi" }]);
    expect(called).toEqual(["echo"]);
  });

  test.each(ALL)("[PT22] [PT26] of a $era client brings a $speaks upstream no member that was not shown, a task neither", async ({ era, speaks }) => {
    await using surface = passingSurface({ everything: everything(speaks) });
    const send = (method: string, named: string, params: Record<string, unknown>) => {
      const message = { id: 1, method, params: { ...params, task: { ttl: 60_000 }, extra: 1 } };
      return surface.surface.handle(requestOf(era, message, { "mcp-name": named }), context()).then(reply);
    };
    expect((await send("tools/call", "echo", { name: "echo", arguments: { text: "hi" } })).result?.["content"]).toEqual([
      { type: "text", text: "hi" },
    ]);
    expect((await send("resources/read", "test://static-text", { uri: "test://static-text" })).result?.["contents"]).toHaveLength(1);
    const passed = surface.passage.sent.filter(({ method }) => method === "tools/call" || method === "resources/read");
    expect(passed.map(({ params: { _meta, ...params } }) => params)).toEqual([
      { name: "echo", arguments: { text: "hi" } },
      { uri: "test://static-text" },
    ]);
  });

  test("[PT22] that was refused is not sent, and its client is told why", async () => {
    const called: string[] = [];
    const beforeCall = () => Promise.resolve({ allowed: false, text: "The person said no." } as const);
    await using surface = passingSurface({ everything: everything(MODERN, (tool) => called.push(tool)) }, { passage: { beforeCall } });
    const { result } = await reply(await surface.surface.handle(modernRequest(toolCall(1, "echo", { text: "hi" })), context()));
    expect(result).toMatchObject({ isError: true, content: [{ type: "text", text: "The person said no." }] });
    expect(called).toEqual([]);
  });

  test("[PT22] is not sent when its client left while somebody was asked", async () => {
    const called: string[] = [];
    const exchange = context();
    const beforeCall = async () => {
      exchange.leave.abort(new Error("left"));
      return { allowed: true } as const;
    };
    await using surface = passingSurface({ everything: everything("legacy", (tool) => called.push(tool)) }, { passage: { beforeCall } });
    await reply(await surface.surface.handle(requestOf("legacy", toolCall(1, "echo", { text: "hi" })), exchange));
    expect(called).toEqual([]);
  });

  test.each(UPSTREAMS)("[PT22] to a %s upstream is asked about once, through all its rounds", async (speaks) => {
    let asked = 0;
    const beforeCall = async () => {
      asked += 1;
      return { allowed: true } as const;
    };
    await using surface = passingSurface({ everything: everything(speaks) }, { passage: { beforeCall } });
    const form = () => ({ action: "accept" as const, content: { name: "ada", color: "red" } });
    await using connected = await clientOf(surface.surface, { era: "modern", form });
    await connected.client.callTool({ name: "test_input_required_result_multi_round", arguments: {} });
    expect(asked).toBe(1);
  });

  test.each(UPSTREAMS)("[PT22] so is a resource of a %s upstream before it is read", async (speaks) => {
    const asked: PassedCall[] = [];
    const answers = [{ allowed: false, text: "The person said no." }, { allowed: true }] as const;
    const beforeCall = (call: PassedCall) => Promise.resolve(answers[asked.push(call) - 1] ?? answers[0]);
    await using surface = passingSurface({ everything: everything(speaks) }, { passage: { beforeCall } });
    await using connected = await clientOf(surface.surface, { era: "modern" });
    const [resource] = (await connected.client.listResources()).resources;
    const uri = resource?.uri ?? "";
    await expect(connected.client.readResource({ uri })).rejects.toThrow("The person said no.");
    expect(surface.passage.sent.filter(({ method }) => method === "resources/read")).toEqual([]);
    expect(asked[0]).toMatchObject({ upstream: "everything", uri, args: { uri }, principalId: "grant:1" });
    expect((await connected.client.readResource({ uri })).contents).toHaveLength(1);
    expect(asked).toHaveLength(2);
  });

  test("[PT23] is told to the observer by the name the client used, with what it answered", async () => {
    await using surface = passingSurface({ everything: everything("legacy"), other: smallUpstream("legacy", { tools: {} }) });
    await reply(await surface.surface.handle(modernRequest(toolCall(1, "everything_test_multiple_content_types")), context()));
    expect(surface.begun).toMatchObject([{ tool: "everything_test_multiple_content_types", principalId: "grant:1" }]);
    expect(surface.ended).toMatchObject([
      { state: "ok", outcome: { content: [{ type: "text" }, { type: "image" }, { type: "text", text: "[resource]" }] } },
    ]);
  });

  test("[PT27] of a tool of ours is as it was, and no upstream is needed for it", async () => {
    await using surface = passingSurface({ everything: everything("legacy") });
    const { result } = await reply(await surface.surface.handle(modernRequest(toolCall(1, "read")), context()));
    expect(result?.["content"]).toEqual([{ type: "text", text: "ours" }]);
    expect(surface.begun.map(({ tool }) => tool)).toEqual(["read"]);
    expect(surface.passage.opened).toEqual([]);
  });

  test("[PT28] of one client shares no connection with another's", async () => {
    const heard: Record<string, unknown[]> = { "grant:1": [], "grant:2": [] };
    const meet = Promise.withResolvers<void>();
    let here = 0;
    const run: SmallRun = async ({ who }, _context, server) => {
      here += 1;
      if (here === 2) meet.resolve();
      await meet.promise;
      await server.sendLoggingMessage({ level: "info", data: `for ${String(who)}` });
      return said("done");
    };
    await using surface = passingSurface({ small: smallUpstream("legacy", { tools: { talks: { run } }, capabilities: { logging: {} } }) });
    await Promise.all(
      Object.keys(heard).map(async (who) => {
        const sent = await messages(await surface.surface.handle(requestOf("legacy", toolCall(1, "talks", { who })), context(who)));
        heard[who] = sent.filter(({ method }) => method === "notifications/message").map(({ params }) => params?.["data"]);
      }),
    );
    expect(heard).toEqual({ "grant:1": ["for grant:1"], "grant:2": ["for grant:2"] });
    expect(surface.passage.opened).toEqual(["small", "small"]);
  });
});

/** A legacy server that answers without a pause between its messages. */
function abruptTransport(): Transport {
  const results: Readonly<Record<string, object>> = {
    initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "abrupt", version: "1" } },
    "tools/list": { tools: [{ name: "jump", inputSchema: { type: "object" } }] },
    "tools/call": said("done"),
  };
  const transport: Transport = {
    start: () => Promise.resolve(),
    close: () => Promise.resolve(transport.onclose?.()),
    async send(message) {
      if (!("method" in message) || !("id" in message)) return;
      const { id, method } = message;
      const params = { progressToken: id, progress: 1 };
      if (method === "tools/call") transport.onmessage?.({ jsonrpc: "2.0", method: "notifications/progress", params });
      transport.onmessage?.({ jsonrpc: "2.0", id, result: { ...results[method] } });
    },
  };
  return transport;
}
