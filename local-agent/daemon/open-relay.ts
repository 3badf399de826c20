/** The relay that a run dials: one that was deployed, or the one inside this program, which is started here. */
import { join } from "node:path";
import type { AgentContext } from "./agent-parts.ts";
import { mintSecret } from "./config-dir.ts";
import { startEmbeddedRelay } from "./embedded-relay.ts";
import type { RelayTarget } from "./relay-target.ts";

export interface ReachableRelay {
  readonly url: string;
  readonly agentKey: string;
}

/** Throws `StartFailure`. What is started ends with the lifetime. */
export async function openRelay(context: AgentContext, target: RelayTarget, placeDir: string, isPublic: boolean): Promise<ReachableRelay> {
  if (target.kind === "deployed") return target;
  const { installation, lifetime, timers, log } = context;
  const agentKey = mintSecret();
  const { host, port } = target.listen;
  const relay = await startEmbeddedRelay({
    childPath: installation.relayChild,
    workerPath: installation.worker,
    stateDir: placeDir,
    host,
    port,
    agentKey,
    callers: isPublic ? "public" : "loopback",
    workspace: target.workspace,
    // Compiling miniflare anew at each start would take a third of the start.
    env: { ...withoutOurs(context.env), NODE_COMPILE_CACHE: join(context.directories.state, "compile-cache") },
    timers,
    log,
  });
  lifetime.onEnd("embedded relay", () => relay.close());
  void relay.lost.then((why) => lifetime.end({ exitCode: why.exitCode, why: "relay_lost", message: why.message }));
  // The agent itself always reaches it on loopback, whatever address it listens on.
  return { url: host === "0.0.0.0" ? `http://127.0.0.1:${relay.port}` : host === "::" ? `http://[::1]:${relay.port}` : relay.url, agentKey };
}

function withoutOurs(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("PI_AS_MCP_")));
}
