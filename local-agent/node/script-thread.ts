/**
 * A script's thread in the agent's own process, where no process of its own can be had (an executable that Bun compiled is no Node).
 * What a thread's resource limits do not catch takes the whole process with it, so it is the second choice.
 */
import { Worker } from "node:worker_threads";
import { SCRIPT_LIMITS, SCRIPT_MEMORY_MB } from "./script-limits.ts";
import type { ScriptPlace, ScriptPlaceEvents } from "./script-place.ts";
import { SCRIPT_REALM_SOURCE } from "./script-realm-source.ts";
import { SCRIPT_THREAD_SOURCE } from "./script-thread-source.ts";

export function openScriptThread(code: string, events: ScriptPlaceEvents, residentBytes = (): number => process.memoryUsage.rss()): ScriptPlace {
  const thread = new Worker(SCRIPT_THREAD_SOURCE, {
    eval: true,
    env: {},
    argv: [],
    execArgv: [],
    stdout: true,
    stderr: true,
    trackUnmanagedFds: false,
    workerData: { realm: SCRIPT_REALM_SOURCE, code },
    resourceLimits: { maxOldGenerationSizeMb: SCRIPT_MEMORY_MB.heap, maxYoungGenerationSizeMb: 16, codeRangeSizeMb: 16, stackSizeMb: 4 },
  });
  thread.on("message", (text: unknown) => {
    if (typeof text !== "string" || text.length > SCRIPT_LIMITS.messageChars) events.ended({ how: "threw", message: "the script broke its bounds" });
    else events.message(text);
  });
  thread.on("error", (error: unknown) => {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    events.ended(
      code === "ERR_WORKER_OUT_OF_MEMORY" ? { how: "memory" } : { how: "threw", message: error instanceof Error ? error.message : String(error) },
    );
  });
  thread.on("exit", () => events.ended({ how: "threw", message: "the script's thread ended by itself" }));
  const unwatch = watchMemory(residentBytes, () => events.ended({ how: "memory" }));
  // Nothing in it may write there; what does must not wait for a reader.
  thread.stdout.resume();
  thread.stderr.resume();
  return {
    send: (text) => thread.postMessage(text),
    async end() {
      unwatch();
      await thread.terminate();
    },
  };
}

const WATCH_MS = 100;
const MIB = 1024 * 1024;

/**
 * Bun takes no notice of `resourceLimits`. Only the whole process can be measured, so a script may be ended for what happened beside it;
 * the bound is far beyond what a script may take where it is measured by itself.
 */
function watchMemory(residentBytes: () => number, onExceeded: () => void): () => void {
  const most = residentBytes() + SCRIPT_MEMORY_MB.process * MIB;
  const timer = setInterval(() => {
    if (residentBytes() > most) onExceeded();
  }, WATCH_MS);
  timer.unref();
  return () => clearInterval(timer);
}
