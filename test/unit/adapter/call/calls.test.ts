import type { ServerContext } from "@modelcontextprotocol/server";
import { ProtocolError, UrlElicitationRequiredError } from "@modelcontextprotocol/server";
import { describe, expect, test } from "vitest";
import { isJsonObject } from "../../../../shared/json.ts";
import type { PlayedServer } from "../../../support/adapter-under-test.ts";
import { adapterCall, adapterUnderTest, remote, textOf } from "../../../support/adapter-under-test.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { memoryMetadataStore } from "../../../support/memory-metadata-store.ts";

const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });

/** A server with one tool, connected. */
async function connected(tool: PlayedServer["tools"][string], scene: Parameters<typeof adapterUnderTest>[1] = {}, more: Partial<PlayedServer> = {}) {
  const under = await adapterUnderTest({ box: { tools: { work: tool }, ...more } }, scene);
  await under.mcp({ connect: "box" });
  return under;
}

describe("a call", () => {
  test.each([
    ["an object", { q: 'a "ü" b' }],
    ["JSON text", JSON.stringify({ q: 'a "ü" b' })],
    ["quoted JSON text", JSON.stringify(JSON.stringify({ q: 'a "ü" b' }))],
  ])("[CL1] [CL3] reaches the upstream and the person's question equal, given %s", async (_spelling, args) => {
    const under = await connected({}, { approve: () => ({ decision: "allow", remember: "no" }) }, { definition: { approveTools: true } });
    await under.mcp({ tool: "box_work", args });
    expect(under.received).toEqual([{ server: "box", tool: "work", args: { q: 'a "ü" b' } }]);
    expect(under.asked.map((request) => request.args)).toEqual([{ q: 'a "ü" b' }]);
  });

  test("[CL2] with arguments that are none is not sent", async () => {
    const under = await connected({});
    const result = await under.mcp({ tool: "box_work", args: "[1]" });
    expect(textOf(result)).toContain('"args" must be a JSON object, got a list');
    expect(result).toMatchObject({ isError: true, details: { error: "invalid_request" } });
    expect(under.received).toEqual([]);
  });

  test("[CL2] [CL3] [CL4] takes what a text says within the same bounds, and as unchangeable", async () => {
    const inputSchema = { type: "object" as const, properties: { list: { type: "array" } } };
    const under = await connected(
      { inputSchema },
      { approve: () => ({ decision: "allow", remember: "no" }) },
      { definition: { approveTools: true } },
    );
    const result = await under.mcp({ tool: "box_work", args: { list: `${"[".repeat(200)}${"]".repeat(200)}` } });
    expect(textOf(result)).toContain("100 levels deep");
    await under.mcp({ tool: "box_work", args: { list: '[{"a":1}]' } });
    const [list] = under.asked.map(({ args }) => args["list"]);
    expect([list, Object.isFrozen(list)]).toEqual([[{ a: 1 }], true]);
    expect(under.received).toEqual([{ server: "box", tool: "work", args: { list: [{ a: 1 }] } }]);
  });

  test("[CL7] that its own schema refuses is not sent; the answer names what is wrong and what is expected", async () => {
    const inputSchema = { type: "object" as const, properties: { q: { type: "string" }, n: { type: "integer" } }, required: ["q"] };
    const under = await connected({ inputSchema });
    const result = await under.mcp({ tool: "box_work", args: { n: "many" } });
    expect(textOf(result)).toMatch(/required property 'q'[^]*"n" must be integer[^]*Expected: { q: string; n\?: number; }/);
    expect(result).toMatchObject({ isError: true, details: { error: "call_failed", server: "box" } });
    expect(under.received).toEqual([]);
    expect(under.asked).toEqual([]);
  });

  test.each([{ kind: "proxy" }, { kind: "direct" }])(
    "[CL9] of a tool that runs as a task only is refused before anything is sent ($kind)",
    async ({ kind }) => {
      const under = await connected(
        { execution: { taskSupport: "required" } },
        {},
        { definition: { approveTools: true, directTools: kind === "direct" } },
      );
      const result = await (kind === "proxy" ? under.mcp({ tool: "box_work" }) : under.adapter.direct("box_work", adapterCall({})));
      expect(textOf(result)).toMatch(/"box_work" runs only as an MCP task.*was not called/);
      expect(result).toMatchObject({ isError: true, details: { error: "call_failed" } });
      expect([under.received, under.asked]).toEqual([[], []]);
    },
  );

  test("[CL9] of a tool that may run as a task is made", async () => {
    const under = await connected({ execution: { taskSupport: "optional" } });
    expect(textOf(await under.mcp({ tool: "box_work" }))).toBe("ran work");
  });

  test("[CL4] gets what was written as text where its schema wants a list", async () => {
    const inputSchema = { type: "object" as const, properties: { items: { type: ["array", "null"] }, any: { type: ["string", "array"] } } };
    const under = await connected({ inputSchema });
    await under.mcp({ tool: "box_work", args: { items: "[1,2]", any: "[1,2]" } });
    expect(under.received[0]?.args).toEqual({ items: [1, 2], any: "[1,2]" });
  });

  test("[CL8] is made with the tool as it is now, when it was known from an earlier run only", async () => {
    const metadata = memoryMetadataStore();
    const played: PlayedServer = { tools: { work: { inputSchema: { type: "object", required: ["old"] } }, gone: {} } };
    const first = await adapterUnderTest({ box: played }, { metadata });
    await first.mcp({ connect: "box" });
    await first.adapter.close();
    played.tools = { work: { inputSchema: { type: "object", required: ["now"] } } };
    const under = await adapterUnderTest({ box: played }, { metadata });
    expect(textOf(await under.mcp({ tool: "box_work", args: { now: 1 } }))).toBe("ran work");
    const gone = await under.mcp({ tool: "box_gone" });
    expect(gone.details["error"]).toMatch(/^tool_not_found/);
    expect(under.received).toHaveLength(1);
  });

  test("[CL8] costs a server that was known from an earlier run one connection and one listing, however many come at once", async () => {
    const metadata = memoryMetadataStore();
    const first = await connected({}, { metadata });
    await first.adapter.close();
    let listings = 0;
    let openings = 0;
    const played = {
      tools: {},
      get opening() {
        openings += 1;
        return Promise.resolve();
      },
    };
    Object.defineProperty(played, "tools", { get: () => ({ work: {}, counted: { title: String((listings += 1)) } }) });
    const under = await adapterUnderTest({ box: played }, { metadata });
    const results = await Promise.all(Array.from({ length: 50 }, () => under.mcp({ tool: "box_work" })));
    expect(results.map(textOf)).toEqual(Array.from({ length: 50 }, () => "ran work"));
    expect(openings).toBe(1);
    // The server looks at its tools once for each listing and once for each call.
    expect(listings).toBe(1 + 50);
  });

  test("[CL13] that the upstream calls an error is one here", async () => {
    const under = await connected({ run: () => ({ ...text("no such repository"), isError: true }) });
    const result = await under.mcp({ tool: "box_work" });
    expect(textOf(result)).toBe("Error: no such repository");
    expect(result).toMatchObject({ isError: true, details: { error: "tool_error" } });
  });

  test.each([
    ["2020-12", {}],
    ["draft 7", { $schema: "http://json-schema.org/draft-07/schema#" }],
  ])("[CL14] whose result breaks its own output schema (%s) says so, and shows it", async (_dialect, stamp) => {
    const outputSchema = { ...stamp, type: "object" as const, properties: { n: { type: "integer" } }, required: ["n"] };
    let n: unknown = 1;
    const under = await connected({ outputSchema, run: () => ({ ...text("shown"), structuredContent: { n } }) });
    expect((await under.mcp({ tool: "box_work" })).isError).toBe(false);
    n = "one";
    const wrong = await under.mcp({ tool: "box_work" });
    expect(textOf(wrong)).toMatch(/the tool ran, but its result does not fit[^]*"n" must be integer[^]*shown/);
    expect(wrong).toMatchObject({ isError: true, details: { error: "call_failed" } });
  });

  test("[CL11] shows structured content alone, and beside a text that says less", async () => {
    const results = [
      { content: [], structuredContent: { a: 1 } },
      { ...text("ok"), structuredContent: { m: "pong" } },
    ];
    const under = await connected({ run: () => results.shift() ?? text("") }, {}, { definition: { directTools: true } });
    expect(textOf(await under.mcp({ tool: "box_work" }))).toContain('"a": 1');
    const direct = await under.adapter.direct("box_work", adapterCall({}));
    expect(textOf(direct)).toBe('ok\n{\n  "m": "pong"\n}');
  });

  test("[CL15] tells the host what the upstream says of its progress", async () => {
    const under = await connected({
      run: async (_args, context) => {
        const progressToken = context.mcpReq._meta?.progressToken;
        if (progressToken !== undefined)
          await context.mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress: 1, total: 2, message: "half" } });
        return text("done");
      },
    });
    const said: string[] = [];
    await under.mcp({ tool: "box_work" }, { onProgress: (line) => said.push(line) });
    expect(said).toEqual(["half (1/2)"]);
  });

  test("[CL16] that is cancelled ends at once, and the upstream is told", async () => {
    const told = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const under = await connected({
      run: (_args, context) => {
        context.mcpReq.signal.addEventListener("abort", () => told.resolve());
        begun.resolve();
        return new Promise(() => {});
      },
    });
    const stop = new AbortController();
    const call = under.mcp({ tool: "box_work" }, { signal: stop.signal });
    await begun.promise;
    stop.abort();
    expect(await call).toMatchObject({ isError: true, details: { error: "aborted" } });
    await told.promise;
  });

  test("[CL17] that takes too long says which limit it met", async () => {
    const under = await connected({ run: () => new Promise(() => {}) }, {}, { definition: { requestTimeoutMs: 60 } });
    const result = await under.mcp({ tool: "box_work" });
    expect(textOf(result)).toMatch(/^Failed to call tool: .*60 ms.*"requestTimeoutMs".*"box" may still be working/);
    expect(result.details["error"]).toBe("call_failed");
  });

  test("[CL18] that never gets further than progress is ended after an hour", async () => {
    const timers = new ManualClock();
    const begun = Promise.withResolvers<ServerContext>();
    const told = Promise.withResolvers<void>();
    const run = (_args: unknown, context: ServerContext) => {
      context.mcpReq.signal.addEventListener("abort", () => told.resolve());
      begun.resolve(context);
      return new Promise<never>(() => {});
    };
    const under = await connected({ run }, { timers });
    const call = under.mcp({ tool: "box_work" });
    const { mcpReq } = await begun.promise;
    for (let progress = 0; progress < 72; progress += 1) {
      const progressToken = mcpReq._meta?.progressToken ?? "";
      if (!mcpReq.signal.aborted) await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress } });
      timers.advance(50_000);
    }
    expect(textOf(await call)).toContain("went on reporting progress and did not end");
    await told.promise;
  });

  test("[CL30] that an upstream refuses says how", async () => {
    const under = await connected({ run: () => Promise.reject(new ProtocolError(-32_602, "no such thing")) });
    expect(textOf(await under.mcp({ tool: "box_work" }))).toMatch(/^Failed to call tool: .*no such thing.*-32602/);
  });

  test("[CL30] that needs a link opened first names the link, and no other kind of address", async () => {
    const asked = (url: string) => ({ mode: "url" as const, message: "Log in", elicitationId: url, url });
    const under = await connected({
      run: () => Promise.reject(new UrlElicitationRequiredError([asked("https://example.com/login"), asked("javascript:alert(1)")])),
    });
    const result = await under.mcp({ tool: "box_work" });
    expect(textOf(result)).toContain("- Log in https://example.com/login");
    expect(textOf(result)).not.toContain("javascript");
    expect(result.details).toMatchObject({ error: "url_elicitation_required" });
  });

  test("[CL31] that fails says in its text what its code says", async () => {
    const played: Record<string, PlayedServer> = {
      box: { tools: { work: {}, same: {} }, definition: { approveTools: ["work"] } },
      other: { tools: { same: {} } },
      down: { tools: {}, down: "no such program" },
      off: { tools: {}, state: "disabled" },
    };
    const under = await adapterUnderTest(played, { approve: () => ({ decision: "deny", because: "nobody", text: "" }) });
    for (const server of ["box", "other", "down"]) await under.mcp({ connect: server });
    const calls: Record<string, object> = {
      approval_required: { tool: "box_work" },
      ambiguous_tool: { tool: "same" },
      server_backoff: { tool: "down_x" },
      server_disabled: { tool: "off_x" },
      server_not_found: { tool: "x", server: "nowhere" },
      native_tool: { tool: "bash" },
      tool_not_found: { tool: "nothing" },
      connect_failed: { connect: "down" },
      not_found: { server: "nowhere" },
      no_instructions: { instructions: "box" },
      empty_query: { search: "" },
      invalid_pattern: { search: "(", regex: true },
      query_too_long: { search: "x".repeat(300), regex: true },
    };
    const words: Record<string, RegExp> = {
      approval_required: /needs the person's approval.*did not run/,
      ambiguous_tool: /could be box_same .*other_same.*Nothing was called/,
      server_backoff: /failed \d+ s ago: .*no such program.*tried again in/,
      server_disabled: /is disabled/,
      server_not_found: /No MCP server "nowhere"/,
      native_tool: /tool of your own/,
      tool_not_found: /No tool "nothing" was found/,
      connect_failed: /Could not connect to "down": no such program/,
      not_found: /No MCP server "nowhere"/,
      no_instructions: /gives no instructions/,
      empty_query: /"search" is empty/,
      invalid_pattern: /pattern/,
      query_too_long: /at most 256/,
    };
    for (const [code, args] of Object.entries(calls)) {
      const result = await under.mcp(isJsonObject(args) ? args : {}, { caller: remote("grant:1") });
      expect.soft([result.details["error"], result.isError]).toEqual([code, true]);
      expect.soft(textOf(result)).toMatch(words[code] ?? /^$/);
    }
  });
});

describe("a large answer", () => {
  const big = "row of data\n".repeat(250_000);

  test("[CL20] is cut for the model and whole in a file", async () => {
    const under = await connected({ run: () => text(big) });
    const result = await under.mcp({ tool: "box_work" }, { caller: remote("grant:1") });
    expect(Buffer.byteLength(textOf(result))).toBeLessThanOrEqual(51_200);
    expect(textOf(result)).toContain("/kept/1.txt");
    expect(under.kept).toEqual([big]);
    expect(result.details["mcpResult"]).toBeUndefined();
  });

  test("[CL22] leaves the host a summary with a file of its own", async () => {
    const under = await connected({ run: () => text(big) });
    const result = await under.mcp({ tool: "box_work" });
    expect(result.details["mcpResult"]).toMatchObject({ omitted: true, path: "/kept/2.txt" });
  });

  test("[CL21] passes whole where the settings switch the guard off", async () => {
    const under = await connected({ run: () => text(big) }, { settings: { outputGuard: null } });
    expect(textOf(await under.mcp({ tool: "box_work" }))).toBe(big);
  });

  test("[CL20] of an upstream's error is cut as well", async () => {
    const under = await connected({ run: () => ({ ...text(big), isError: true }) });
    expect(Buffer.byteLength(textOf(await under.mcp({ tool: "box_work" })))).toBeLessThanOrEqual(51_200);
  });
});
