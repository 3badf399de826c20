/**
 * Pi's shell port for one call. Pi ends the command's process group at a time-out and at a cancellation; what left the
 * group is found by the call's mark, and what left that too loses the pipe Pi waits on.
 */
import type { ChildProcess } from "node:child_process";
import { mkdir } from "node:fs/promises";
import type { Timers } from "../../shared/ports.ts";
import { outputDeltas } from "./output-deltas.ts";
import { endMarked, endProcessTree, type MarkedBy } from "./process-marker.ts";

/** After the kill: long enough for pipes to be read empty, short of the agent's own patience with the host. */
const PIPE_GRACE_MS = 1_000;
/** Pi's own timer comes first, so that its message says what happened. */
const AFTER_PI_MS = 20;

interface ShellExecOptions {
  onData: (data: Buffer) => void;
  signal?: AbortSignal;
  timeout?: number;
  env?: NodeJS.ProcessEnv;
}

/** The shape of Pi's `BashOperations`. */
export interface ShellPort {
  exec(command: string, cwd: string, options: ShellExecOptions): Promise<{ exitCode: number | null }>;
}

export interface ShellCall {
  readonly signal: AbortSignal;
  readonly carriers: MarkedBy;
  /** Processes started for this call; see `spawn-seam.ts`. */
  readonly children: ReadonlySet<ChildProcess>;
  /** Pi keeps long output here; it crashes its process when the directory is missing. */
  readonly spillDir: string;
  readonly report: (delta: string) => void;
  readonly timers: Timers;
}

export function shellPort(inner: ShellPort, call: ShellCall): ShellPort {
  return {
    async exec(command, cwd, options) {
      await mkdir(call.spillDir, { recursive: true, mode: 0o700 });
      const deltas = outputDeltas(call.report, call.timers);
      const ending = endAtDeadlineOrAbort(call, options.timeout);
      try {
        const exited = await inner.exec(command, cwd, {
          ...options,
          onData(data) {
            options.onData(data);
            deltas.push(data);
          },
        });
        // Pi begins to count when the shell was started, which can take longer than the timers are apart: what ended the command then was this one.
        if (ending.isLate()) throw new Error(`timeout:${options.timeout}`);
        return exited;
      } finally {
        deltas.finish();
        await ending.settled();
      }
    },
  };
}

interface Ending {
  /** Whether the time-out was what ended the call. */
  isLate(): boolean;
  /** Waits for an end that has begun, and disarms. */
  settled(): Promise<void>;
}

/** Ends everything of the call when it is cancelled or past its time-out. */
function endAtDeadlineOrAbort(call: ShellCall, timeoutSeconds: number | undefined): Ending {
  let late = false;
  let ended: Promise<unknown> | undefined;
  const cancels: (() => void)[] = [];
  const end = (): void => {
    ended ??= endCall(call);
    cancels.push(call.timers.after(PIPE_GRACE_MS, () => dropPipes(call.children)));
  };
  const endLate = (): void => {
    late = ended === undefined;
    end();
  };
  const timeoutMs = (timeoutSeconds ?? 0) * 1_000;
  // setTimeout takes a signed 32-bit number; Pi refuses longer time-outs itself.
  if (timeoutMs > 0 && timeoutMs < 2 ** 31 - 1 - AFTER_PI_MS) cancels.push(call.timers.after(timeoutMs + AFTER_PI_MS, endLate));
  call.signal.addEventListener("abort", end, { once: true });
  return {
    isLate: () => late,
    async settled() {
      call.signal.removeEventListener("abort", end);
      for (const cancel of cancels) cancel();
      await ended;
    },
  };
}

async function endCall(call: ShellCall): Promise<void> {
  if (process.platform === "win32") for (const child of call.children) if (child.pid !== undefined) endProcessTree(child.pid);
  await endMarked(call.carriers);
}

/** A process that cleared its environment can keep a pipe open for ever, and with it the call. */
function dropPipes(children: ReadonlySet<ChildProcess>): void {
  for (const child of children) {
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}
