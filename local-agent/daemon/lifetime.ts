/**
 * How the agent ends: once, for one reason, everything it opened closed in reverse order within a deadline. First cause
 * wins. Rules: docs/spec/start.md, ST20 to ST24.
 */
import type { Log } from "../../shared/ports.ts";
import { EXIT, type ExitCode } from "./start-failure.ts";

export interface EndReason {
  readonly exitCode: ExitCode;
  /** For the log: `signal`, `parent_gone`, `refused` … */
  readonly why: string;
  /** One sentence for the person; null when they asked for the end themselves. */
  readonly message: string | null;
}

interface Ended extends EndReason {
  /** What went wrong while closing; the end itself stands. */
  readonly errors: readonly unknown[];
}

export interface Lifetime {
  /** Aborts when the end begins. */
  readonly signal: AbortSignal;
  /** Runs `cleanup` at the end, after those registered later. Once the end has begun it runs at once. */
  onEnd(name: string, cleanup: () => void | Promise<void>): void;
  /** Begins the end; a later call changes nothing. */
  end(reason: EndReason): void;
  /** Settles when everything is closed or the deadline has passed. */
  readonly ended: Promise<Ended>;
}

export function createLifetime(log: Log, deadlineMs = 5000): Lifetime {
  const controller = new AbortController();
  const cleanups: { readonly name: string; readonly run: () => void | Promise<void> }[] = [];
  const errors: unknown[] = [];
  let settle: (ended: Ended) => void = () => {};
  const ended = new Promise<Ended>((resolve) => (settle = resolve));
  let reason: EndReason | null = null;

  const runOne = async (name: string, run: () => void | Promise<void>): Promise<void> => {
    try {
      await run();
    } catch (error) {
      errors.push(error);
      log.event("warn", "cleanup.failed", { name, error: error instanceof Error ? error.message : String(error) });
    }
  };
  const closeAll = async (): Promise<void> => {
    for (let next = cleanups.pop(); next !== undefined; next = cleanups.pop()) await runOne(next.name, next.run);
  };
  return {
    signal: controller.signal,
    onEnd(name, run) {
      if (reason === null) cleanups.push({ name, run });
      else void runOne(name, run);
    },
    end(given) {
      if (reason !== null) return;
      reason = given;
      log.event("info", "agent.ending", { why: given.why });
      controller.abort(given);
      const timer = setTimeout(() => settle({ ...given, errors: [...errors, new Error(`closing took longer than ${deadlineMs} ms`)] }), deadlineMs);
      void closeAll().then(() => {
        clearTimeout(timer);
        settle({ ...given, errors });
      });
    },
    ended,
  };
}

/** Signals a terminal and npm both deliver arrive twice within this time: one keystroke, not two. */
const SAME_KEYSTROKE_MS = 800;

export interface Watch {
  readonly endHard: () => void;
  readonly log: Log;
  readonly host?: NodeJS.Process;
}

/**
 * Turns what happens to the process into its end: SIGINT, SIGTERM, SIGHUP, the parent's IPC channel closing, an uncaught
 * exception. A second signal, later than one keystroke's echo, calls `endHard`. Returns a function that takes the handlers off.
 */
export function watchProcess(lifetime: Lifetime, { endHard, log, host = process }: Watch): () => void {
  let firstAt: number | null = null;
  const onSignal = (name: NodeJS.Signals): void => {
    const now = performance.now();
    if (firstAt !== null && now - firstAt > SAME_KEYSTROKE_MS) endHard();
    firstAt ??= now;
    lifetime.end({ exitCode: EXIT.asked, why: name, message: null });
  };
  const onDisconnect = (): void => lifetime.end({ exitCode: EXIT.asked, why: "parent_gone", message: null });
  const onError = (error: unknown): void => {
    if (isBrokenPipe(error)) return; // Whoever read our output has gone; that is no reason to drop the clients.
    log.event("error", "agent.broken", { error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    lifetime.end({
      exitCode: EXIT.failed,
      why: "uncaught",
      message: `pimcp ended because of an internal error: ${error instanceof Error ? error.message : String(error)}`,
    });
  };
  // Mostly an aborted request nobody waits for any more: one client's must not end the calls of the others.
  const onRejection = (error: unknown): void =>
    log.event("error", "promise.unhandled", { error: error instanceof Error ? error.message : String(error) });
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const name of signals) host.on(name, onSignal);
  host.on("disconnect", onDisconnect);
  host.on("uncaughtException", onError);
  host.on("unhandledRejection", onRejection);
  return () => {
    for (const name of signals) host.off(name, onSignal);
    host.off("disconnect", onDisconnect);
    host.off("uncaughtException", onError);
    host.off("unhandledRejection", onRejection);
  };
}

function isBrokenPipe(error: unknown): boolean {
  return (
    error instanceof Error && "code" in error && (error.code === "EPIPE" || error.code === "EIO") && "syscall" in error && error.syscall === "write"
  );
}
