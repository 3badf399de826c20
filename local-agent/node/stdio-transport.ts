/**
 * An upstream as a child process that speaks on its stdin and stdout.
 *
 * Invariants: the child and all it started end with the transport (UT4); nobody waits for a child longer than a deadline;
 * no line and no tail grows without bound (UT6). A child of an agent that was killed sees the end of its input.
 */
import { stat } from "node:fs/promises";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { withShownAddresses } from "../adapter/upstream/shown-address.ts";
import type { Timers } from "../../shared/ports.ts";
import { visibleLine } from "../../shared/visible-text.ts";
import { MessageLines } from "./message-lines.ts";
import { writeMessage } from "./message-writer.ts";
import type { OwnedProcess, ProcessGroups } from "./process-groups.ts";
import { TextTail } from "./text-tail.ts";

export interface StdioProgram {
  readonly command: string;
  readonly args: readonly string[];
  /** The child's whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | null;
}

export interface StdioHost {
  readonly groups: ProcessGroups;
  readonly timers: Timers;
  /** What the child writes to its error stream, for whoever wants to see it. */
  readonly onErrorOutput?: (chunk: Buffer) => void;
}

const STDERR_TAIL_BYTES = 8 * 1024;
/** A server that ends by itself at the end of its input may write down what it has first. */
const END_OF_INPUT_MS = 500;
const TERMINATE_MS = 2000;
/** After the child's exit its last words may still be in the pipe; a grandchild that holds the pipe keeps nobody waiting. */
const LAST_WORDS_MS = 300;
/** As long, and the exit before it. A process that closes its input and lives on is found out after that. */
const BROKEN_PIPE_MS = 2 * LAST_WORDS_MS;
/** A server that prints to its output all day is mentioned, not repeated. */
const MAX_STRAY_REPORTS = 3;
const MAX_SHOWN_LINE = 300;

export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];
  /** The process ended by itself: how, in a sentence. Called before `onerror` and `onclose`. */
  onEnded?: (how: string) => void;
  /** The SDK takes what has `stderr` and `pid` for a child process, whose silence is no network fault. */
  readonly stderr = null;
  readonly #program: StdioProgram;
  readonly #host: StdioHost;
  readonly #tail = new TextTail(STDERR_TAIL_BYTES);
  readonly #lines: MessageLines;
  #owned: OwnedProcess | null = null;
  #strayLines = 0;
  #state: "new" | "running" | "over" = "new";
  #ended: Promise<void> | null = null;
  readonly #over = Promise.withResolvers<void>();

  constructor(program: StdioProgram, host: StdioHost) {
    this.#program = program;
    this.#host = host;
    this.#lines = new MessageLines({
      message: (message) => this.onmessage?.(message),
      stray: (error) => {
        this.#strayLines += 1;
        if (this.#strayLines <= MAX_STRAY_REPORTS) this.onerror?.(error);
      },
    });
  }

  get pid(): number | null {
    return this.#owned?.child.pid ?? null;
  }

  /** At most 8 KiB. */
  stderrTail(): string {
    return this.#tail.text();
  }

  /** Rejects with a sentence when the program cannot be started. */
  async start(): Promise<void> {
    if (this.#state !== "new") throw new Error("This transport was started before.");
    this.#state = "running";
    const { command, args, env, cwd } = this.#program;
    if (cwd !== null) await assertDirectory(cwd);
    if (this.#isOver()) throw new Error("The transport was closed while it was being started.");
    const owned = this.#host.groups.start(command, args, { env, stdio: ["pipe", "pipe", "pipe"], ...(cwd !== null && { cwd }) });
    this.#owned = owned;
    const { child } = owned;
    child.stdout?.on("data", (chunk: Buffer) => this.#take(chunk));
    child.stderr?.on("data", (chunk: Buffer) => {
      this.#tail.add(chunk);
      this.#host.onErrorOutput?.(chunk);
    });
    // A broken pipe is told by the child's exit, with more to say.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on("error", () => {});
    child.once("exit", () => {
      const cancel = this.#host.timers.after(LAST_WORDS_MS, () => this.#childEnded());
      child.once("close", () => {
        cancel();
        this.#childEnded();
      });
    });
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", (error: NodeJS.ErrnoException) => reject(startFailure(error, command)));
    });
  }

  /** Rejects when it cannot be written; where that is because the process has ended, only after `onclose`. */
  async send(message: JSONRPCMessage): Promise<void> {
    try {
      await writeMessage(this.#state === "running" ? this.#owned?.child.stdin : null, message);
    } catch (error) {
      // The pipe breaks before the exit is heard of, and only that says why.
      if (this.#owned?.child.stdin?.writable === false) await this.#overWithin(BROKEN_PIPE_MS);
      throw error;
    }
  }

  /** Resolves when the child is gone. Calling it again waits for the same end. */
  close(): Promise<void> {
    this.#ended ??= this.#end();
    return this.#ended;
  }

  #take(chunk: Buffer): void {
    if (this.#isOver()) return;
    try {
      this.#lines.take(chunk);
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
      void this.close();
    }
  }

  #isOver(): boolean {
    return this.#state === "over";
  }

  /** The child ended by itself: says how, and ends what it left behind. */
  #childEnded(): void {
    if (this.#isOver()) return;
    const { exitCode = null, signalCode = null } = this.#owned?.child ?? {};
    const how = signalCode === null ? `with exit code ${exitCode ?? "unknown"}` : `by ${signalCode}`;
    const sentence = `The server's process ended ${how}.${lastLines(this.stderrTail())}`;
    this.onEnded?.(sentence);
    this.onerror?.(new Error(sentence));
    void this.close();
  }

  async #end(): Promise<void> {
    this.#state = "over";
    const owned = this.#owned;
    owned?.child.stdin?.end();
    // At once: whoever waits for an answer need not wait for the processes to end.
    this.onclose?.();
    this.#over.resolve();
    if (owned === null) return;
    await this.#exitWithin(owned, END_OF_INPUT_MS);
    await owned.end(TERMINATE_MS);
    for (const stream of [owned.child.stdin, owned.child.stdout, owned.child.stderr]) stream?.destroy();
  }

  async #overWithin(deadlineMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.#host.timers.after(deadlineMs, resolve);
    await Promise.race([this.#over.promise, promise]);
    cancel();
  }

  #exitWithin({ child }: OwnedProcess, deadlineMs: number): Promise<void> {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = this.#host.timers.after(deadlineMs, resolve);
      child.once("exit", () => {
        cancel();
        resolve();
      });
    });
  }
}

/** A missing directory would be reported as if the command were missing (both are ENOENT of spawn). */
async function assertDirectory(cwd: string): Promise<void> {
  const found = await stat(cwd).catch(() => null);
  if (found === null) throw new Error(`The working directory ("cwd") does not exist: ${cwd}`);
  if (!found.isDirectory()) throw new Error(`The working directory ("cwd") is not a directory: ${cwd}`);
}

function startFailure(error: NodeJS.ErrnoException, command: string): Error {
  const what =
    error.code === "ENOENT"
      ? `The command "${command}" was not found; install it, or give its full path.`
      : `The command "${command}" could not be started: ${error.code ?? error.message}.`;
  return new Error(what, { cause: error });
}

/** The last three lines, on one. A server may name the address it could not reach, with its key: whoever calls may read this. */
function lastLines(tail: string): string {
  const lines = tail.split("\n").filter((line) => line.trim() !== "");
  return lines.length === 0
    ? ""
    : ` It wrote last: ${lines
        .slice(-3)
        .map((line) => visibleLine(withShownAddresses(line), MAX_SHOWN_LINE))
        .join(" | ")}`;
}
