/** `--shared`: servers that a running `pimcp` of this account has are used over its connections (docs/spec/shared-upstreams.md). */
import { homedir } from "node:os";
import type { PersonForms, Sampler, TransportFactory } from "../adapter/ports.ts";
import { systemTimers } from "../node/system-time.ts";
import type { PiHost } from "./pi-host.ts";

/** What a session can be asked by a server. */
export interface SessionAnswers {
  readonly forms: Pick<PersonForms, "modes">;
  readonly sampler: Pick<Sampler, "available">;
}

/** [SH50] As they are without the flag. */
export async function maybeShared(transports: TransportFactory, host: PiHost, { forms, sampler }: SessionAnswers): Promise<TransportFactory> {
  if (host.pi.getFlag("shared") !== true) return transports;
  const { sharedTransports } = await import("../node/shared-transports.ts");
  const { findDirectories } = await import("../node/state-directories.ts");
  return sharedTransports(transports, {
    stateDir: findDirectories(process.env, homedir()).state,
    cwd: host.session()?.cwd ?? process.cwd(),
    env: process.env,
    home: homedir(),
    timers: systemTimers,
    asks: () => ({ ...forms.modes, sampling: sampler.available }),
    onUnshared: (notice) => host.session()?.ui.notify(notice, "info"),
  });
}
