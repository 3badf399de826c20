/** One tool call: told to the observer, run by the tool source, reported while it runs, never rejecting. */
import type { JsonObject } from "../../shared/json.ts";
import type { Clock, Log } from "../../shared/ports.ts";
import type { Principal } from "../../shared/principal.ts";
import type { Result } from "../../shared/result.ts";
import type { PreparedCall, ToolCall, ToolDescriptor, ToolOutcome, ToolProgress } from "../../shared/tool.ts";
import type { ApprovalGate } from "../../shared/approval.ts";
import type { CallObserver } from "../../shared/call-events.ts";
import type { FairShare } from "./fair-share.ts";
import { runGuarded } from "./guarded-call.ts";

/** The exchange or connection that a call belongs to. */
export interface CallScope {
  readonly principal: Principal;
  /** `ExchangeContext.x`. */
  readonly x: number | null;
  /** Aborts when the client's connection was seen closed, whatever that means for the call. */
  readonly gone: AbortSignal;
  /** Writes a comment into the answer's stream, if there is one: a connection that its client closed is noticed by writing. */
  readonly probe: () => void;
  /** Aborts when the call must end; its reason is handed to the tool unchanged. */
  readonly signal: AbortSignal;
  /** False while the client does not take what was already written. */
  readonly writable: () => boolean;
  /** Whether the client takes a task instead of a result. */
  readonly takesTasks?: boolean;
  /** A tool is about to run, and `abort` ends that call alone; the returned function says that it has settled. */
  readonly began: (abort: (reason: Error) => void) => () => void;
}

/** The scope as one call sees it: its signal is the call's own. */
export interface OneCallScope extends CallScope {
  readonly abort: (reason: Error) => void;
}

/** What a call reports while it prints nothing, if its client asked for progress. */
export interface SilenceReport {
  readonly everyMs: number;
  /** @param elapsedMs since the call began */
  readonly message: (elapsedMs: number) => string;
}

/** Tools of which some must know whose call it is and how its answer travels. Every `ToolSource` is one. */
export interface ScopedTools {
  list(): readonly ToolDescriptor[];
  /** As `ToolSource.call`: never rejects. */
  call(call: ToolCall, scope: CallScope): Promise<ToolOutcome>;
  /** As `ToolSource.prepare`; whoever wraps tools hands it on. */
  prepare?(call: ToolCall, scope: CallScope): Promise<Result<PreparedCall, ToolOutcome>>;
  /** Undefined where the ordinary report does. */
  silence?(name: string): SilenceReport | undefined;
}

export interface ToolCallPorts {
  readonly tools: ScopedTools;
  readonly calls: CallObserver;
  readonly clock: Clock;
  readonly log: Log;
  /** Mints call ids; unique, unguessable. */
  readonly newCallId: () => string;
  readonly share: FairShare;
  /** What a call of a guarded tool has to pass before anything is run. */
  readonly gate: ApprovalGate;
}

/** What a client asks for, and how it is told of it meanwhile. */
export interface AskedCall {
  readonly name: string;
  readonly args: JsonObject;
  readonly onProgress: (progress: ToolProgress) => void;
  /** What progress says while there is none; null: that the tool runs. */
  readonly say: (message: string | null) => void;
}

/** Runs one call. A source that throws although it must not is a defect: logged, and answered as a failed call. */
export async function runToolCall(ports: ToolCallPorts, call: AskedCall, scope: OneCallScope): Promise<ToolOutcome> {
  const callId = ports.newCallId();
  const startedAt = ports.clock.now();
  const settled = scope.began(scope.abort);
  const { id: principalId, name: client } = scope.principal;
  ports.calls.started({ callId, tool: call.name, args: call.args, client, principalId, at: startedAt });
  ports.log.event("info", "call.started", { callId, tool: call.name, principal: principalId });
  const leave = ports.share.take(principalId);
  const outcome = leave === undefined ? TOO_MANY : await execute(ports, call, scope, callId);
  leave?.();
  settled();
  const at = ports.clock.now();
  const state = scope.signal.aborted ? "cancelled" : outcome.isError ? "failed" : "ok";
  ports.calls.finished({ callId, outcome, at, state });
  ports.log.event("info", "call.finished", { callId, tool: call.name, state, ms: at - startedAt });
  return outcome;
}

async function execute(ports: ToolCallPorts, call: AskedCall, scope: CallScope, callId: string): Promise<ToolOutcome> {
  if (scope.signal.aborted) return failed("The call was cancelled before it began; nothing was run.");
  const onProgress = (progress: ToolProgress): void => {
    if (progress.delta === "") return;
    ports.calls.progressed({ callId, delta: progress.delta });
    call.onProgress(progress);
  };
  try {
    const asked = { name: call.name, args: call.args, callId, signal: scope.signal, onProgress };
    return ports.gate.guards(call.name) ? await runGuarded(ports, asked, scope, call.say) : await ports.tools.call(asked, scope);
  } catch (cause) {
    ports.log.event("error", "call.broken", { callId, tool: call.name, error: cause instanceof Error ? cause.name : typeof cause });
    return failed(`The tool ${call.name} failed inside the agent and may have run in part. The agent's log has the call ${callId}.`);
  }
}

const TOO_MANY = failed("Too many calls of this client are still running here. Wait for one to end, or cancel one; nothing was run.");

function failed(text: string): ToolOutcome {
  return { content: [{ type: "text", text }], isError: true };
}
