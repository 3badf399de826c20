/** A script's thread in a process of its own: an empty environment, no files, no programs (Node's permission model). */
import { spawn, type ChildProcess } from "node:child_process";
import { tmpdir } from "node:os";
import { SCRIPT_LIMITS } from "./script-limits.ts";
import type { ScriptPlace, ScriptPlaceEvents } from "./script-place.ts";
import { SCRIPT_REALM_SOURCE } from "./script-realm-source.ts";
import { SCRIPT_PROCESS_SOURCE, SCRIPT_THREAD_SOURCE } from "./script-thread-source.ts";

const NODE_ARGUMENTS = ["--permission", "--allow-worker", "--no-warnings", "--no-addons", "--max-old-space-size=64", "--eval", SCRIPT_PROCESS_SOURCE];

/** Starts the process at once; a start that fails is an end with a sentence. */
export function openScriptProcess(code: string, events: ScriptPlaceEvents): ScriptPlace {
  const child = spawn(process.execPath, NODE_ARGUMENTS, {
    cwd: tmpdir(),
    env: bareEnvironment(),
    stdio: ["pipe", "pipe", "ignore"],
    windowsHide: true,
  });
  const gone = new Promise<void>((resolve) => {
    child.once("error", (error) => {
      events.ended({ how: "threw", message: `the script could not be started: ${error.message}` });
      if (child.pid === undefined) resolve();
    });
    child.once("close", (exitCode, signal) => {
      events.ended(endOf(exitCode, signal));
      resolve();
    });
  });
  child.stdin.on("error", () => {}); // It is gone; `close` says so.
  readLines(child, events);
  child.stdin.write(`${JSON.stringify({ thread: SCRIPT_THREAD_SOURCE, realm: SCRIPT_REALM_SOURCE, code })}\n`);
  return {
    send(text) {
      if (child.stdin.writable) child.stdin.write(`${text}\n`);
    },
    async end() {
      child.kill("SIGKILL");
      await gone;
    },
  };
}

/** Windows cannot start Node's cryptography without it; nowhere else is anything needed. */
function bareEnvironment(): NodeJS.ProcessEnv {
  const root = process.env["SystemRoot"];
  return process.platform === "win32" && root !== undefined ? { SystemRoot: root } : {};
}

/** How V8 ends a process whose heap is used up, and the system one that takes too much. */
const CRASHES: readonly (string | null)[] = ["SIGABRT", "SIGTRAP", "SIGILL", "SIGSEGV", "SIGBUS", "SIGKILL"];

function endOf(exitCode: number | null, signal: NodeJS.Signals | null): Parameters<ScriptPlaceEvents["ended"]>[0] {
  const crashed = CRASHES.includes(signal) || (exitCode !== null && exitCode >= 128);
  return crashed ? { how: "memory" } : { how: "threw", message: `the script's process ended by itself (${signal ?? `code ${exitCode}`})` };
}

function readLines(child: ChildProcess, events: ScriptPlaceEvents): void {
  let pieces: string[] = [];
  let chars = 0;
  child.stdout?.setEncoding("utf8");
  child.stdout?.on("data", (chunk: string) => {
    const parts = chunk.split("\n");
    const rest = parts.pop() ?? "";
    for (const part of parts) {
      pieces.push(part);
      const line = pieces.join("");
      pieces = [];
      chars = 0;
      events.message(line);
    }
    pieces.push(rest);
    chars += rest.length;
    if (chars <= SCRIPT_LIMITS.messageChars) return;
    pieces = [];
    chars = 0;
    child.kill("SIGKILL");
    events.ended({ how: "threw", message: "the script said more than 16 MiB at once" });
  });
}
