/**
 * The relay inside this machine: the Worker bundle in a child process (`embedded-relay-child.ts`). Owns that process and
 * workerd below it: both end with the agent, both are started again when one dies, and what a killed agent left is ended
 * at the next start. Rules: docs/spec/start.md, ER1 to ER8.
 */
import { fork, type ChildProcess } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { isJsonObject, parseJson } from "../../shared/json.ts";
import type { Log, Timers } from "../../shared/ports.ts";
import { DEFAULT_WORKSPACE } from "../../shared/workspace.ts";
import { preparePrivateDirectory, readPrivateFile, writePrivateFile } from "./config-dir.ts";
import { RelayReport, type RelayOrder } from "./embedded-relay-protocol.ts";
import { requireFreePort } from "./free-port.ts";
import { identify, isStillRunning, killExactly, type ProcessIdentity } from "../node/process-identity.ts";
import { urlHost } from "./settings.ts";
import { EXIT, StartFailure } from "./start-failure.ts";

export interface EmbeddedRelayOptions {
  /** `embedded-relay-child`, built or source. */
  readonly childPath: string;
  /** The Worker bundle. */
  readonly workerPath: string;
  /** Private directory of this relay, held by this agent's claim; SQLite and the record of processes go below it. */
  readonly stateDir: string;
  readonly host: string;
  /** 0 lets the system choose; a restart keeps what was chosen. */
  readonly port: number;
  readonly agentKey: string;
  readonly callers: RelayOrder["callers"];
  /** The only one it serves; null: the one without a name. */
  readonly workspace: string | null;
  readonly env: NodeJS.ProcessEnv;
  readonly timers: Timers;
  readonly log: Log;
}

export interface EmbeddedRelay {
  readonly url: string;
  readonly port: number;
  /** Settles only when the relay died and could not be brought back. */
  readonly lost: Promise<StartFailure>;
  /** Ends the child and workerd; resolves when both are gone. */
  close(): Promise<void>;
}

const READY_DEADLINE_MS = 20_000;
const CLOSE_DEADLINE_MS = 2500;
/** A relay that lived this long was healthy: counting failures starts over. */
const HEALTHY_MS = 30_000;
const MAX_FAILURES = 8;

/** Resolves when the relay answers. Throws `StartFailure` for a busy port, a missing bundle, a runtime that does not start. */
export async function startEmbeddedRelay(options: EmbeddedRelayOptions): Promise<EmbeddedRelay> {
  if (!existsSync(options.workerPath)) throw new StartFailure(`The relay is not built (${options.workerPath} is missing): run npm run build.`);
  preparePrivateDirectory(join(options.stateDir, "embedded"));
  const hadLeftovers = endLeftovers(options.stateDir);
  await requireFreePort(options, hadLeftovers ? 3000 : 0);
  const first = await startChild(options, options.port);
  const state: Supervision = { options, port: first.port, running: first, closing: false, failures: 0, cancelRetry: () => {} };
  let lose: (why: StartFailure) => void = () => {};
  const lost = new Promise<StartFailure>((resolve) => (lose = resolve));
  supervise(state, lose);
  return {
    url: `http://${urlHost(options.host)}:${state.port}`,
    port: state.port,
    lost,
    async close() {
      state.closing = true;
      state.cancelRetry();
      await state.running?.end();
      rmSync(recordPath(options.stateDir), { force: true });
    },
  };
}

interface Supervision {
  readonly options: EmbeddedRelayOptions;
  readonly port: number;
  running: RunningChild | null;
  closing: boolean;
  failures: number;
  cancelRetry: () => void;
}

function supervise(state: Supervision, lose: (why: StartFailure) => void): void {
  const { log, timers } = state.options;
  const startedAt = performance.now();
  void state.running?.exited.then(() => {
    if (state.closing) return;
    state.running = null;
    state.failures = performance.now() - startedAt > HEALTHY_MS ? 1 : state.failures + 1;
    log.event("warn", "relay.died", { failures: state.failures });
    retry();
  });
  const retry = (): void => {
    if (state.failures > MAX_FAILURES) {
      lose(new StartFailure(`The local relay keeps dying (${state.failures} times in a row): see the log, then start again.`, EXIT.failed));
      return;
    }
    state.cancelRetry = timers.after(Math.min(5000, 100 * 2 ** state.failures), () => {
      startChild(state.options, state.port).then(
        async (child) => {
          if (state.closing) return child.end();
          state.running = child;
          log.event("info", "relay.restarted", { port: state.port });
          supervise(state, lose);
        },
        (error: unknown) => {
          state.failures++;
          log.event("warn", "relay.restart_failed", { error: error instanceof Error ? error.message : String(error) });
          if (!state.closing) retry();
        },
      );
    });
  };
}

interface RunningChild {
  readonly port: number;
  /** Settles when the child is gone and workerd with it. */
  readonly exited: Promise<void>;
  end(): Promise<void>;
}

/** Starts the child and waits until it serves. On failure nothing is left. */
async function startChild(options: EmbeddedRelayOptions, port: number): Promise<RunningChild> {
  const child = fork(options.childPath, [], {
    // Not in the terminal's process group: Ctrl-C must reach the agent first, which says goodbye through the relay.
    detached: true,
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    env: options.env,
    execArgv: [],
  });
  let runtime: ProcessIdentity | undefined;
  const exited = new Promise<void>((resolve) => {
    const gone = (): void => {
      if (runtime !== undefined) killExactly(runtime);
      resolve();
    };
    child.once("exit", gone);
    child.once("error", gone);
  });
  const end = async (): Promise<void> => {
    if (child.connected) child.disconnect();
    const cancel = options.timers.after(CLOSE_DEADLINE_MS, () => child.kill("SIGKILL"));
    await exited;
    cancel();
  };
  const record = (pid: number): void => {
    runtime = identify(pid);
    const processes = [identify(child.pid ?? 0), runtime].filter((found) => found !== undefined);
    try {
      writePrivateFile(recordPath(options.stateDir), JSON.stringify({ processes }));
    } catch (error) {
      // A full disk: only the clean-up after a double kill is lost.
      options.log.event("warn", "relay.unrecorded", { error: error instanceof Error ? error.message : String(error) });
    }
  };
  try {
    const bound = await readiness(child, options, { exited, record, port });
    return { port: bound, exited, end };
  } catch (error) {
    await end();
    throw error;
  }
}

function readiness(
  child: ChildProcess,
  options: EmbeddedRelayOptions,
  given: { readonly exited: Promise<void>; readonly record: (pid: number) => void; readonly port: number },
): Promise<number> {
  return new Promise((resolve, reject) => {
    const cancel = options.timers.after(READY_DEADLINE_MS, () =>
      reject(
        new StartFailure(
          `The local relay did not answer within ${READY_DEADLINE_MS / 1000} s: try again, or use a deployed one (--relay).`,
          EXIT.failed,
        ),
      ),
    );
    child.on("message", (message) => {
      const parsed = v.safeParse(RelayReport, message);
      if (!parsed.success) return;
      const report = parsed.output;
      if (report.t === "runtime") given.record(report.pid);
      if (report.t === "logged" && report.level !== "log")
        options.log.event("debug", "relay.logged", { level: report.level, message: report.message });
      if (report.t === "ready") resolve(report.port);
      if (report.t === "failed") reject(explain(report, options));
      if (report.t === "ready" || report.t === "failed") cancel();
    });
    void given.exited.then(() => {
      cancel();
      reject(new StartFailure("The local relay's process ended before it answered: try again, or use a deployed one (--relay).", EXIT.failed));
    });
    const { workerPath, stateDir, host, agentKey, callers } = options;
    const workspace = options.workspace ?? DEFAULT_WORKSPACE;
    const persistDir = join(stateDir, "embedded");
    const order: RelayOrder = { t: "start", workerPath, persistDir, host, port: given.port, agentKey, callers, workspace };
    child.send(order, (error) => {
      if (error !== null) reject(new StartFailure(`The local relay's process could not be started: ${error.message}.`, EXIT.failed));
    });
  });
}

function explain(report: { readonly code: string; readonly message: string }, options: EmbeddedRelayOptions): StartFailure {
  if (report.code === "ERR_ADDRESS_IN_USE")
    return new StartFailure(`Port ${options.port} on ${options.host} is in use by another program: end that, or choose another with --port.`);
  const firstLine = report.message.split("\n").find((line) => line.trim() !== "") ?? "no reason given";
  return new StartFailure(`The local relay could not start: ${firstLine.slice(0, 300)}`, EXIT.failed);
}

function recordPath(stateDir: string): string {
  return join(stateDir, "relay-processes.json");
}

/** Ends what an agent left that was killed together with its child. Safe because this agent holds the claim on `stateDir`. */
function endLeftovers(stateDir: string): boolean {
  const value = parseJson(readPrivateFile(recordPath(stateDir)) ?? "");
  const recorded = isJsonObject(value) && Array.isArray(value["processes"]) ? value["processes"] : [];
  let found = false;
  for (const item of recorded) {
    if (!isJsonObject(item) || typeof item["pid"] !== "number" || typeof item["began"] !== "string") continue;
    const identity = { pid: item["pid"], began: item["began"] };
    found ||= isStillRunning(identity);
    killExactly(identity);
  }
  return found;
}
