/** The agent's side of one tool host process: what was asked of it, and what becomes of that when it ends. */
import { fork } from "node:child_process";
import type { JsonObject } from "../../shared/json.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type { Timers } from "../../shared/ports.ts";
import type { ToolCall, ToolOutcome } from "../../shared/tool.ts";
import { openHostChannel, type HostChannel, type HostEnd, type HostReady } from "./host-channel.ts";
import { failedOutcome, type HostSettings } from "./host-protocol.ts";

export interface HostStart {
  readonly childPath: string;
  readonly env: NodeJS.ProcessEnv;
  readonly settings: HostSettings;
  /** How long the host may take to be ready. */
  readonly readyMs: number;
  /** How long a call may take to settle once aborted; then the host is killed. */
  readonly abortGraceMs: number;
  readonly timers: Timers;
}

interface PreparedHandle {
  readonly handle: number;
  /** What will be executed: the tool's own rewriting and coercion are already in it. */
  readonly args: JsonObject;
}

export interface HostProcess {
  readonly pid: number | undefined;
  readonly ready: Promise<Result<HostReady, HostEnd>>;
  readonly ended: Promise<HostEnd>;
  /** Never rejects; the error is the outcome to answer with. */
  prepare(name: string, args: JsonObject): Promise<Result<PreparedHandle, ToolOutcome>>;
  execute(handle: number, call: Pick<ToolCall, "name" | "callId" | "signal" | "onProgress">): Promise<ToolOutcome>;
  discard(handle: number): void;
  /** Lets the host end by itself, and kills it after `graceMs`. Resolves when it is gone. */
  stop(graceMs: number): Promise<void>;
}

export function startHostProcess(start: HostStart): HostProcess {
  const child = fork(start.childPath, [], {
    env: start.env,
    execArgv: [],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    serialization: "advanced",
  });
  const channel = openHostChannel(child, start.readyMs, start.timers);
  channel.send({ t: "start", settings: start.settings });
  return {
    pid: child.pid,
    ready: channel.ready,
    ended: channel.ended,
    async prepare(name, args) {
      // Preparing is a matter of milliseconds: a host that does not answer is stuck, and so is everything it runs.
      const cancel = start.timers.after(start.readyMs, channel.kill);
      const prepared = await channel.ask<Result<PreparedHandle, ToolOutcome>>({
        ask: (id) => ({ t: "prepare", id, name, args }),
        answer: (message) => (message.t === "prepared" ? ok({ handle: message.handle, args: message.args }) : err(message.outcome)),
        lost: (reason) => err(failedOutcome(`the tool host ended before ${name} started (${reason}): nothing was run, call again`)),
      });
      cancel();
      return prepared;
    },
    execute(handle, call) {
      return executeOn(channel, handle, call, start);
    },
    discard(handle) {
      channel.send({ t: "discard", handle });
    },
    async stop(graceMs) {
      const cancel = start.timers.after(graceMs, channel.kill);
      if (child.connected) child.disconnect();
      else channel.kill();
      await channel.ended;
      cancel();
    },
  };
}

type Execution = Pick<ToolCall, "name" | "callId" | "signal" | "onProgress">;

async function executeOn(channel: HostChannel, handle: number, call: Execution, start: HostStart): Promise<ToolOutcome> {
  if (call.signal.aborted) {
    channel.send({ t: "discard", handle });
    return cancelledBeforeStart(call);
  }
  let cancelKill: (() => void) | undefined;
  let callNumber = 0;
  const onAbort = (): void => {
    channel.send({ t: "abort", id: callNumber });
    // Pi may wait for something no signal reaches; a fresh host is better than a call that never ends.
    cancelKill ??= start.timers.after(start.abortGraceMs, channel.kill);
  };
  const answered = channel.ask<ToolOutcome>({
    ask: (id) => {
      callNumber = id;
      return { t: "execute", id, handle, callId: call.callId };
    },
    answer: (message) => (message.t === "result" ? message.outcome : failedOutcome("the tool host answered out of turn")),
    lost: (reason) =>
      failedOutcome(`the tool host ended while it ran ${call.name} (${reason}): the call may have taken effect, check before you repeat it`),
    onProgress: (delta) => call.onProgress({ delta }),
  });
  call.signal.addEventListener("abort", onAbort, { once: true });
  try {
    return withAbortReason(await answered, call);
  } finally {
    call.signal.removeEventListener("abort", onAbort);
    cancelKill?.();
  }
}

export function cancelledBeforeStart(call: Pick<ToolCall, "name" | "signal">): ToolOutcome {
  return withAbortReason(failedOutcome(`${call.name} was cancelled before it started: nothing was run`), call);
}

/** Pi says "Command aborted"; whoever aborted knows why (a deadline, the client). */
function withAbortReason(outcome: ToolOutcome, { signal }: Pick<ToolCall, "signal">): ToolOutcome {
  if (!signal.aborted || !outcome.isError) return outcome;
  const reason = reasonOf(signal.reason);
  return reason === undefined ? outcome : { ...outcome, content: [...outcome.content, { type: "text", text: `Stopped: ${reason}` }] };
}

/** A plain `abort()` carries an AbortError, which says nothing. */
function reasonOf(reason: unknown): string | undefined {
  if (typeof reason === "string") return reason;
  return reason instanceof Error && reason.name !== "AbortError" ? reason.message : undefined;
}
