/** What every `ScriptRunner` holds, whatever place its scripts run in. */
import { expect, test } from "vitest";
import type { JsonValue } from "../../shared/json.ts";
import type { Timers } from "../../shared/ports.ts";
import type { ScriptEnd, ScriptRunner } from "../../local-agent/adapter/ports.ts";
import { ManualClock } from "../support/manual-clock.ts";

type Request = (operation: string, payload: JsonValue) => Promise<JsonValue>;

export interface ScriptOptions {
  readonly owner?: string;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly request?: Request;
}

const echo: Request = async (operation, payload) => ({ ok: true, data: { operation, payload } });

export function runOf(runner: ScriptRunner): (code: string, options?: ScriptOptions) => Promise<ScriptEnd> {
  return (code, { owner = "somebody", timeoutMs = 10_000, signal = new AbortController().signal, request = echo } = {}) =>
    runner.run({ code, owner, timeoutMs, signal, request });
}

/** @param create with the timers it is to keep its deadlines by */
export function describeScriptRunner(create: (options?: { readonly timers: Timers }) => ScriptRunner): void {
  const run = runOf(create());
  const valueOf = async (code: string, options?: ScriptOptions): Promise<JsonValue | undefined> => {
    const { end } = await run(code, options);
    if (end.how !== "returned") throw new Error(JSON.stringify(end));
    return end.value;
  };

  test("[MS5] serves calls in both spellings, search and describe", async () => {
    const value = await valueOf(`return [
      await tools.call("git_log", { n: 1 }), await tools.git_log({ n: 2 }), await tools["my-tool"](),
      await tools.search({ query: "q" }), await tools.describe({ path: "p" }),
    ]`);
    expect(value).toEqual([
      { ok: true, data: { operation: "call", payload: { path: "git_log", args: { n: 1 } } } },
      { ok: true, data: { operation: "call", payload: { path: "git_log", args: { n: 2 } } } },
      { ok: true, data: { operation: "call", payload: { path: "my-tool" } } },
      { ok: true, data: { operation: "search", payload: { query: "q" } } },
      { ok: true, data: { operation: "describe", payload: { path: "p" } } },
    ]);
  });

  test("[MS5] goes on after a call that failed, and after one whose arguments are no JSON", async () => {
    const request: Request = async () => ({ ok: false, error: { code: "call_failed", message: "no" } });
    expect(
      await valueOf(`const a = await tools.x({}); const b = await tools.x({ n: 1n }); return [a.error.code, b.error.code]`, { request }),
    ).toEqual(["call_failed", "invalid_arguments"]);
  });

  test("[MS5] answers a request that the host cannot serve", async () => {
    expect(await valueOf(`return (await tools.x()).error.code`, { request: () => Promise.reject(new Error("secret")) })).toBe("internal");
  });

  test("[MS6] tools cannot be listed or changed and is no promise", async () => {
    const code = `
      const fails = (f) => { try { f(); return "done" } catch (e) { return e.constructor.name } };
      return [
        fails(() => Object.keys(tools)), fails(() => ({ ...tools })), fails(() => { tools.call = 1 }), fails(() => { delete tools.call }),
        await tools === tools, ["then", "catch", "finally", "toJSON", "toString", "valueOf"].map((name) => typeof tools[name]).join(),
        (await tools.call("  ")).error.code, (await tools.call(7)).error.code,
      ]`;
    const refused = Array.from({ length: 4 }, () => "TypeError");
    const nothing = Array.from({ length: 6 }, () => "undefined").join(",");
    expect(await valueOf(code)).toEqual([...refused, true, nothing, "invalid_tool_path", "invalid_tool_path"]);
  });

  test("[MS9] ten thousand calls at once are served eight at a time, in order", async () => {
    const seen: number[] = [];
    let running = 0;
    let most = 0;
    const request: Request = async (_operation, payload) => {
      most = Math.max(most, ++running);
      await new Promise(setImmediate);
      running -= 1;
      seen.push((payload as { args: { i: number } }).args.i);
      return { ok: true, data: null };
    };
    const code = `const all = await Promise.all(Array.from({ length: 10_000 }, (_, i) => tools.x({ i }))); return all.filter(({ ok }) => ok).length`;
    expect(await valueOf(code, { request })).toBe(10_000);
    expect(most).toBe(8);
    expect(seen.length).toBe(10_000);
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
  });

  test("[MS10] shows what is no JSON, and knows format strings", async () => {
    const { output } = await run(`
      const circle = { name: "c" }; circle.self = circle;
      console.log("%s is %d%%, %j", "it", 5, { a: 1 }, "rest");
      console.warn(new Map([["k", new Set([1, 2n])]]), circle);
      console.error(new RangeError("far"), undefined, function named() {}, Symbol("s"));
      emit(new Map([[1, 2]])); emit({ a: [1, "x", null] }); emit("text");
      const hostile = new Proxy({}, { ownKeys() { throw 1 }, get() { throw 2 }, getPrototypeOf() { throw 3 } });
      console.info(hostile); emit({ get x() { throw new Error() } });
    `);
    expect(output).toEqual([
      { from: "console", level: "log", text: 'it is 5%, {"a":1} rest' },
      { from: "console", level: "warn", text: 'Map(1) { "k" => Set(2) { 1, 2n } } { name: "c", self: [Circular] }' },
      { from: "console", level: "error", text: "RangeError: far undefined [Function named] Symbol(s)" },
      { from: "emit", value: "Map(1) { 1 => 2 }" },
      { from: "emit", value: { a: [1, "x", null] } },
      { from: "emit", value: "text" },
      { from: "console", level: "info", text: "[a value that cannot be shown]" },
      { from: "emit", value: "[a value that cannot be shown]" },
    ]);
  });

  test("[MS10] a rejection without a handler is a console line", async () => {
    const { output, end } = await run(`Promise.reject(new Error("lost")); await new Promise((r) => setTimeout(r, 20)); return 1`);
    expect(output).toEqual([{ from: "console", level: "error", text: "an unhandled rejection: lost (line 1)" }]);
    expect(end).toEqual({ how: "returned", value: 1 });
  });

  test.each([
    ["a parse error", "\nreturn 1 +", /^SyntaxError: .*\(line \d\)$/],
    ["a throw", "\nthrow new TypeError('bad')", /^TypeError: bad \(line 2\)$/],
    ["no error thrown", "throw { odd: 1 }", /^\{ odd: 1 \}$/],
    ["deep recursion", "const f = () => f() + 1; f()", /^RangeError: Maximum call stack/],
    ["a promise of nothing", "await new Promise(() => {})", /nothing is left to settle/],
    ["a cleared timer", "await new Promise((r) => { clearTimeout(setTimeout(r, 5)) })", /nothing is left to settle|^$/],
  ])("[MS11] ends with a sentence: %s", async (_what, code, expected) => {
    expect(await run(code)).toMatchObject({ end: { how: "threw", message: expect.stringMatching(expected) } });
  });

  test("[MS11] returns nothing, and has timers", async () => {
    expect(await run(`await new Promise((r) => setTimeout(r, 5, "x")); emit(1)`)).toEqual({
      output: [{ from: "emit", value: 1 }],
      end: { how: "returned", value: undefined },
    });
  });

  test.each([
    ["a loop", "for (;;);"],
    ["a chain of promises", "for (;;) await null"],
    ["timers for ever", "const again = () => setTimeout(again, 0); again(); await new Promise(() => {})"],
    ["a slow regular expression", "/^(a+)+$/.test('a'.repeat(40) + 'b')"],
    ["a call without an answer", "await tools.x()"],
  ])("[MS12] is ended at its deadline and keeps what it said: %s", async (_what, code) => {
    const timers = new ManualClock();
    const request: Request = (_operation, payload) => {
      if ((payload as { path: string }).path !== "ready") return new Promise(() => {});
      setTimeout(() => timers.advance(5_000), 30);
      return Promise.resolve(null);
    };
    const { output, end } = await runOf(create({ timers }))(`emit("before"); await tools.ready(); ${code}`, { timeoutMs: 5_000, request });
    expect(end).toEqual({ how: "timeout" });
    expect(output).toEqual([{ from: "emit", value: "before" }]);
  });

  test("[MS12] is ended when it is cancelled, also before it began", async () => {
    const cancel = new AbortController();
    const request: Request = async () => {
      cancel.abort();
      return null;
    };
    expect(await run("await tools.x(); for (;;);", { signal: cancel.signal, request })).toEqual({ output: [], end: { how: "cancelled" } });
    expect(await run("return 1", { signal: cancel.signal })).toEqual({ output: [], end: { how: "cancelled" } });
  });

  test("[MS14] keeps ten thousand pieces and one line that the rest is left out", async () => {
    const { output, end } = await run(`for (let i = 0; i < 1e5; i++) console.log(i); return "end"`);
    expect(end).toEqual({ how: "returned", value: "end" });
    expect(output.length).toBe(10_001);
    expect(output.at(-1)).toMatchObject({ level: "warn", text: expect.stringContaining("left out") });
  });

  test("[MS14] keeps 4 MiB of output, and no message beyond 16 MiB", async () => {
    const bomb = await run(`const s = "x".repeat(1 << 20); for (let i = 0; i < 1000; i++) emit(s); return 1`);
    expect(bomb.end).toEqual({ how: "returned", value: 1 });
    expect(bomb.output.length).toBeLessThanOrEqual(5);
    expect(await run(`return "x".repeat(17 << 20)`)).toMatchObject({ end: { how: "threw", message: expect.stringContaining("16 MiB") } });
    expect(await valueOf(`return (await tools.x({ s: "x".repeat(17 << 20) })).error.code`)).toBe("arguments_too_large");
  });

  test("[MS16] nothing of one script is seen by another or by the agent", async () => {
    await run(`
      Object.prototype.polluted = 1; Array.prototype.push = () => { throw 1 }; JSON.stringify = () => '{"t":"end","how":"memory"}'; globalThis.kept = 1;
      await tools.x(JSON.parse('{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}')); return 1`);
    expect(await valueOf(`return [typeof globalThis.kept, typeof ({}).polluted, [].push(1)]`)).toEqual(["undefined", "undefined", 1]);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
}
