import { fork, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { claimAgentPlace, readLiveClaim } from "../../../../local-agent/daemon/agent-lock.ts";
import { tempDir } from "../../../support/temp-dir.ts";

const flagsBeside = "another --port";
const claim = { root: "/srv/work", pageFile: null, control: null };

/** Another process that claims the place and holds it. */
async function holder(dir: string): Promise<ChildProcess> {
  const child = fork(join(import.meta.dirname, "../../../fixtures/lock-holder.ts"), [dir]);
  onTestFinished(() => void child.kill("SIGKILL"));
  await new Promise((resolve) => child.once("message", resolve));
  return child;
}

test("[ST14] a second agent for the same relay gets one sentence that names the first and the way out", async () => {
  const dir = tempDir();
  const first = await holder(dir);
  await expect(claimAgentPlace({ dir, name: "http://127.0.0.1:8777", flagsBeside }, claim)).rejects.toThrow(
    `Another agent on this machine already serves http://127.0.0.1:8777 (process ${first.pid}, root /held): end it with kill ${first.pid}, or start one beside it with another --port.`,
  );
});

test("[ST15] a start right after kill -9 works at once", async () => {
  const dir = tempDir();
  const first = await holder(dir);
  first.kill("SIGKILL");
  await new Promise((resolve) => first.once("exit", resolve));
  const startedAt = performance.now();
  const release = await claimAgentPlace({ dir, name: "it", flagsBeside }, claim);
  expect(performance.now() - startedAt).toBeLessThan(1000);
  expect(readLiveClaim(dir)).toMatchObject({ pid: process.pid, root: "/srv/work" });
  release();
  expect(readLiveClaim(dir)).toBeUndefined();
});

test("[ST15] of many simultaneous starts exactly one gets the place", async () => {
  const dir = tempDir();
  const results = await Promise.allSettled(Array.from({ length: 8 }, () => claimAgentPlace({ dir, name: "it", flagsBeside }, claim)));
  expect(results.filter((result) => result.status === "fulfilled")).toHaveLength(1);
});
