/** Looks whether a port can be had before anything heavy is started, so that the answer is one sentence. Never picks another. */
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { listAllClaims, type AgentClaim } from "./agent-lock.ts";
import { readPageAddress } from "./page-file.ts";
import { StartFailure, systemErrorCode } from "./start-failure.ts";

export class PortBusy extends StartFailure {
  readonly port: number;
  readonly flag: "port" | "ui-port";

  constructor(listen: { readonly host: string; readonly port: number }, flag: "port" | "ui-port") {
    super(`Port ${listen.port} on ${listen.host} is in use by another program: end that, or choose another with --${flag}.`);
    this.port = listen.port;
    this.flag = flag;
  }
}

/** The same sentence, or a better one where that program is another agent of this account. `stateDir` is `Directories.state`. */
export function nameHolder(busy: PortBusy, stateDir: string): StartFailure {
  const holder = listAllClaims(stateDir).find((claim) => claim.pid !== process.pid && portsOf(claim).includes(String(busy.port)));
  if (holder === undefined) return busy;
  return new StartFailure(
    `Port ${busy.port} is used by the agent that runs already (process ${holder.pid}, root ${holder.root}): choose another with --${busy.flag}, or end that one with kill ${holder.pid}.`,
  );
}

/** Of its relay, as claimed, and of its page. */
export function portsOf(claim: AgentClaim): readonly string[] {
  const page = claim.pageFile === null ? undefined : readPageAddress(claim.pageFile);
  return [claim.serves, page ?? ""].flatMap((url) => (URL.canParse(url) ? [new URL(url).port] : []));
}

/** Resolves when `host:port` is free, waiting up to `waitMs` for a process that is just ending. Throws `StartFailure`. */
export async function requireFreePort(
  listen: { readonly host: string; readonly port: number },
  waitMs = 0,
  flag: "port" | "ui-port" = "port",
): Promise<void> {
  const until = performance.now() + waitMs;
  for (;;) {
    const error = await tryListen(listen);
    if (error === undefined) return;
    if (systemErrorCode(error) !== "EADDRINUSE" || performance.now() >= until) throw explainListenError(error, listen, flag);
    await sleep(50);
  }
}

/** One sentence for an error of `listen(2)`. */
export function explainListenError(error: unknown, listen: { readonly host: string; readonly port: number }, flag: "port" | "ui-port"): StartFailure {
  const code = systemErrorCode(error);
  if (code === "EADDRINUSE") return new PortBusy(listen, flag);
  if (code === "EACCES") return new StartFailure(`This account may not listen on port ${listen.port}: choose one above 1023 with --${flag}.`);
  const host = flag === "port" ? "--host" : "--ui-host";
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND") return new StartFailure(`${listen.host} is not an address of this machine: change ${host}.`);
  const wayOut = `change ${host} or --${flag}`;
  return new StartFailure(`Cannot listen on ${listen.host} port ${listen.port} (${code ?? String(error)}): ${wayOut}.`);
}

function tryListen(listen: { readonly host: string; readonly port: number }): Promise<Error | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", resolve);
    server.listen({ host: listen.host, port: listen.port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
