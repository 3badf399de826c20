/**
 * Every process a tool starts carries a random mark in its environment, and so does all it starts in turn: `setsid`,
 * `nohup` and a killed parent change nothing about that. Whatever carries a mark can be found and ended. A program that
 * clears its environment escapes; only an OS sandbox's process namespace does not let it (docs/security.md).
 *
 * The variable's name holds the mark, so an agent started inside another agent's shell adds its own mark to the first.
 */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { taskKill } from "../node/task-kill.ts";

const PREFIX = "PIMCP_MARK_";
const ROUND_PAUSE_MS = 20;
const ROUND_LIMIT_MS = 3_000;
const PS_TIMEOUT_MS = 5_000;
const MAX_ANCESTORS = 256;

/** Whose processes: all of an owner, or only those labelled as one call's. */
export interface MarkedBy {
  readonly mark: string;
  readonly label?: string | undefined;
}

/** 128 random bits, so that nothing carries it by chance. */
export function newMark(): string {
  return randomBytes(16).toString("hex");
}

/** The environment entry that marks a process and its descendants. `label`: letters, digits, `_` and `-`. */
export function markEntry(mark: string, label: string): Record<string, string> {
  return { [`${PREFIX}${mark}`]: label };
}

/**
 * Whether a tool started this process: it carries somebody's mark or, on Linux, a process above it does. A guard for programs that are
 * the person's alone. It stops a model that means to help; what clears its environment and leaves its parents passes.
 */
export function isStartedByTool(env: NodeJS.ProcessEnv, pid = process.pid): boolean {
  if (Object.keys(env).some((name) => name.startsWith(PREFIX))) return true;
  if (process.platform !== "linux") return false;
  let above = pid;
  for (let steps = 0; above > 1 && steps < MAX_ANCESTORS; steps++) {
    if (`\0${linuxEnvironment(above)}`.includes(`\0${PREFIX}`)) return true;
    above = linuxParent(above);
  }
  return false;
}

/**
 * Ends what carries the mark, again and again until nothing does: a process may start another while it is looked for.
 * Resolves with the number of processes ended; after 3 s it gives up on what cannot be killed. Never rejects.
 * On Windows nothing can be found this way (`endProcessTree`).
 */
export async function endMarked(by: MarkedBy): Promise<number> {
  const ended = new Set<number>();
  const deadline = performance.now() + ROUND_LIMIT_MS;
  for (;;) {
    const round = endMarkedOnce(by);
    for (const pid of round) ended.add(pid);
    if (round.length === 0 || performance.now() > deadline) return ended.size;
    await delay(ROUND_PAUSE_MS);
  }
}

/** One round of `endMarked`, for the moment before a process exits. Returns the pids signalled. */
export function endMarkedOnce(by: MarkedBy): number[] {
  return findMarked(by).filter((pid) => endIfMarked(pid, by));
}

/** Pids of living processes that carry the mark, never this one. */
export function findMarked(by: MarkedBy): number[] {
  const needle = needleOf(by);
  if (process.platform === "linux") {
    return linuxPids().filter((pid) => pid !== process.pid && linuxEnvironment(pid).includes(needle));
  }
  if (process.platform === "win32") return [];
  return psLines(["-A"])
    .filter((line) => `${line} `.includes(needle))
    .map((line) => Number.parseInt(line, 10))
    .filter((pid) => Number.isInteger(pid) && pid > 1 && pid !== process.pid);
}

/** Ends a process and its descendants on Windows, where no environment can be read; elsewhere the process alone. */
export function endProcessTree(pid: number): void {
  try {
    if (process.platform === "win32") {
      const { file, args } = taskKill(pid, process.env);
      execFileSync(file, args, {
        stdio: "ignore",
        timeout: PS_TIMEOUT_MS,
        windowsHide: true,
      });
    } else process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

/** The mark is read again just before the signal: the pid may have gone to another process since it was found. */
function endIfMarked(pid: number, by: MarkedBy): boolean {
  const needle = needleOf(by);
  const marked =
    process.platform === "linux" ? linuxEnvironment(pid).includes(needle) : psLines(["-p", String(pid)]).some((line) => `${line} `.includes(needle));
  if (!marked) return false;
  try {
    process.kill(pid, "SIGKILL");
    return true;
  } catch {
    return false; // It ended between the look and the signal, or it changed its user.
  }
}

/** Entries end with NUL in /proc/<pid>/environ and with a space in the output of `ps -E`. */
function needleOf(by: MarkedBy): string {
  const entry = `${PREFIX}${by.mark}=`;
  if (by.label === undefined) return entry;
  return `${entry}${by.label}${process.platform === "linux" ? "\0" : " "}`;
}

function linuxPids(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Empty for a process that has ended, a zombie, and one of another user. */
function linuxEnvironment(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1");
  } catch {
    return "";
  }
}

/** Field 4; the name in field 2 may hold spaces and parentheses (proc(5)). 0: there is none, or it cannot be seen. */
function linuxParent(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return 0;
  }
}

function psLines(which: readonly string[]): string[] {
  try {
    const output = execFileSync("ps", [...which, "-E", "-ww", "-o", "pid=,command="], {
      encoding: "latin1",
      timeout: PS_TIMEOUT_MS,
      maxBuffer: 64 * 1024 * 1024,
      stdio: ["ignore", "pipe", "ignore"],
    });
    return output.split("\n").map((line) => line.trimStart());
  } catch {
    return []; // No `ps`, or no such process.
  }
}
