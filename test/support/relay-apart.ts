/** A relay that runs without the agent, as a deployed one does, behind a network that a test can cut; and agents that dial it. */
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { inject } from "vitest";
import { startProxy, type CuttableProxy } from "./cuttable-proxy.ts";
import { startPimcp, type Home, type Pimcp, type PimcpOptions } from "./pimcp.ts";
import { AGENT_KEY, startWorker, type WorkerRuntime, type WorkerRuntimeOptions } from "./worker-runtime.ts";

export interface RelayApart extends AsyncDisposable {
  readonly worker: WorkerRuntime;
  /** Between agent and relay; clients reach the relay past it. */
  readonly proxy: CuttableProxy;
  readonly url: string;
  /** Arguments that make an agent dial this relay through the proxy. */
  args(home: Home): string[];
  dial(home: Home, options?: Omit<PimcpOptions, "home">): Promise<Pimcp>;
}

export async function startRelayApart(options: WorkerRuntimeOptions = {}): Promise<RelayApart> {
  // The Worker of the same build as the agent.
  const worker = await startWorker({ entry: join(dirname(inject("program")), "worker/index.js"), ...options });
  const proxy = await startProxy(worker.port);
  const args = (home: Home): string[] => ["--relay", proxy.origin, "--issuer", worker.origin, "--key-file", writeKey(home)];
  return {
    worker,
    proxy,
    url: `${worker.origin}/mcp`,
    args,
    dial: (home, more = {}) => startPimcp({ home, ...more, args: [...args(home), ...(more.args ?? [])] }),
    [Symbol.asyncDispose]: async () => {
      await proxy.close();
      await worker.close();
    },
  };
}

/** The relay's agent key in a private file of this home. */
export function writeKey(home: Home, key = AGENT_KEY): string {
  const path = join(home.dir, "agent-key");
  writeFileSync(path, key, { mode: 0o600 });
  return path;
}
