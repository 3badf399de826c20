/** A handler behind the real relay: real workerd, real WebSocket, the agent's real link in this process. */
import { randomUUID } from "node:crypto";
import { silentLog } from "../../local-agent/node/log-sinks.ts";
import { systemClock, systemTimers } from "../../local-agent/node/system-time.ts";
import { createRelayLink, type RelayLink, type RelayLinkOptions } from "../../local-agent/daemon/relay-link.ts";
import type { ExchangeHandler } from "../../local-agent/mcp/exchange.ts";
import type { Deposits } from "../../shared/wire/frames.ts";
import { depositsFor, TOKEN } from "./deposits.ts";
import { AGENT_KEY, startWorker, type WorkerRuntime, type WorkerRuntimeOptions } from "./worker-runtime.ts";

export interface RelayedTarget {
  readonly url: string;
  readonly token: string;
  readonly worker: WorkerRuntime;
  readonly link: RelayLink;
  close(): Promise<void>;
}

export interface RelayedOptions {
  readonly worker?: WorkerRuntimeOptions;
  readonly link?: Partial<RelayLinkOptions>;
  readonly deposits?: Partial<Deposits>;
}

export function linkOptions(
  origin: string,
  handler: ExchangeHandler,
  changes: Partial<RelayLinkOptions> = {},
  deposits: Partial<Deposits> = {},
): RelayLinkOptions {
  return {
    relayUrl: origin,
    agentKey: AGENT_KEY,
    host: "test-host",
    hostName: "test machine",
    instance: randomUUID(),
    takeOver: false,
    handler,
    deposits: () => depositsFor([origin], deposits),
    clock: systemClock,
    timers: systemTimers,
    random: Math.random,
    log: silentLog,
    onState: () => undefined,
    onPending: () => undefined,
    onGrantsChanged: () => undefined,
    ...changes,
  };
}

/** Starts both and waits for the first welcome. */
export async function startRelayed(handler: ExchangeHandler, options: RelayedOptions = {}): Promise<RelayedTarget> {
  const worker = await startWorker(options.worker);
  const link = createRelayLink(linkOptions(worker.origin, handler, options.link, options.deposits));
  await link.opened;
  return {
    url: `${worker.origin}/mcp`,
    token: TOKEN,
    worker,
    link,
    close: async () => {
      await link.close();
      await worker.close();
    },
  };
}
