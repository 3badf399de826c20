/**
 * Programs that are started for an upstream, each the leader of a process group of its own, so that what it starts in turn
 * ends with it. Whoever starts one ends it; what is left when this process exits is killed.
 */
import { ChildProcess, execFile, type SpawnOptions } from "node:child_process";
import { lstatSync, statSync } from "node:fs";
import spawn from "cross-spawn";
import type { Timers } from "../../shared/ports.ts";
import { taskKill } from "./task-kill.ts";
import { windowsStart } from "./windows-command.ts";

export interface ProcessGroups {
  /** Starts a program. What does not start says so by the child's `error` event, as Node does. */
  start(command: string, args: readonly string[], options: SpawnOptions): OwnedProcess;
}

export interface OwnedProcess {
  readonly child: ChildProcess;
  /** Ends the whole group: asks it to (SIGTERM), waits at most `graceMs`, kills it. Resolves when its leader is gone; never rejects. */
  end(graceMs: number): Promise<void>;
}

/** A kill cannot be refused, but a process that waits for a dead disk ends when it likes: nobody waits for that. */
const KILL_WAIT_MS = 2000;
const LOOK_EVERY_MS = 20;

/** `platform` says how programs are found. */
export function createProcessGroups(timers: Timers, platform = process.platform): ProcessGroups {
  const live = new Set<ChildProcess>();
  const killAll = (): void => {
    for (const child of live) signalGroup(child, "SIGKILL");
  };
  const forget = (child: ChildProcess): void => {
    if (live.delete(child) && live.size === 0) process.off("exit", killAll);
  };
  return {
    start(command, args, options) {
      const child = spawned(command, args, options, platform);
      if (live.size === 0) process.on("exit", killAll);
      live.add(child);
      child.once("exit", () => {
        // Children of it may still run: until its owner has ended the group, this process must remember it.
        if (!groupLives(child)) forget(child);
      });
      child.once("error", () => {
        if (child.pid === undefined) forget(child);
      });
      return {
        child,
        end: async (graceMs) => {
          await endGroup(child, graceMs, timers);
          forget(child);
        },
      };
    },
  };
}

function spawned(command: string, args: readonly string[], options: SpawnOptions, platform: NodeJS.Platform): ChildProcess {
  if (platform !== "win32") return spawn(command, [...args], { ...options, detached: true });
  const { env = process.env, shell = false } = options;
  const start = windowsStart({ command, shell: shell !== false }, { env, isFile });
  return start === null ? notFound(command) : spawn(start.command, [...args], { ...options, env: start.env, windowsHide: true });
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    // An alias of the Windows store can be started, but not followed.
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  }
}

/** Says so as a child does that Node could not start. */
function notFound(command: string): ChildProcess {
  const child = new ChildProcess();
  const error = Object.assign(new Error(`spawn ${command} ENOENT`), { code: "ENOENT", syscall: `spawn ${command}`, path: command });
  process.nextTick(() => child.emit("error", error));
  return child;
}

async function endGroup(child: ChildProcess, graceMs: number, timers: Timers): Promise<void> {
  if (child.pid === undefined || !groupLives(child)) return;
  if (process.platform === "win32") return endTree(child, timers);
  signalGroup(child, "SIGTERM");
  if (await waitFor(() => !groupLives(child), graceMs, timers)) return;
  signalGroup(child, "SIGKILL");
  await waitFor(() => hasExited(child), KILL_WAIT_MS, timers);
}

/** Windows has no groups and no polite signal: the tree is looked up and ended. */
async function endTree(child: ChildProcess, timers: Timers): Promise<void> {
  const { pid } = child;
  if (pid === undefined) return;
  const { file, args } = taskKill(pid, process.env);
  // What it says of a process that is gone already is nobody's business.
  execFile(file, args, { windowsHide: true, timeout: KILL_WAIT_MS }, () => {});
  await waitFor(() => hasExited(child), KILL_WAIT_MS, timers);
}

/** POSIX kill(2): a negative id is the group, and signal 0 only asks whether anybody is in it. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  if (child.pid === undefined) return false;
  try {
    return process.platform === "win32" ? signal !== 0 && child.kill(signal) : process.kill(-child.pid, signal);
  } catch {
    return false; // Nobody is left in it.
  }
}

function groupLives(child: ChildProcess): boolean {
  return process.platform === "win32" ? !hasExited(child) : signalGroup(child, 0);
}

function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

async function waitFor(check: () => boolean, deadlineMs: number, timers: Timers): Promise<boolean> {
  for (let waited = 0; waited < deadlineMs; waited += LOOK_EVERY_MS) {
    if (check()) return true;
    await new Promise<void>((resolve) => void timers.after(LOOK_EVERY_MS, resolve));
  }
  return check();
}
