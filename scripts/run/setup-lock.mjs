// One set-up at a time: two `npm start` in one checkout must not install or build into each other. Plain Node, nothing installed yet.
import { execFileSync } from "node:child_process";
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { endTree } from "./processes.mjs";
import { say, Stop } from "./say.mjs";

let held;

/** Runs `work` while holding the lock file at `path`; waits for a living holder, takes over from a dead one and ends what that left running. */
export async function withSetupLock(path, work) {
  for (let waited = 0; !claim(path); waited++) {
    if (!(await takeFromTheDead(path)) && waited === 5) say(`Waiting for another set-up of this checkout (process ${holderOf(path)?.pid}).`);
    await sleep(200);
  }
  held = path;
  try {
    return await work();
  } finally {
    held = undefined;
    rmSync(path, { force: true });
  }
}

/**
 * Names the program that works in the checkout for the holder of the lock: should the holder be killed, the program lives on,
 * and the next start must not install into the same directory beside it.
 */
export function noteWorker(pid) {
  if (held === undefined) return;
  const draft = `${held}.${process.pid}`;
  writeFileSync(draft, JSON.stringify({ ...identity(process.pid), worker: identity(pid) }));
  renameSync(draft, held);
}

const identity = (pid) => ({ pid, began: beganAt(pid) });

/** A link appears whole or not at all, so nobody ever reads a half-written claim. */
function claim(path) {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(identity(process.pid)));
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

async function takeFromTheDead(path) {
  const holder = holderOf(path);
  if (holder === undefined || isRunning(holder)) return false;
  if (holder.worker !== undefined) await endWorker(holder.worker);
  const aside = `${path}.dead.${process.pid}`;
  try {
    renameSync(path, aside);
    // Another start may have taken over in between: then the claim moved aside is a living one and goes back.
    const moved = JSON.parse(readFileSync(aside, "utf8"));
    if (isRunning(moved)) renameSync(aside, path);
  } catch {
    // Somebody else was faster; look again.
  } finally {
    rmSync(aside, { force: true });
  }
  return true;
}

const WORKER_ENDS_WITHIN_MS = 5000;

async function endWorker(worker) {
  if (worker.began === "") return; // Another program may have its process id by now.
  for (let waitedMs = 0; isRunning(worker); waitedMs += 50) {
    if (waitedMs === 0) say(`Ending what a killed set-up left running (process ${worker.pid}).`);
    if (waitedMs >= WORKER_ENDS_WITHIN_MS) throw new Stop(`Process ${worker.pid} still installs into this checkout: end it, then run this again.`);
    endTree(worker.pid, "SIGKILL");
    await sleep(50);
  }
}

function holderOf(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}

function isRunning({ pid, began }) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error.code === "EPERM";
  }
  const now = beganAt(pid);
  return now !== GONE && (now === "" || began === "" || now === began);
}

const GONE = "gone";

/**
 * When a process began, because process ids are reused: on Linux in clock ticks since boot (proc(5), field 22), elsewhere in the
 * words of ps; "" where neither is known, `GONE` for one that only waits to be collected.
 */
function beganAt(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? GONE : (fields[19] ?? "");
  } catch {
    return process.platform === "linux" || process.platform === "win32" ? "" : beganByPs(pid);
  }
}

function beganByPs(pid) {
  try {
    const said = execFileSync("ps", ["-o", "stat=,lstart=", "-p", String(pid)], {
      encoding: "utf8",
      timeout: 2000,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [state = "", ...began] = said.trim().split(/\s+/);
    return state.startsWith("Z") ? GONE : began.join(" ");
  } catch {
    return "";
  }
}
