import { fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startEmbeddedRelay, type EmbeddedRelay, type EmbeddedRelayOptions } from "../../../local-agent/daemon/embedded-relay.ts";
import { isStillRunning, type ProcessIdentity } from "../../../local-agent/node/process-identity.ts";
import { silentLog } from "../../../local-agent/node/log-sinks.ts";
import { systemTimers } from "../../../local-agent/node/system-time.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { waitUntil } from "../../support/wait-until.ts";

const source = (path: string): string => join(import.meta.dirname, "../../..", path);

function options(stateDir: string, port = 0): EmbeddedRelayOptions {
  return {
    childPath: source("local-agent/daemon/embedded-relay-child.ts"),
    workerPath: source("test/fixtures/counting-worker.js"),
    stateDir,
    host: "127.0.0.1",
    port,
    agentKey: "key-of-this-run",
    callers: "loopback",
    workspace: null,
    env: process.env,
    timers: systemTimers,
    log: silentLog,
  };
}

async function start(stateDir: string, port = 0): Promise<EmbeddedRelay> {
  const relay = await startEmbeddedRelay(options(stateDir, port));
  onTestFinished(() => relay.close());
  return relay;
}

async function visits(relay: { readonly url: string }): Promise<unknown> {
  const answer = (await (await fetch(`${relay.url}/count`)).json()) as { visits: unknown };
  return answer.visits;
}

/** The child and workerd, as the agent recorded them. */
function processes(stateDir: string): readonly ProcessIdentity[] {
  return (JSON.parse(readFileSync(join(stateDir, "relay-processes.json"), "utf8")) as { processes: ProcessIdentity[] }).processes;
}

const anyRuns = (of: readonly ProcessIdentity[]): boolean => of.some((process) => isStillRunning(process));

test("[ER1] runs the Worker bundle at the given host and port with the agent key of this run", async () => {
  const relay = await start(tempDir());
  const answer = (await (await fetch(`${relay.url}/x?y=1`)).json()) as Record<string, unknown>;
  expect(answer).toMatchObject({ url: `${relay.url}/x?y=1`, key: "key-of-this-run", embedded: "loopback" });
});

test("[ER2] passes a request on as it came: no header rewrites the URL and no location is invented", async () => {
  const relay = await start(tempDir());
  const headers = { "mf-original-url": "https://evil.example/", "x-forwarded-proto": "https" };
  const answer = (await (await fetch(`${relay.url}/x`, { headers })).json()) as Record<string, unknown>;
  expect(answer).toMatchObject({ url: `${relay.url}/x`, cf: null });
});

test("[ER3] keeps its state over a restart", async () => {
  const stateDir = tempDir();
  const first = await start(stateDir);
  expect([await visits(first), await visits(first)]).toEqual([1, 2]);
  await first.close();
  expect(await visits(await start(stateDir))).toBe(3);
});

test("[ER4] leaves no process behind after close", async () => {
  const stateDir = tempDir();
  const relay = await start(stateDir);
  const started = processes(stateDir);
  expect(started).toHaveLength(2);
  await relay.close();
  expect(anyRuns(started)).toBe(false);
});

test("[ER5] a killed agent leaves neither the child nor workerd", async () => {
  const stateDir = tempDir();
  const agent = fork(source("test/fixtures/relay-owner.ts"), [stateDir], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  onTestFinished(() => void agent.kill("SIGKILL"));
  await new Promise((resolve) => agent.once("message", resolve));
  const started = processes(stateDir);
  agent.kill("SIGKILL");
  await waitUntil("both are gone", () => !anyRuns(started));
  expect(anyRuns(started)).toBe(false);
});

test.for(["child", "workerd"] as const)("[ER6] a killed %s is replaced at the same port, with the same state", async (which) => {
  const stateDir = tempDir();
  const relay = await start(stateDir);
  await visits(relay);
  const before = processes(stateDir);
  const victim = before[which === "child" ? 0 : 1]!;
  process.kill(victim.pid, "SIGKILL");
  await waitUntil("the old ones are gone", () => !anyRuns(before));
  let answer: unknown = 0;
  await waitUntil("it answers again", async () => (answer = await visits(relay).catch(() => 0)) !== 0);
  expect(answer).toBe(2);
});

test("[ER7] a busy port is one sentence that names the flag, and nothing is started", async () => {
  const squatter = createServer();
  await new Promise<void>((resolve) => squatter.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void squatter.close());
  const { port } = squatter.address() as AddressInfo;
  await expect(startEmbeddedRelay(options(tempDir(), port))).rejects.toThrow(
    `Port ${port} on 127.0.0.1 is in use by another program: end that, or choose another with --port.`,
  );
});

test("[ER8] a start ends what an agent left that was killed together with its child", async () => {
  const stateDir = tempDir();
  const agent = fork(source("test/fixtures/relay-owner.ts"), [stateDir], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  onTestFinished(() => void agent.kill("SIGKILL"));
  const port = await new Promise<number>((resolve) => agent.once("message", (message) => resolve(Number(message))));
  const left = processes(stateDir);
  // Frozen, the child cannot notice that its agent is gone: the same as both being killed in one moment, but without the race.
  process.kill(left[0]!.pid, "SIGSTOP");
  agent.kill("SIGKILL");
  await new Promise((resolve) => agent.once("exit", resolve));
  expect(anyRuns(left)).toBe(true);
  const relay = await start(stateDir, port);
  expect(anyRuns(left)).toBe(false);
  expect(await visits(relay)).toBe(1);
});
