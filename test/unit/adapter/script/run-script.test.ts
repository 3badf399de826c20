import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../../../shared/json.ts";
import type { ScriptEnd, ScriptRunner } from "../../../../local-agent/adapter/ports.ts";
import { runScript } from "../../../../local-agent/adapter/script/run-script.ts";
import type { ScriptAccess } from "../../../../local-agent/adapter/script/script-requests.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const NOTHING_FOUND = { items: [], total: 0, hasMore: false, nextOffset: null };

type Request = (operation: string, payload: JsonValue) => Promise<JsonValue>;

/** One call of the tool with a script that `play` stands for. */
async function call(
  play: (request: Request) => Promise<ScriptEnd>,
  given: { access?: Partial<ScriptAccess>; args?: JsonObject; clock?: ManualClock } = {},
) {
  const runner: ScriptRunner = { run: ({ request }) => play(request) };
  const access: ScriptAccess = {
    search: async () => NOTHING_FOUND,
    describe: async (path) => ({ path, error: { code: "tool_not_found", message: "no such tool" } }),
    call: async () => ({ ok: true, data: null }),
    ...given.access,
  };
  return runScript(
    { args: given.args ?? { code: "…" }, caller: { kind: "pi" }, signal: new AbortController().signal },
    { runner, access, clock: given.clock ?? new ManualClock(), guard: async (content) => ({ content, details: { guarded: content.length } }) },
  );
}

const returned = (value?: JsonValue): ScriptEnd => ({ output: [], end: { how: "returned", value } });

describe("what it shows", () => {
  test("[MS2] output first, then what was returned, all through the guard", async () => {
    const image = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" } as const;
    const result = await call(async () => ({
      output: [
        { from: "emit", value: { a: 1 } },
        { from: "console", level: "warn", text: "careful" },
        { from: "emit", value: image },
        { from: "emit", value: { type: "text", text: "as it is" } },
        { from: "emit", value: { ...image, data: "aGk=" } },
      ],
      end: { how: "returned", value: "done" },
    }));
    expect(result.content).toEqual([
      { type: "text", text: '{\n  "a": 1\n}' },
      { type: "text", text: "[console.warn] careful" },
      image,
      { type: "text", text: "as it is" },
      { type: "text", text: "[an image (image/png) that is no PNG, JPEG, GIF or WebP]" },
      { type: "text", text: "done" },
    ]);
    expect(result).toMatchObject({ isError: false, details: { mode: "script", timeoutMs: 30_000, guarded: 6 } });
  });

  test("[MS2] what cannot be written hides nothing else of it", async () => {
    const deep = JSON.parse("[".repeat(100_000) + "]".repeat(100_000)) as JsonValue;
    const { content, isError } = await call(async () => ({ output: [{ from: "emit", value: deep }], end: { how: "returned", value: "done" } }));
    expect({ content, isError }).toEqual({
      content: [
        { type: "text", text: "[a value that is nested too deeply to be shown]" },
        { type: "text", text: "done" },
      ],
      isError: false,
    });
  });

  test("[MS2] an output that is cut does not hide why the script ended", async () => {
    const result = await runScript(
      { args: { code: "…" }, caller: { kind: "pi" }, signal: new AbortController().signal },
      {
        runner: { run: async () => ({ output: [{ from: "emit", value: "long" }], end: { how: "threw", message: "no" } }) },
        access: { search: async () => ({}), describe: async () => ({}), call: async () => ({ ok: true, data: null }) },
        clock: new ManualClock(),
        guard: async () => ({ content: [{ type: "text", text: "cut" }], details: {} }),
      },
    );
    expect(result.content).toEqual([
      { type: "text", text: "cut" },
      { type: "text", text: "no" },
    ]);
  });

  test("[MS2] says so when there is nothing", async () => {
    expect((await call(async () => returned())).content).toEqual([{ type: "text", text: "(no output)" }]);
    expect((await call(async () => returned(null))).content).toEqual([{ type: "text", text: "null" }]);
  });

  test.each<[ScriptEnd["end"], string, RegExp]>([
    [{ how: "threw", message: "TypeError: x (line 2)" }, "script_error", /^TypeError: x \(line 2\)$/],
    [{ how: "timeout" }, "timeout", /^mcpScript timed out after 1500ms/],
    [{ how: "memory" }, "out_of_memory", /too much memory/],
    [{ how: "cancelled" }, "aborted", /cancelled/],
  ])("[MS2] [MS3] keeps what was said and says why it ended: %j", async (end, error, message) => {
    const result = await call(async () => ({ output: [{ from: "emit", value: 1 }], end }), { args: { code: "…", timeoutMs: 1500.7 } });
    expect(result).toMatchObject({ isError: true, details: { error, message: expect.stringMatching(message), timeoutMs: 1500 } });
    expect(result.content).toEqual([
      { type: "text", text: "1" },
      { type: "text", text: expect.stringMatching(message) },
    ]);
  });
});

describe("the trace", () => {
  test("[MS3] [MS7] names each operation, how it went and how long it took, and no data", async () => {
    const clock = new ManualClock();
    const result = await call(
      async (request) => {
        await request("search", { query: "issues", server: "github", offset: 2.9, limit: 0 });
        await request("describe", { path: "nope" });
        await request("call", { path: "git_log", args: { secret: "s3cret" } });
        await request("call", { path: "git_push" });
        return returned();
      },
      {
        clock,
        access: {
          search: async (search) => {
            expect(search).toEqual({ query: "issues", server: "github", limit: 1, offset: 2 });
            clock.advance(7);
            return NOTHING_FOUND;
          },
          call: async (path) =>
            path === "git_log" ? { ok: true, data: "s3cret" } : { ok: false, error: { code: "approval_denied", message: "no: s3cret" } },
        },
      },
    );
    expect(result.details["calls"]).toEqual([
      { operation: "search", query: "issues", ok: true, durationMs: 7 },
      { operation: "describe", path: "nope", ok: false, error: "tool_not_found", durationMs: 0 },
      { operation: "call", path: "git_log", ok: true, durationMs: 0 },
      { operation: "call", path: "git_push", ok: false, error: "approval_denied", durationMs: 0 },
    ]);
    expect(JSON.stringify(result.details)).not.toContain("s3cret");
  });

  test("[MS3] [MS4] a call cut off is incomplete, and cancelled", async () => {
    let signal: AbortSignal | undefined;
    const clock = new ManualClock();
    const result = await call(
      async (request) => {
        void request("call", { path: "slow" });
        clock.advance(40);
        expect(signal?.aborted).toBe(false);
        return returned("early");
      },
      {
        clock,
        access: {
          call: (_path, _args, given) => {
            signal = given;
            return new Promise(() => {});
          },
        },
      },
    );
    expect(result.details["calls"]).toEqual([{ operation: "call", path: "slow", ok: false, error: "incomplete", durationMs: 40 }]);
    expect(signal?.aborted).toBe(true);
  });

  test("[MS3] counts what is beyond 500, and cuts long names", async () => {
    const result = await call(async (request) => {
      for (let n = 0; n < 600; n += 1) await request("call", { path: "x".repeat(1000) });
      return returned();
    });
    const calls = result.details["calls"] as { path: string }[];
    expect([calls.length, result.details["callsOmitted"], calls[0]?.path.length]).toEqual([500, 100, 200]);
  });
});

describe("what a script asks for", () => {
  test("[MS5] a result comes whole", async () => {
    const rows = Array.from({ length: 500 }, (_, id) => ({ id, text: "x".repeat(90) }));
    await call(
      async (request) => {
        expect(await request("call", { path: "rows" })).toEqual({ ok: true, data: { structuredContent: { rows } } });
        return returned();
      },
      { access: { call: async () => ({ ok: true, data: { structuredContent: { rows } } }) } },
    );
  });

  test.each<[string, JsonValue, JsonObject]>([
    ["search", null, { items: [], total: 0, error: { code: "invalid_arguments" } }],
    ["search", { query: 7 }, { items: [], nextOffset: null, error: { code: "invalid_arguments" } }],
    ["search", { query: "x", limit: "3" }, { error: { code: "invalid_arguments" } }],
    ["describe", {}, { path: "", error: { code: "invalid_arguments" } }],
    ["call", { path: "" }, { ok: false, error: { code: "invalid_tool_path" } }],
    ["call", [], { ok: false, error: { code: "invalid_tool_path" } }],
    ["constructor", { path: "x" }, { ok: false }],
  ])("[MS7] answers what cannot be: %s %j", async (operation, payload, expected) => {
    await call(async (request) => {
      expect(await request(operation, payload)).toMatchObject(expected);
      return returned();
    });
  });

  test("[MS7] answers when the adapter itself fails", async () => {
    await call(
      async (request) => {
        expect(await request("search", { query: "x" })).toMatchObject({ items: [], error: { code: "internal", message: "broken" } });
        return returned();
      },
      { access: { search: () => Promise.reject(new Error("broken")) } },
    );
  });

  test("[MS8] all answers together have 16 MiB, and a smaller one still comes", async () => {
    const result = await call(
      async (request) => {
        for (const megabytes of [10, 7, 5, 2, 1]) await request("call", { path: String(megabytes) });
        return returned();
      },
      // Two bytes each.
      { access: { call: async (path) => ({ ok: true, data: "é".repeat(Number(path) * 512 * 1024) }) } },
    );
    expect((result.details["calls"] as JsonObject[]).map((each) => each["error"] ?? "ok")).toEqual([
      "ok",
      "intermediate_result_too_large",
      "ok",
      "intermediate_result_too_large",
      "intermediate_result_too_large",
    ]);
  });

  test("[MS8] an answer that cannot be written is one, too", async () => {
    const deep = JSON.parse("[".repeat(100_000) + "]".repeat(100_000)) as JsonValue;
    const result = await call(
      async (request) => {
        expect(await request("call", { path: "x" })).toMatchObject({ ok: false, error: { code: "intermediate_result_too_large" } });
        return returned();
      },
      { access: { call: async () => ({ ok: true, data: deep }) } },
    );
    expect(result.details["calls"]).toMatchObject([{ error: "intermediate_result_too_large" }]);
  });

  test("[MS8] after 20,000 operations nothing more is done", async () => {
    let served = 0;
    await call(
      async (request) => {
        for (let n = 0; n < 20_000; n += 1) await request("call", { path: "x" });
        expect(await request("call", { path: "x" })).toMatchObject({ error: { code: "too_many_calls" } });
        return returned();
      },
      { access: { call: async () => ({ ok: true, data: (served += 1) }) } },
    );
    expect(served).toBe(20_000);
  });
});
