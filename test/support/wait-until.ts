import { setTimeout as sleep } from "node:timers/promises";

/** Polls until `check` holds; throws with `what` after the deadline. For states of other processes, which no event announces. */
export async function waitUntil(what: string, check: () => boolean | Promise<boolean>, deadlineMs = 10_000): Promise<void> {
  const until = performance.now() + deadlineMs;
  while (!(await check())) {
    if (performance.now() > until) throw new Error(`waited ${deadlineMs} ms until ${what}`);
    await sleep(20);
  }
}
