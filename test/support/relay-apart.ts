/** A relay that runs without the agent, as a deployed one does, behind a network that a test can cut; and agents that dial it. */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { connect } from "node:tls";
import { inject } from "vitest";
import { startProxy, type CuttableProxy } from "./cuttable-proxy.ts";
import { QUIET_DIALLING, startPimcp, type Home, type Pimcp, type PimcpOptions } from "./pimcp.ts";
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
  const dialled = proxy.origin.replace("http:", new URL(worker.origin).protocol);
  const args = (home: Home): string[] => ["--relay", dialled, "--issuer", worker.origin, "--key-file", writeKey(home)];
  return {
    worker,
    proxy,
    url: `${worker.origin}/mcp`,
    args,
    dial: (home, more = {}) => startPimcp({ home, quiet: QUIET_DIALLING, ...more, args: [...args(home), ...(more.args ?? [])] }),
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

/** A file with the certificate that whoever listens on this port shows: what `NODE_EXTRA_CA_CERTS` takes. */
export async function certificateFile(home: Home, port: number): Promise<string> {
  const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false });
  await once(socket, "secureConnect");
  const path = join(home.dir, "authority.pem");
  writeFileSync(path, socket.getPeerX509Certificate()?.toString() ?? "");
  socket.destroy();
  return path;
}
