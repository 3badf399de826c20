/** How long the built agent takes to be ready, and what it and its tool host hold when idle behind a relay of its own. */
import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AGENT_KEY, startWorker } from "../support/worker-runtime.ts";
import { median } from "./measure.ts";

const PIMCP = join(import.meta.dirname, "../../dist/pimcp.mjs");
const STARTS = 5;
const SETTLE_MS = 8000;

export interface AgentCosts {
  readonly readyMs: number;
  readonly agentMb: number;
  readonly toolHostMb: number;
}

export async function measureAgent(): Promise<AgentCosts> {
  const home = await mkdtemp(join(tmpdir(), "pi-relay-bench-"));
  const worker = await startWorker();
  try {
    const keyFile = join(home, "key");
    await writeFile(keyFile, AGENT_KEY, { mode: 0o600 });
    const starts: number[] = [];
    for (let n = 0; n < STARTS; n++) starts.push(await timeOneStart(home));
    const memory = await idleMemory(home, ["--relay", worker.origin, "--key-file", keyFile]);
    return { readyMs: median(starts), ...memory };
  } finally {
    await worker.close();
    await rm(home, { recursive: true, force: true });
  }
}

async function timeOneStart(home: string): Promise<number> {
  const start = performance.now();
  const agent = run(home, ["--port", "0"]);
  await ready(agent);
  const took = performance.now() - start;
  await stop(agent);
  return took;
}

async function idleMemory(home: string, args: readonly string[]): Promise<{ agentMb: number; toolHostMb: number }> {
  const agent = run(home, args);
  await ready(agent);
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const pid = agent.pid ?? 0;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);
  const toolHost = children.find((child) => readFileSync(`/proc/${child}/cmdline`, "utf8").includes("tool-host-child"));
  const costs = { agentMb: residentMb(pid), toolHostMb: toolHost === undefined ? Number.NaN : residentMb(toolHost) };
  await stop(agent);
  return costs;
}

function run(home: string, args: readonly string[]): ChildProcess {
  const env = { ...process.env, XDG_CONFIG_HOME: join(home, "config"), XDG_STATE_HOME: join(home, "state") };
  return spawn(process.execPath, [PIMCP, "--no-open", "--json", "--ui-port", "0", "--root", home, ...args], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
}

/** The agent prints its one JSON object when the link is up. */
function ready(agent: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    agent.stdout?.once("data", () => resolve());
    agent.once("exit", (code) => reject(new Error(`the agent ended with ${code} before it was ready`)));
  });
}

async function stop(agent: ChildProcess): Promise<void> {
  const ended = new Promise<void>((resolve) => agent.once("exit", () => resolve()));
  agent.kill("SIGTERM");
  await ended;
}

function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? Number.NaN) / 1024;
}
