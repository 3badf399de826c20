import { describe, expect, test } from "vitest";
import { text, untilAborted } from "../../../support/scripted-tools.ts";
import {
  context,
  legacyRequest,
  messages,
  MODERN,
  modernRequest,
  reply,
  requestOf,
  surfaceUnderTest,
  toolCall,
} from "../../../support/surface-under-test.ts";

const ERAS = ["legacy", "modern"] as const;
const echo = { echo: (call: { args: Record<string, unknown> }) => text(JSON.stringify(call.args)) } as never;
const { surface } = surfaceUnderTest({ ...(echo as object) });
const serve = (request: Request, id?: string) => surface.handle(request, context(id));

test("[MC1] answers a discover probe and then legacy traffic of the same client consistently", async () => {
  const discovered = await reply(await serve(modernRequest({ id: 1, method: "server/discover" })));
  expect(discovered.result).toMatchObject({ supportedVersions: [MODERN], resultType: "complete" });
  const initialize = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } };
  const initialized = await reply(await serve(legacyRequest({ id: 2, method: "initialize", params: initialize })));
  expect(initialized.result).toMatchObject({ protocolVersion: "2025-11-25", serverInfo: { name: "pimcp" }, instructions: "operating prompt" });
});

test.each(["2024-10-07", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])(
  "[MC1] initialize answers in version %s",
  async (protocolVersion) => {
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: "c", version: "1" } };
    expect((await reply(await serve(legacyRequest({ id: 2, method: "initialize", params })))).result).toMatchObject({ protocolVersion });
  },
);

test("[MC2] serves a stray session id like none and never mints one", async () => {
  const answer = await serve(legacyRequest(toolCall(1, "echo", { text: "hi" }), { "mcp-session-id": "stale", "mcp-protocol-version": "2025-06-18" }));
  expect(answer.response.status).toBe(200);
  expect(answer.response.headers.get("mcp-session-id")).toBeNull();
  expect((await reply(answer)).result).toMatchObject({ content: [{ text: '{"text":"hi"}' }] });
});

test("[MC3] lists tools for a legacy client that never initialized", async () => {
  const listed = await reply(await serve(legacyRequest({ id: 1, method: "tools/list" })));
  expect(listed.result).toMatchObject({ tools: [{ name: "echo" }, { name: "get_instructions" }] });
});

test("[MC4] refuses GET and names the methods it takes", async () => {
  const { response } = await serve(new Request("http://relay.test/mcp", { headers: { accept: "text/event-stream" } }));
  expect([response.status, response.headers.get("allow")]).toEqual([405, "POST, DELETE"]);
});

test("[MC5] accepts DELETE, with a session id and without", async () => {
  for (const headers of [{}, { "mcp-session-id": "x" }]) {
    const { response } = await serve(new Request("http://relay.test/mcp", { method: "DELETE", headers: headers as Record<string, string> }));
    expect(response.status).toBe(204);
  }
});

describe("bad bodies", () => {
  const post = (body: string, type = "application/json") =>
    serve(
      new Request("http://relay.test/mcp", {
        method: "POST",
        headers: { "content-type": type, accept: "application/json, text/event-stream" },
        body,
      }),
    );

  test.each([
    ["", -32700],
    ["{", -32700],
    ["\u0000", -32700],
    ["[]", -32600],
    ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600],
    ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600],
    ['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600],
    ['{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600],
    ['{"jsonrpc":"2.0","id":1}', -32600],
    ["null", -32600],
    ['"text"', -32600],
  ])("[MC6] answers %j with 400 and %d", async (body, code) => {
    const answer = await post(body);
    expect(answer.response.status).toBe(400);
    expect((await reply(answer)).error?.code).toBe(code);
  });

  test("[MC7] answers a body above 4 MiB with 413 and a JSON-RPC error", async () => {
    const answer = await post(JSON.stringify({ jsonrpc: "2.0", ...toolCall(1, "echo", { text: "x".repeat(4 * 1024 * 1024) }) }));
    expect(answer.response.status).toBe(413);
    expect((await reply(answer)).error).toMatchObject({ code: -32600, message: expect.stringContaining("4194304") });
  });

  test.each(ERAS)("[MC7] delivers a 1 MiB argument whole (%s)", async (era) => {
    const big = "ä".repeat(512 * 1024);
    const answer = await reply(await serve(requestOf(era, toolCall(1, "echo", { text: big }))));
    expect(answer.result).toMatchObject({ content: [{ text: JSON.stringify({ text: big }) }] });
  });

  test.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""])(
    "[MC20] refuses the content type %j",
    async (type) => {
      const answer = await post(JSON.stringify({ jsonrpc: "2.0", ...toolCall(1, "echo") }), type);
      expect(answer.response.status).toBe(415);
    },
  );
});

test.each(ERAS)("[MC8] keeps every answer out of caches and buffers (%s)", async (era) => {
  for (const message of [toolCall(1, "echo"), { id: 2, method: "tools/list" }, { method: "notifications/initialized" }]) {
    const { response } = await serve(requestOf(era, message));
    expect([response.headers.get("cache-control"), response.headers.get("x-accel-buffering"), response.headers.get("connection")]).toEqual([
      "no-store",
      "no",
      null,
    ]);
    await response.body?.cancel();
  }
});

test.each(ERAS)("[MC11] gives last words to tool calls only (%s)", async (era) => {
  const call = await serve(requestOf(era, toolCall("", "echo")));
  expect(call.lastWords).toMatch(/^\n\nevent: message\ndata: .*"id":"".*\n\n$/);
  expect(call.lastWords).toContain("may have run");
  const list = await serve(requestOf(era, { id: 1, method: "tools/list" }));
  expect([list.lastWords, list.response.headers.get("content-type")]).toEqual([null, "application/json"]);
});

test.each(ERAS)("[MC16] passes text, images, structured content and isError on (%s)", async (era) => {
  const outcome = {
    content: [
      { type: "text", text: "exit 3" },
      { type: "image", data: "aGk=", mimeType: "image/png" },
    ],
    structuredContent: { exit_code: 3 },
    isError: true,
  } as const;
  const { surface: own } = surfaceUnderTest({ fail: () => outcome, odd: () => ({ ...text("x"), structuredContent: ["not", "an", "object"] }) });
  expect((await reply(await own.handle(requestOf(era, toolCall(1, "fail")), context()))).result).toMatchObject(outcome);
  expect((await reply(await own.handle(requestOf(era, toolCall(1, "odd")), context()))).result).not.toHaveProperty("structuredContent");
});

describe("ids", () => {
  test.each(ERAS.flatMap((era) => [0, "", "0", "ünï", Number.MAX_SAFE_INTEGER].map((id) => [era, id] as const)))(
    "[MC17] %s answers the id %j",
    async (era, id) => {
      expect((await reply(await serve(requestOf(era, toolCall(id, "echo"))))).id).toBe(id);
      expect((await reply(await serve(requestOf(era, { id, method: "tools/list" })))).id).toBe(id);
    },
  );

  test.each(ERAS)("[MC17] gives two clients with one id their own answers (%s)", async (era) => {
    let release = (): void => {};
    const first = new Promise<void>((resolve) => (release = resolve));
    const { surface: own } = surfaceUnderTest({
      say: async (call) => {
        if (call.args["text"] === "slow") await first;
        return text(JSON.stringify(call.args["text"]));
      },
    });
    const slow = await own.handle(requestOf(era, toolCall(7, "say", { text: "slow" })), context("grant:a"));
    const quick = await own.handle(requestOf(era, toolCall(7, "say", { text: "quick" })), context("grant:b"));
    expect((await reply(quick)).result).toMatchObject({ content: [{ text: '"quick"' }] });
    release();
    expect((await reply(slow)).result).toMatchObject({ content: [{ text: '"slow"' }] });
  });
});

describe("what a revision does not know", () => {
  test("[MC18] is 200 with -32601 in legacy and 404 with -32601 in modern", async () => {
    const legacy = await serve(legacyRequest({ id: 1, method: "no/such" }));
    const modern = await serve(modernRequest({ id: 1, method: "no/such" }));
    expect([legacy.response.status, (await reply(legacy)).error?.code]).toEqual([200, -32601]);
    expect([modern.response.status, (await reply(modern)).error?.code]).toEqual([404, -32601]);
  });

  test.each(ERAS)("[MC18] names an unknown tool and an unknown prompt as invalid parameters (%s)", async (era) => {
    const tool = await reply(await serve(requestOf(era, toolCall(1, "nope"))));
    expect(tool.error).toMatchObject({ code: -32602, message: expect.stringContaining("nope") });
    const prompt = await reply(await serve(requestOf(era, { id: 1, method: "prompts/get", params: { name: "nope" } })));
    expect(prompt.error?.code).toBe(-32602);
  });

  test.each([
    ["no Mcp-Method", (headers: Headers) => headers.delete("mcp-method")],
    ["another Mcp-Method", (headers: Headers) => headers.set("mcp-method", "tools/list")],
    ["another Mcp-Name", (headers: Headers) => headers.set("mcp-name", "other")],
    ["another version", (headers: Headers) => headers.set("mcp-protocol-version", "2025-11-25")],
  ])("[MC18] a modern call with %s is 400 with -32020, and the next one works", async (_, spoil) => {
    const request = modernRequest(toolCall(5, "echo"));
    spoil(request.headers);
    const answer = await serve(request);
    expect([answer.response.status, await reply(answer)]).toMatchObject([400, { id: 5, error: { code: -32020 } }]);
    expect((await serve(modernRequest(toolCall(6, "echo")))).response.status).toBe(200);
  });

  test("[MC18] an unknown modern version is refused with the versions that are served", async () => {
    const request = modernRequest(
      { id: 1, method: "tools/list", params: { _meta: { "io.modelcontextprotocol/protocolVersion": "2099-01-01" } } },
      { "mcp-protocol-version": "2099-01-01" },
    );
    expect((await reply(await serve(request))).error).toMatchObject({ code: -32022, data: { supported: [MODERN] } });
  });

  test("[MC19] ping and logging/setLevel belong to legacy", async () => {
    const level = { level: "debug" };
    expect((await reply(await serve(legacyRequest({ id: 1, method: "ping" })))).result).toEqual({});
    expect((await reply(await serve(legacyRequest({ id: 1, method: "logging/setLevel", params: level })))).result).toEqual({});
    expect((await reply(await serve(modernRequest({ id: 1, method: "ping" })))).error?.code).toBe(-32601);
    expect((await reply(await serve(modernRequest({ id: 1, method: "logging/setLevel", params: level })))).error?.code).toBe(-32601);
  });
});

describe("the observer", () => {
  test("[MC21] [MC22] hears of a broken source as a failed call; the error's text stays inside", async () => {
    const { surface: own, ended } = surfaceUnderTest({
      broken: () => {
        throw new Error("secret path");
      },
    });
    const answer = await reply(await own.handle(legacyRequest(toolCall(1, "broken")), context()));
    expect(answer.result).toMatchObject({ isError: true });
    expect(JSON.stringify(answer)).not.toContain("secret path");
    expect(ended.map((call) => call.state)).toEqual(["failed"]);
  });

  test("[MC22] hears of each call once, with its arguments, its client and its end", async () => {
    const {
      surface: own,
      begun,
      ended,
      tools,
    } = surfaceUnderTest({ ok: () => text("fine"), bad: () => ({ ...text("no"), isError: true }), wait: untilAborted });
    await reply(await own.handle(modernRequest(toolCall(1, "ok", { text: "a" })), context("grant:9")));
    await reply(await own.handle(legacyRequest(toolCall(1, "bad")), context("grant:9")));
    const leaving = context("grant:9");
    const waiting = await own.handle(legacyRequest(toolCall(1, "wait")), leaving);
    leaving.end.abort(new Error("over"));
    await messages(waiting);
    expect(begun.map(({ tool, client, principalId }) => [tool, client, principalId])).toEqual(
      ["ok", "bad", "wait"].map((tool) => [tool, "client of grant:9", "grant:9"]),
    );
    expect(begun[0]?.args).toEqual({ text: "a" });
    expect(ended.map((call) => call.state)).toEqual(["ok", "failed", "cancelled"]);
    expect(new Set(begun.map((call) => call.callId)).size).toBe(3);
    expect(begun.map((call) => call.callId)).toEqual(ended.map((call) => call.callId));
    expect(tools.seen.map((call) => call.callId)).toEqual(begun.map((call) => call.callId));
  });
});
