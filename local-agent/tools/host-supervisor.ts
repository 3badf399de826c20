/** Keeps one tool host running: starts it, starts it again when it ends, and hands it to whoever has a call. */
import type { Clock, Log, Timers } from "../../shared/ports.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type { HostEnd } from "./host-channel.ts";
import type { HostProcess } from "./host-process.ts";

const FIRST_BACKOFF_MS = 100;
const LAST_BACKOFF_MS = 10_000;
/** A host that lived this long was healthy: the next start is quick again. */
const HEALTHY_MS = 30_000;

export interface SupervisorOptions {
  readonly start: () => HostProcess;
  /** Runs after a host has ended and before the next starts: ends what the old one left. */
  readonly cleanUp: () => Promise<void>;
  readonly log: Log;
  readonly timers: Timers;
  readonly clock: Clock;
}

export interface HostSupervisor {
  /** A host that is ready; waits at most `waitMs` for one that is being started. The error is a sentence. */
  ready(waitMs: number): Promise<Result<HostProcess, string>>;
  /** Ends the host and starts no other. */
  stop(graceMs: number): Promise<void>;
}

type State =
  | { readonly at: "running"; readonly host: HostProcess; readonly since: number }
  | { readonly at: "ending"; readonly reason: string }
  | { readonly at: "waiting"; readonly reason: string; readonly cancel: () => void }
  | { readonly at: "stopped"; readonly reason: string };

/** How long to wait before start number `failures` after a failure: 0.1 s, doubling, to 10 s. */
export function backoffMs(failures: number): number {
  return Math.min(FIRST_BACKOFF_MS * 2 ** Math.max(0, failures - 1), LAST_BACKOFF_MS);
}

/** A host that ends before the first was ever ready is not started again: the reason is in the settings or the installation. */
export function superviseHost(options: SupervisorOptions): HostSupervisor {
  let failures = 0;
  let proven = false;
  let changed = Promise.withResolvers<void>();
  let state: State = launch();

  function enter(next: State): void {
    state = next;
    changed.resolve();
    changed = Promise.withResolvers<void>();
  }

  function launch(): State {
    const host = options.start();
    const since = options.clock.now();
    void host.ready.then((answer) => (proven ||= answer.ok));
    void host.ended.then((end) => onEnd(host, since, end));
    return { at: "running", host, since };
  }

  async function onEnd(host: HostProcess, since: number, end: HostEnd): Promise<void> {
    if (state.at !== "running" || state.host !== host) return;
    options.log.event("warn", "tool-host.ended", { pid: host.pid, livedMs: options.clock.now() - since });
    if (proven) enter({ at: "ending", reason: end.reason });
    else enter({ at: "stopped", reason: end.unusable ? end.reason : `the tool host did not start: ${end.reason}` });
    await options.cleanUp();
    if (isStopped()) return;
    failures = options.clock.now() - since >= HEALTHY_MS ? 1 : failures + 1;
    const cancel = options.timers.after(backoffMs(failures), () => enter(launch()));
    enter({ at: "waiting", reason: end.reason, cancel });
  }

  function isStopped(): boolean {
    return state.at === "stopped";
  }

  return {
    async ready(waitMs) {
      const expired = Promise.withResolvers<"expired">();
      const cancel = options.timers.after(waitMs, () => expired.resolve("expired"));
      try {
        for (;;) {
          const seen: State = state;
          if (seen.at === "stopped") return err(seen.reason);
          const news = await Promise.race([readyHost(seen), changed.promise, expired.promise]);
          if (news === "expired") return err(seen.at === "running" ? "it is still starting" : seen.reason);
          if (news !== undefined) return ok(news);
        }
      } finally {
        cancel();
      }
    },
    async stop(graceMs) {
      const last = state;
      enter({ at: "stopped", reason: "the agent is shutting down" });
      if (last.at === "waiting") last.cancel();
      if (last.at === "running") await last.host.stop(graceMs);
      await options.cleanUp();
    },
  };
}

/** The host once it is ready. One that fails to become so has ended, and its end is another event's business. */
async function readyHost(state: State): Promise<HostProcess | undefined> {
  if (state.at === "running" && (await state.host.ready).ok) return state.host;
  return new Promise(() => {});
}
