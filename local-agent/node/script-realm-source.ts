/**
 * What a script sees of the world, as the text of a function that is evaluated inside the script's own `vm` context. It is text
 * because it must never be an object of this program: whatever a script can reach of it was made in the script's realm, and the two
 * functions that lead out (`post`, `wait`) are called by name only, take primitives and are never handed on.
 *
 * What it says to its host is checked there again: a script can break what runs in its realm, so nothing here is a bound that anybody
 * else relies on.
 */
import { SCRIPT_LIMITS } from "./script-limits.ts";

/** `(post, wait) => realm`: `post(text)` sends one message, `wait(id, ms)` has `realm("timer", id)` called later. */
export const SCRIPT_REALM_SOURCE = String.raw`(function (post, wait) {
"use strict";
const LIMITS = ${JSON.stringify(SCRIPT_LIMITS)};
const root = globalThis;
for (const name of ["eval", "ArrayBuffer", "SharedArrayBuffer", "DataView", "Atomics", "WebAssembly", "ShadowRealm", "Int8Array", "Uint8Array",
  "Uint8ClampedArray", "Int16Array", "Uint16Array", "Int32Array", "Uint32Array", "Float16Array", "Float32Array", "Float64Array", "BigInt64Array",
  "BigUint64Array"]) delete root[name];
Object.defineProperty(Error, "prepareStackTrace", { value: undefined, writable: false, configurable: false });
Object.defineProperty(root, "Error", { value: Error, writable: false, configurable: false, enumerable: false });

const { parse, stringify } = JSON;
const { floor } = Math;
let ended = false;
let nextId = 1;
let running = 0;
let outputLeft = LIMITS.outputChars;
let entriesLeft = LIMITS.outputEntries;
const waiting = [];
let firstWaiting = 0;
const asked = new Map();
const timers = new Map();

const send = (message) => {
  const text = stringify(message);
  if (text.length > LIMITS.messageChars) return false;
  post(text);
  return true;
};
const end = (message) => {
  if (ended) return;
  ended = true;
  if (!send({ t: "end", how: "threw", ...message })) post('{"t":"end","how":"threw","message":"what the script returned or threw is larger than 16 MiB"}');
};

const full = () => ended || entriesLeft < 0;
const output = (entry, size) => {
  if (full()) return;
  outputLeft -= size;
  entriesLeft -= 1;
  if (outputLeft >= 0 && entriesLeft >= 0 && send({ t: "out", ...entry })) return;
  entriesLeft = -1;
  send({ t: "out", from: "console", level: "warn", text: "(the output is too long: the rest of it was left out)" });
};

const isPlain = (value, seen) => {
  if (value === null || typeof value === "string" || typeof value === "boolean") return true;
  if (typeof value === "number") return true;
  if (typeof value !== "object" || seen.has(value) || seen.size > 1000000) return false;
  if (typeof value.toJSON === "function") return true;
  const proto = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && proto !== Object.prototype && proto !== null) return false;
  seen.add(value);
  const plain = Object.values(value).every((member) => isPlain(member, seen));
  seen.delete(value);
  return plain;
};
const jsonOf = (value) => {
  try {
    const text = isPlain(value, new Set()) ? stringify(value) : undefined;
    if (typeof text === "string") return text;
  } catch {}
  return stringify(show(value));
};

const show = (value) => {
  if (typeof value === "string") return value;
  try {
    const text = shown(value, 0, new Set());
    return text.length > LIMITS.shownChars ? text.slice(0, LIMITS.shownChars) + "…" : text;
  } catch {
    return "[a value that cannot be shown]";
  }
};
const shown = (value, depth, above) => {
  if (typeof value === "string") return depth === 0 ? value : stringify(value);
  if (typeof value === "bigint") return String(value) + "n";
  if (typeof value === "function") return "[Function" + (typeof value.name === "string" && value.name !== "" ? " " + value.name : "") + "]";
  if (typeof value !== "object" || value === null) return String(value);
  if (above.has(value)) return "[Circular]";
  if (value instanceof Error) return describe(value);
  if (value instanceof Date || value instanceof RegExp) return String(value);
  if (depth > 5) return Array.isArray(value) ? "[Array]" : "[Object]";
  above.add(value);
  const text = container(value, (member) => shown(member, depth + 1, above));
  above.delete(value);
  return text;
};
const container = (value, inner) => {
  const members = (list, open, close, one) => {
    const some = list.slice(0, LIMITS.shownMembers).map(one);
    if (list.length > some.length) some.push("… " + (list.length - some.length) + " more");
    return some.length === 0 ? open + close : open + " " + some.join(", ") + " " + close;
  };
  if (Array.isArray(value)) return members(value, "[", "]", inner);
  if (value instanceof Map) return "Map(" + value.size + ") " + members([...value], "{", "}", ([key, member]) => inner(key) + " => " + inner(member));
  if (value instanceof Set) return "Set(" + value.size + ") " + members([...value], "{", "}", inner);
  return members(Object.entries(value), "{", "}", ([key, member]) => (/^[A-Za-z_$][\w$]*$/.test(key) ? key : stringify(key)) + ": " + inner(member));
};
const describe = (error) => {
  try {
    if (typeof error === "object" && error !== null && typeof error.message === "string") {
      if (typeof error.code === "string" && error.code.startsWith("ERR_VM_DYNAMIC_IMPORT")) return "import() is not available in a script";
      const name = typeof error.name === "string" && error.name !== "" ? error.name : "Error";
      return error.message === "" ? name : name === "Error" ? error.message : name + ": " + error.message;
    }
    return show(error);
  } catch {
    return "[an error that cannot be shown]";
  }
};
const placeOf = (error) => {
  try {
    const found = /mcpScript\.js:(\d+)/.exec(String(error.stack));
    return found === null ? "" : " (line " + found[1] + ")";
  } catch {
    return "";
  }
};

const printf = (values) => {
  if (typeof values[0] !== "string" || values.length === 1) return values.map(show).join(" ");
  let next = 1;
  const first = values[0].replace(/%[sdifjoOc%]/g, (code) => {
    if (code === "%%") return "%";
    if (next >= values.length) return code;
    const value = values[next++];
    if (code === "%c") return "";
    if (code === "%d") return typeof value === "bigint" ? value + "n" : String(typeof value === "object" ? NaN : Number(value));
    if (code === "%i") return String(parseInt(value, 10));
    if (code === "%f") return String(parseFloat(value));
    if (code === "%j") return jsonOf(value);
    return show(value);
  });
  return [first, ...values.slice(next).map(show)].join(" ");
};
const line = (level) => (...values) => {
  if (full()) return;
  const text = printf(values);
  output({ from: "console", level, text }, text.length);
};
const levels = ["log", "info", "warn", "error", "debug"];

const pump = () => {
  while (running < LIMITS.concurrency && firstWaiting < waiting.length) {
    const { op, payload, resolve } = waiting[firstWaiting];
    waiting[firstWaiting++] = undefined;
    const id = nextId++;
    running += 1;
    asked.set(id, resolve);
    if (!send({ t: "ask", id, op, payload })) answer(id, { ok: false, error: { code: "arguments_too_large", message: "The arguments are larger than 16 MiB." } });
  }
  if (firstWaiting > 1024) waiting.splice(0, firstWaiting), (firstWaiting = 0);
};
const answer = (id, value) => {
  const resolve = asked.get(id);
  if (resolve === undefined) return;
  asked.delete(id);
  running -= 1;
  resolve(value);
  pump();
};
const ask = (op, payload) => new Promise((resolve, reject) => {
  let frozen;
  try {
    frozen = parse(stringify(payload));
  } catch (error) {
    reject(new TypeError("the arguments must be JSON: " + describe(error)));
    return;
  }
  waiting.push({ op, payload: frozen, resolve });
  pump();
});
const callTool = async (path, args) => {
  if (typeof path !== "string" || path.trim() === "") {
    return { ok: false, error: { code: "invalid_tool_path", message: "tools.call(path, args) expects the name of a tool as its first argument, got " + show(path) + "." } };
  }
  try {
    return await ask("call", { path, args });
  } catch (error) {
    return { ok: false, error: { code: "invalid_arguments", message: describe(error) } };
  }
};
const methods = {
  search: async (input) => ask("search", typeof input === "string" ? { query: input } : input ?? {}),
  describe: async (input) => ask("describe", typeof input === "string" ? { path: input } : input ?? {}),
  call: callTool,
};
const reserved = new Set(["then", "catch", "finally", "toJSON", "toString", "valueOf"]);
const closed = () => {
  throw new TypeError("tools cannot be listed or changed: find tools with await tools.search({ query })");
};
const tools = new Proxy(Object.freeze(Object.create(null)), {
  get(_target, name) {
    if (typeof name !== "string" || reserved.has(name)) return undefined;
    return Object.hasOwn(methods, name) ? methods[name] : (args) => callTool(name, args);
  },
  ownKeys: closed, set: closed, defineProperty: closed, deleteProperty: closed, setPrototypeOf: closed,
});

const runTimer = (id) => {
  const timer = timers.get(id);
  timers.delete(id);
  if (timer === undefined || ended) return;
  try {
    timer();
  } catch (error) {
    const text = "in setTimeout: " + describe(error) + placeOf(error);
    output({ from: "console", level: "error", text }, text.length);
  }
};
const globals = {
  tools,
  emit: (value) => {
    if (full()) return;
    const json = jsonOf(value);
    output({ from: "emit", value: parse(json) }, json.length);
  },
  console: Object.freeze(Object.fromEntries(levels.map((level) => [level, line(level)]))),
  setTimeout: (run, ms, ...args) => {
    if (typeof run !== "function") throw new TypeError("setTimeout expects a function, got " + show(run));
    if (timers.size >= LIMITS.timers) throw new RangeError("at most " + LIMITS.timers + " timers can wait at once");
    const id = nextId++;
    timers.set(id, () => run(...args));
    const delay = floor(Number(ms));
    wait(id, delay > 0 ? (delay < 2147483647 ? delay : 2147483647) : 0);
    return id;
  },
  clearTimeout: (id) => void timers.delete(id),
};
for (const [name, value] of Object.entries(globals)) Object.defineProperty(root, name, { value, writable: true, configurable: true, enumerable: false });

const start = async (script) => {
  try {
    const value = await script();
    end(value === undefined ? { how: "returned" } : { how: "returned", value: parse(jsonOf(value)) });
  } catch (error) {
    end({ message: describe(error) + placeOf(error) });
  }
};
return (what, value) => {
  if (what === "start") void start(value);
  else if (what === "failed") end({ message: describe(value) + placeOf(value) });
  else if (what === "timer") runTimer(value);
  else if (what === "answer") {
    const message = parse(value);
    answer(message.id, message.value);
  } else if (what === "rejection") {
    const text = "an unhandled rejection: " + describe(value) + placeOf(value);
    output({ from: "console", level: "error", text }, text.length);
  } else if (what === "idle" && !ended && running === 0 && timers.size === 0) {
    end({ message: "the script waits for a promise that nothing is left to settle" });
  }
};
})`;
