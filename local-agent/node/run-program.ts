/** Runs a program for what it prints, within bounds: time, output, and nothing of it left behind. */
import type { Timers } from "../../shared/ports.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type { ProcessGroups } from "./process-groups.ts";

export interface ProgramRun {
  readonly command: string;
  readonly args: readonly string[];
  /** The platform's shell reads `command`; `args` are none then. */
  readonly shell?: boolean;
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Absent: the program finds an empty input. */
  readonly input?: string;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

export interface ProgramHost {
  readonly groups: ProcessGroups;
  readonly timers: Timers;
}

/** A program that does not end is killed; it was given its time. */
const GRACE_MS = 200;
/** After its exit its last words may still be in the pipe; what it left behind and holds the pipe keeps nobody waiting. */
const LAST_WORDS_MS = 300;

/**
 * Resolves with what it printed on its output, or with how it went wrong, as the end of a sentence about it ("… took longer than
 * 10 seconds"). Its error stream is read by nobody: secrets end up there.
 */
export async function runProgram(run: ProgramRun, { groups, timers }: ProgramHost): Promise<Result<string, string>> {
  if (run.signal.aborted) return err("was cancelled");
  const owned = groups.start(run.command, run.args, {
    env: run.env,
    cwd: run.cwd,
    shell: run.shell === true,
    stdio: [run.input === undefined ? "ignore" : "pipe", "pipe", "ignore"],
  });
  const { child } = owned;
  const chunks: Buffer[] = [];
  let bytes = 0;
  const { promise, resolve } = Promise.withResolvers<Result<string, string>>();
  const cancelTimer = timers.after(run.timeoutMs, () => resolve(err(`took longer than ${run.timeoutMs / 1000} seconds`)));
  const onAbort = (): void => resolve(err("was cancelled"));
  run.signal.addEventListener("abort", onAbort, { once: true });
  child.once("error", (error: NodeJS.ErrnoException) =>
    resolve(err(error.code === "ENOENT" ? "was not found" : `could not be started (${error.code ?? error.message})`)),
  );
  child.stdout?.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > run.maxBytes) resolve(err(`printed more than ${run.maxBytes} bytes`));
    else chunks.push(chunk);
  });
  let cancelLastWords = (): void => {};
  const onEnd = (code: number | null, signal: NodeJS.Signals | null): void => {
    if (code === 0) resolve(ok(Buffer.concat(chunks).toString("utf8")));
    else resolve(err(signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`));
  };
  child.once("close", onEnd);
  child.once("exit", (code, signal) => {
    cancelLastWords = timers.after(LAST_WORDS_MS, () => onEnd(code, signal));
  });
  child.stdin?.on("error", () => {});
  child.stdin?.end(run.input);
  const result = await promise;
  cancelTimer();
  cancelLastWords();
  run.signal.removeEventListener("abort", onAbort);
  await owned.end(GRACE_MS);
  // What has left the group may hold the other ends for ever.
  for (const stream of [child.stdin, child.stdout]) stream?.destroy();
  return result;
}
