// Child processes that end when this one is told to end, with their exit code handed on.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { constants } from "node:os";
import { incomplete, say, Stop } from "./say.mjs";

const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP"];
/** The agent closes within 5 s; what has not ended by then will not. */
const KILL_AFTER_MS = 9000;
/** What installs or builds has nothing to close: it is all made again. */
const KILL_STEP_AFTER_MS = 1000;
/** Windows has no process groups. */
const hasGroups = process.platform !== "win32";

let ended;
/** Set once a signal came: no further step is started. */
export const wasAskedToEnd = () => ended !== undefined;
export const exitCodeOfSignal = (signal) => 128 + (constants.signals[signal] ?? 0);
export const endSignal = () => ended;

/**
 * Runs a program, never through a shell, and resolves with its exit code. Signals sent to this process are handed to it. With `ipc` it has a
 * channel that closes when this process dies in whatever way, so it can end too.
 */
export function run(command, args, { cwd, env, ipc = false }) {
  const stdio = ["inherit", "inherit", "inherit", ...(ipc ? ["ipc"] : [])];
  return supervise(command, args, { cwd, env, stdio }, { end: (child, signal) => child.kill(signal), killAfterMs: KILL_AFTER_MS, isStep: false });
}

/**
 * The same for what installs or builds: asked to end, it is gone a second later with all it started. Its output goes to
 * stderr, because stdout may belong to MCP. `onStart` is given its process id.
 */
export function runStep(command, args, { cwd, env, onStart }) {
  const options = { cwd, env, stdio: ["ignore", 2, 2], detached: hasGroups };
  const end = (child, signal) => {
    if (signal !== "SIGKILL") say("Stopping …");
    endTree(child.pid, signal);
  };
  return supervise(command, args, options, { end, killAfterMs: KILL_STEP_AFTER_MS, isStep: true, onStart });
}

/** Ends a program of `runStep` and, where there are process groups, all it started. */
export function endTree(pid, signal) {
  try {
    process.kill(hasGroups ? -pid : pid, signal);
  } catch {
    // It has ended.
  }
}

function supervise(command, args, options, { end, killAfterMs, isStep, onStart = () => {} }) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, windowsHide: true });
    if (child.pid !== undefined) onStart(child.pid);
    let timer;
    const forward = (signal) => {
      // One keystroke comes twice: from the terminal and from npm. The agent tells them apart itself.
      if (isStep && ended !== undefined) return;
      ended ??= signal;
      end(child, signal);
      timer ??= setTimeout(() => end(child, "SIGKILL"), killAfterMs);
    };
    for (const signal of FORWARDED) process.on(signal, forward);
    const stopWatching = watchParent(() => forward("SIGHUP"));
    const settle = () => {
      clearTimeout(timer);
      stopWatching();
      for (const signal of FORWARDED) process.off(signal, forward);
    };
    child.once("error", (error) => {
      settle();
      reject(new Stop(incomplete(error) ?? `${command} could not be started (${error.code ?? error.message}): is it installed?`));
    });
    child.once("close", (code, signal) => {
      settle();
      resolve(code ?? exitCodeOfSignal(signal));
    });
  });
}

/**
 * npm hands signals on, but a killed npm cannot: its children get a new parent. Only under npm, and only as far up as npm:
 * a closed terminal further up is no reason to end.
 */
function watchParent(onGone) {
  if (process.env.npm_lifecycle_event === undefined) return () => {};
  const before = ancestry();
  const timer = setInterval(() => {
    if (ancestry() !== before) onGone();
  }, 1000);
  return () => clearInterval(timer);
}

/** This process's parent and, where npm's shell stays in between, the one above it. */
function ancestry() {
  const parent = process.ppid;
  try {
    const stat = readFileSync(`/proc/${parent}/stat`, "utf8");
    const name = stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"));
    return /^(npm|node|MainThread)/.test(name) ? String(parent) : `${parent} ${stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]}`;
  } catch {
    return String(parent);
  }
}
