/**
 * Runs scripts (port `ScriptRunner`): each in a thread of its own that is ended with it. Owns the deadline, the bounds of what is kept
 * of a script's output, and how many scripts run at once. Rules: docs/spec/mcp-script.md.
 */
import type { Timers } from "../../shared/ports.ts";
import type { ScriptEnd, ScriptOutput, ScriptRunner } from "../adapter/ports.ts";
import { SCRIPT_LIMITS } from "./script-limits.ts";
import { readScriptMessage, type ScriptMessage } from "./script-messages.ts";
import type { OpenScriptPlace, ScriptPlace } from "./script-place.ts";
import { openScriptProcess } from "./script-process.ts";
import { openScriptThread } from "./script-thread.ts";
import { createSeats, type Seats } from "./script-seats.ts";
import { systemTimers } from "./system-time.ts";

/** Each may take half a gigabyte and a core; more wait, within their deadline. */
const SCRIPTS_AT_ONCE = 4;
/** So that endless scripts of one client leave room for those of others. */
const SCRIPTS_OF_ONE = 2;

const PLACES = { process: openScriptProcess, thread: openScriptThread } as const;

type Run = Parameters<ScriptRunner["run"]>[0];

export interface ScriptRunnerOptions {
  /** Left out: a process, unless this program is not one that Node runs. A function: a place of the caller's own. */
  readonly place?: "process" | "thread" | OpenScriptPlace;
  readonly timers?: Timers;
}

export function createScriptRunner(options: ScriptRunnerOptions = {}): ScriptRunner {
  const place = options.place ?? ("bun" in process.versions || "electron" in process.versions ? "thread" : "process");
  const open = typeof place === "function" ? place : PLACES[place];
  const seats = createSeats(SCRIPTS_AT_ONCE, SCRIPTS_OF_ONE);
  return { run: (run) => runScript(run, { open, seats, timers: options.timers ?? systemTimers }) };
}

interface Means {
  readonly open: OpenScriptPlace;
  readonly seats: Seats;
  readonly timers: Timers;
}

async function runScript(run: Run, means: Means): Promise<ScriptEnd> {
  const { promise: ended, resolve: end } = Promise.withResolvers<ScriptEnd["end"]>();
  const cancel = (): void => end({ how: "cancelled" });
  if (run.signal.aborted) return { output: [], end: { how: "cancelled" } };
  run.signal.addEventListener("abort", cancel, { once: true });
  const stopTimer = means.timers.after(run.timeoutMs, () => end({ how: "timeout" }));
  const seat = means.seats.take(run.owner);
  try {
    const early = await Promise.race([seat.taken, ended]);
    return early === undefined ? await runSeated(run, means.open, { ended, end }) : { output: [], end: early };
  } finally {
    seat.leave();
    stopTimer();
    run.signal.removeEventListener("abort", cancel);
  }
}

async function runSeated(
  run: Run,
  open: OpenScriptPlace,
  { ended, end }: { readonly ended: Promise<ScriptEnd["end"]>; readonly end: (how: ScriptEnd["end"]) => void },
): Promise<ScriptEnd> {
  const output = createOutput();
  const asked = new Set<number>();
  const reply = (id: number, answer: string): void => {
    if (asked.delete(id)) place.send(answer);
  };
  const take = (text: string): void => {
    const message = readScriptMessage(text);
    if (message === undefined) return end({ how: "threw", message: "the script broke the thread it runs in" });
    if (message.t === "out")
      return void (output.add(message, text.length) || end({ how: "threw", message: "the script broke the bounds of its output" }));
    if (message.t === "end") return end(endOf(message));
    const { id, op, payload } = message;
    if (asked.size >= SCRIPT_LIMITS.concurrency || asked.has(id)) return end({ how: "threw", message: "the script broke the bounds of its calls" });
    asked.add(id);
    void run
      .request(op, payload)
      .then((value) => JSON.stringify({ id, value }))
      // What an upstream nested without end cannot be written either.
      .catch(() => JSON.stringify({ id, value: { ok: false, error: { code: "internal", message: "The call failed inside the agent." } } }))
      .then((answer) => reply(id, answer));
  };
  let over = false;
  let place: ScriptPlace;
  try {
    place = open(run.code, { message: (text) => void (over || take(text)), ended: end });
  } catch (error) {
    // The system has no process, thread or pipe to give.
    return {
      output: [],
      end: { how: "threw", message: `the script could not be started: ${error instanceof Error ? error.message : String(error)}` },
    };
  }
  const how = await ended;
  over = true;
  asked.clear();
  await place.end();
  return { output: output.kept, end: how };
}

function endOf(message: Extract<ScriptMessage, { t: "end" }>): ScriptEnd["end"] {
  if (message.how === "returned") return { how: "returned", value: message.value };
  return message.how === "threw" ? { how: "threw", message: message.message.slice(0, SCRIPT_LIMITS.shownChars) } : { how: "memory" };
}

/** The realm stops by itself at the bounds and adds one line that says so; whoever goes on is no ordinary script. */
function createOutput() {
  const kept: ScriptOutput[] = [];
  let chars = 0;
  return {
    kept,
    /** @param size of the message as it came: to write its value anew takes stack for each level of it, and a thread has more of that */
    add(message: Extract<ScriptMessage, { t: "out" }>, size: number): boolean {
      chars += message.from === "emit" ? size : message.text.length;
      if (chars > SCRIPT_LIMITS.outputChars * 2 || kept.length > SCRIPT_LIMITS.outputEntries) return false;
      kept.push(message.from === "emit" ? { from: "emit", value: message.value } : { from: "console", level: message.level, text: message.text });
      return true;
    },
  };
}
