// One set-up at a time: two `npm start` in one checkout must not install or build into each other. Plain Node, nothing installed yet.
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { say } from "./say.mjs";

/** Runs `work` while holding the lock file at `path`; waits for a living holder, takes over from a dead one. */
export async function withSetupLock(path, work) {
  for (let waited = 0; !claim(path); waited++) {
    if (!takeFromTheDead(path) && waited === 5) say(`Waiting for another set-up of this checkout (process ${holderOf(path)?.pid}).`);
    await sleep(200);
  }
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

/** A link appears whole or not at all, so nobody ever reads a half-written claim. */
function claim(path) {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, JSON.stringify({ pid: process.pid, began: beganAt(process.pid) }));
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

function takeFromTheDead(path) {
  const holder = holderOf(path);
  if (holder === undefined || isRunning(holder)) return false;
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
  return now === "" || began === "" || now === began;
}

/** Start of a process in clock ticks since boot (proc(5), field 22), because pids are reused; "" elsewhere. */
function beganAt(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  } catch {
    return "";
  }
}
