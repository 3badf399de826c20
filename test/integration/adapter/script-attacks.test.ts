/** Scripts that want out, or want everything. The realm is no security boundary by contract; what is cheap to hold is held here. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { createScriptRunner } from "../../../local-agent/node/script-worker.ts";
import { runOf } from "../../contract/script-runner.contract.ts";
import { waitUntil } from "../../support/wait-until.ts";

const root = join(import.meta.dirname, "../../..");
const processRunner = createScriptRunner({ place: "process" });
/** What takes long on a busy machine. */
const SLOW_MS = 60_000;

/** Each tries to get at `process` or at code from strings by one known way, and returns what it got. */
const ESCAPES: readonly (readonly [string, string])[] = [
  [
    "globals",
    `return ["process", "require", "module", "fetch", "Buffer", "setImmediate", "WebAssembly", "ArrayBuffer", "SharedArrayBuffer", "Uint8Array", "Atomics"].filter((name) => name in globalThis).join() || "none"`,
  ],
  ["the global object's constructor", `return this.constructor.constructor("return process")()`],
  ["globalThis", `return globalThis.constructor.constructor("return process")()`],
  ["a function handed in", `return emit.constructor("return process")()`],
  ["the console", `return console.log.constructor.constructor("return process")()`],
  ["an asynchronous function", `return await (async () => {}).constructor("return process")()`],
  ["a generator", `return (function* () {}).constructor("yield process")().next().value`],
  ["eval", `return (0, eval)("process")`],
  ["the proxy of tools", `return (Object.getPrototypeOf(tools)?.constructor ?? tools.constructor.constructor)("return process")()`],
  ["an answer", `return (await tools.x()).constructor.constructor("return process")()`],
  ["the promise of a call", `return tools.x().constructor.constructor("return process")()`],
  ["a thrown error", `try { null.x } catch (e) { return e.constructor.constructor("return process")() }`],
  [
    "an error of the depth of the stack",
    `const f = () => { try { return f() } catch (e) { return e.constructor.constructor("return process")() } }; return f()`,
  ],
  [
    "an error of the stack's end in a call outwards",
    `
    const seen = [];
    const deep = () => { try { deep() } catch { try { emit(1); setTimeout(() => {}, 0) } catch (e) { seen.push(e) } } };
    for (let i = 0; i < 50; i++) deep();
    for (const e of seen) if (!(e instanceof Error)) return e.constructor.constructor("return process")();
    throw new Error("kept in")`,
  ],
  [
    "call sites",
    `
    let got = "no call sites";
    try { Error.prepareStackTrace = (_e, sites) => { got = sites.map((s) => s.getThis?.() ?? s.getFunction?.()).find(Boolean); return "" } } catch {}
    try { globalThis.Error = { prepareStackTrace: (_e, sites) => { got = sites } } } catch {}
    new Error("x").stack; try { null.x } catch (e) { e.stack } return got === "no call sites" ? (() => { throw got })() : got`,
  ],
  [
    "the caller",
    `const seen = []; setTimeout(function f() { try { seen.push(f.caller, arguments.callee.caller) } catch (e) {} }, 1);
    await new Promise((r) => setTimeout(r, 20)); const got = seen.filter(Boolean)[0]; if (!got) throw "none"; return got.constructor("return process")()`,
  ],
  ["import()", `return await import("node:fs")`],
  ["import() with attributes", `return await import("data:text/javascript,export default process", { with: {} })`],
  ["the promise of import()", `const p = import("node:fs"); p.catch(() => {}); return p.constructor.constructor("return process")()`],
  ["the error of import()", `const e = await import("node:fs").catch((e) => e); return e.constructor.constructor("return process")()`],
  [
    "a trap of a Proxy",
    `
    let got; const spy = new Proxy(function () {}, { get(t, k, r) { got ??= r; return undefined }, apply(t, self, args) { got = self ?? args } });
    emit(spy); console.log(spy); try { await tools.call("x", spy) } catch {}
    return got.constructor.constructor("return process")()`,
  ],
  ["a thenable that is returned", `return { then(resolve) { resolve(resolve.constructor("return process")()) } }`],
];

describe.each(["process", "thread"] as const)("in a %s", (place) => {
  const run = runOf(createScriptRunner({ place }));

  test("[MS15] does not get out by any known way", async () => {
    const attempts = ESCAPES.map(([way, code]) => `[${JSON.stringify(way)}, async () => {\n${code}\n}]`).join(",\n");
    const { end } = await run(`
      const got = {};
      for (const [way, attempt] of [${attempts}]) {
        try { got[way] = await attempt() } catch { got[way] = "none" }
      }
      return got;`);
    expect(end).toEqual({ how: "returned", value: Object.fromEntries(ESCAPES.map(([way]) => [way, "none"])) });
  });

  test("[MS15] does not get out of the function it is wrapped in", async () => {
    const { end } = await run(`}), this.constructor.constructor("return process")(), (async () => {`);
    expect(end).toMatchObject({ how: "threw", message: expect.stringContaining("Code generation from strings") });
  });

  test("[MS15] nothing that can be reached from what import() yields leads out", async () => {
    const { end } = await run(`
      const promise = import("node:fs"); const error = await promise.catch((e) => e);
      const seen = new Set(); const queue = [promise, error, emit, console, tools.x(), this];
      while (queue.length > 0) {
        const each = queue.pop();
        if ((typeof each !== "object" && typeof each !== "function") || each === null || seen.has(each)) continue;
        seen.add(each); queue.push(Object.getPrototypeOf(each));
        try { for (const d of Object.values(Object.getOwnPropertyDescriptors(each))) queue.push(d.value, d.get, d.set) } catch {}
      }
      const escaped = [];
      for (const each of seen) {
        if ("pid" in each || "binding" in each || "mainModule" in each) escaped.push("process");
        if (typeof each === "function" && /^(Async)?(Generator)?Function$|^eval$/.test(each.name)) {
          try { each("return 1")(); escaped.push(each.name) } catch {}
        }
      }
      let changed = false;
      try { Object.getPrototypeOf(Object.getPrototypeOf(promise)).polluted = 1; changed = ({}).polluted === undefined && Object.getPrototypeOf(Object.getPrototypeOf(promise)).polluted === 1 } catch {}
      return { size: seen.size > 100, escaped, changed }`);
    expect(end).toEqual({ how: "returned", value: { size: true, escaped: [], changed: false } });
  });
});

describe("in a process of its own", () => {
  const run = runOf(processRunner);

  test.each([
    ["a map that grows", "const m = new Map(); for (let i = 0; ; i++) m.set(i, i)"],
    ["one string too large to split", `"x".repeat(2 ** 28).split("")`],
    [
      "locale data beyond the heap",
      `const a = []; for (let i = 0; ; i++) a.push(new Intl.DateTimeFormat("de", { dateStyle: "full" }), new Intl.Collator("sv"))`,
    ],
  ])(
    "[MS13] memory is bounded: %s",
    async (_what, code) => {
      const bystander = run(`await new Promise((r) => setTimeout(r, 300)); return "alive"`, { timeoutMs: SLOW_MS });
      // Filling half a gigabyte takes a busy machine a while; the deadline must not come first.
      expect(await run(code, { timeoutMs: SLOW_MS })).toMatchObject({ end: { how: "memory" } });
      expect(await bystander).toMatchObject({ end: { value: "alive" } });
    },
    SLOW_MS,
  );

  test("[MS17] four run at once, a fifth waits within its deadline", async () => {
    const forever = { request: () => new Promise<never>(() => {}) };
    const cancel = new AbortController();
    const runner = runOf(createScriptRunner({ place: "process" }));
    const held = ["a", "a", "b", "b"].map((owner) => runner("await tools.x()", { ...forever, owner, signal: cancel.signal }));
    const fifth = await runner("return 1", { owner: "c", timeoutMs: 300 });
    const sixth = runner("return 1", { owner: "c" });
    cancel.abort();
    expect(fifth.end).toEqual({ how: "timeout" });
    expect((await Promise.all(held)).map(({ end }) => end.how)).toEqual(["cancelled", "cancelled", "cancelled", "cancelled"]);
    expect((await sixth).end).toEqual({ how: "returned", value: 1 });
  });

  test.skipIf(process.platform === "win32")("[MS15] [MS18] its process ends with it, and in an endless loop when the agent dies", async () => {
    const agent = spawn(
      process.execPath,
      [
        "--input-type=module-typescript",
        "--eval",
        `import { createScriptRunner } from ${JSON.stringify(join(root, "local-agent/node/script-worker.ts"))};
         const run = createScriptRunner({ place: "process" }).run;
         const rest = { owner: "a", timeoutMs: 60000, signal: new AbortController().signal, request: async () => { console.log("running"); return null } };
         await run({ ...rest, code: "return 1" });
         await run({ ...rest, code: "await tools.x(); for (;;);" });`,
      ],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    await once(agent.stdout, "data");
    const children = await childrenOf(agent.pid ?? 0);
    expect(children.length).toBe(1);
    await expectBareProcess(children[0] ?? 0);
    agent.kill("SIGKILL");
    await waitUntil("the script's process is gone", () => children.every((pid) => !isRunning(pid)));
  });
});

/** Where the system shows it. */
async function expectBareProcess(pid: number): Promise<void> {
  if (process.platform !== "linux") return;
  expect(await readFile(`/proc/${pid}/environ`, "utf8")).toBe("");
  expect((await readFile(`/proc/${pid}/cmdline`, "utf8")).split("\0")).toEqual(expect.arrayContaining(["--permission", "--allow-worker"]));
}

async function childrenOf(pid: number): Promise<number[]> {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-o", "pid=,ppid="]);
  const rows = stdout.split("\n").map((line) => line.trim().split(/\s+/).map(Number));
  return rows.filter(([, parent]) => parent === pid).map(([child]) => child ?? 0);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false; // ESRCH: it is gone.
  }
}
