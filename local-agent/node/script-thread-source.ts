/**
 * The two programs a script runs in, as text: they work when the agent is bundled into one file, compiled into one executable, or loaded
 * from its sources. The thread holds the script's realm. The process watches the thread: it ends it when its parent is gone or it takes
 * too much memory, and it dies alone of what V8 answers with an abort, which resource limits of a thread do not prevent (a `Map` that
 * grows for ever is enough).
 */
import { SCRIPT_MEMORY_MB } from "./script-limits.ts";

/**
 * Runs as a `worker_threads` worker; `workerData` is `{ realm, code }`. Messages are JSON texts, see script-messages.ts.
 *
 * A context of `node:vm` is no wall by itself: objects of this program that a script gets hold of lead to `process`. None is handed in;
 * what `import()` yields is one anyway, so constructors are unlinked, prototypes frozen and everything that is no ECMAScript removed
 * before the script starts.
 */
export const SCRIPT_THREAD_SOURCE = String.raw`"use strict";
const { parentPort, workerData } = require("node:worker_threads");
const vm = require("node:vm");
const { setTimeout, setImmediate, process } = globalThis;
const context = vm.createContext(vm.constants?.DONT_CONTEXTIFY ?? Object.create(null), { name: "mcpScript", codeGeneration: { strings: false, wasm: false } });
let realm;
const inert = (leading) => Object.freeze(Object.setPrototypeOf(leading, null));
const post = inert((text) => { if (typeof text === "string") parentPort.postMessage(text); });
const look = () => setImmediate(() => realm("idle"));
const wait = inert((id, ms) => { if (typeof id === "number" && typeof ms === "number") setTimeout(() => { realm("timer", id); look(); }, ms); });
realm = vm.runInContext(workerData.realm, context, { filename: "realm.js" })(post, wait);

let script;
try {
  script = new vm.Script("(async () => {\n" + workerData.code + "\n})", { filename: "mcpScript.js", lineOffset: -1 });
} catch (error) {
  const at = /mcpScript\.js:(\d+)/.exec(String(error.stack));
  post(JSON.stringify({ t: "end", how: "threw", message: String(error) + (at === null ? "" : " (line " + at[1] + ")") }));
}
process.on("unhandledRejection", (reason) => realm("rejection", reason));
process.on("warning", () => {});
parentPort.on("message", (text) => { realm("answer", text); look(); });
lock();
if (script !== undefined) {
  try {
    realm("start", script.runInContext(context));
  } catch (error) {
    realm("failed", error);
  }
  look();
}

function lock() {
  const kept = new Set(vm.runInContext("Object.getOwnPropertyNames(globalThis).join(' ')", vm.createContext({})).split(" "));
  for (const name of ["eval", "Function", "WebAssembly", "SharedArrayBuffer", "ShadowRealm"]) kept.delete(name);
  for (const name of Reflect.ownKeys(globalThis)) if (!kept.has(name)) Reflect.deleteProperty(globalThis, name);
  for (const name of ["binding", "_linkedBinding", "dlopen", "kill", "_kill", "execve", "abort", "getBuiltinModule", "mainModule", "chdir"]) {
    try { Object.defineProperty(process, name, { value: undefined }); } catch {}
  }
  const functions = [function () {}, async function () {}, function* () {}, async function* () {}].map(Object.getPrototypeOf);
  for (const proto of functions) Object.defineProperty(proto, "constructor", { value: undefined });
  const shared = [Object, Array, Promise, Error, TypeError, RangeError, SyntaxError, ReferenceError, EvalError, String, Number, Boolean, Symbol, Map, Set];
  for (const each of shared) Object.freeze(each), Object.freeze(each.prototype);
  for (const proto of functions) Object.freeze(proto);
}
`;

/** The process around the thread. Its first line of input is `{ thread, realm, code }`; the others go to the thread, whose messages are its output. */
export const SCRIPT_PROCESS_SOURCE = String.raw`"use strict";
const { Worker } = require("node:worker_threads");
let thread;
let pieces = [];
const leave = (message) => {
  if (message === undefined) process.exit(0);
  process.stdout.write(JSON.stringify(message) + "\n", () => process.exit(0));
};
const take = (text) => {
  if (thread !== undefined) return thread.postMessage(text);
  const { thread: source, realm, code } = JSON.parse(text);
  thread = new Worker(source, {
    eval: true, env: {}, argv: [], execArgv: [], stdin: false, stdout: true, stderr: true, trackUnmanagedFds: false, workerData: { realm, code },
    resourceLimits: { maxOldGenerationSizeMb: ${SCRIPT_MEMORY_MB.heap}, maxYoungGenerationSizeMb: 16, codeRangeSizeMb: 16, stackSizeMb: 4 },
  });
  thread.on("message", (message) => process.stdout.write(message + "\n"));
  thread.on("error", (error) => leave({ t: "end", how: error?.code === "ERR_WORKER_OUT_OF_MEMORY" ? "memory" : "threw", message: String(error?.message) }));
  thread.on("exit", () => leave());
};
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => {
  let from = 0;
  for (let at = chunk.indexOf("\n"); at !== -1; at = chunk.indexOf("\n", from)) {
    pieces.push(chunk.slice(from, at));
    const text = pieces.join("");
    pieces = [];
    from = at + 1;
    take(text);
  }
  if (from < chunk.length) pieces.push(chunk.slice(from));
});
process.stdin.on("end", () => leave());
process.stdin.on("error", () => leave());
process.stdout.on("error", () => leave());
setInterval(() => {
  if (process.memoryUsage.rss() > ${SCRIPT_MEMORY_MB.process} * 1048576) leave({ t: "end", how: "memory" });
}, 50);
`;
