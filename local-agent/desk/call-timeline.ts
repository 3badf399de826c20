/** The calls the page shows: newest last, bounded in number and in memory. Knows nothing of who watches. */
import { appendOutput, forgetOutput, NO_OUTPUT, outputChars } from "../../shared/bounded-output.ts";
import type { CallFinished, CallStarted } from "../../shared/call-events.ts";
import type { TimelineCall } from "../../shared/desk.ts";
import type { ToolContent, ToolOutcome } from "../../shared/tool.ts";
import { visibleLine } from "../../shared/visible-text.ts";
import { summariseArguments } from "./argument-summary.ts";
import { clientLabel } from "./client-label.ts";

export interface TimelineLimits {
  readonly maxCalls: number;
  /** UTF-16 units of output over all calls; the oldest give theirs up first. */
  readonly maxTotalChars: number;
}

export interface CallTimeline {
  start(call: CallStarted): TimelineCall;
  /** `undefined` for a call that is unknown or over: late output of a settled call is dropped. */
  progress(callId: string, delta: string): TimelineCall | undefined;
  finish(end: CallFinished): TimelineCall | undefined;
  list(): TimelineCall[];
}

export function createCallTimeline(limits: TimelineLimits): CallTimeline {
  // A Map keeps insertion order, which is start order.
  const calls = new Map<string, TimelineCall>();

  function keep(call: TimelineCall): TimelineCall {
    calls.set(call.callId, call);
    for (const oldest of calls.keys()) {
      if (calls.size <= limits.maxCalls) break;
      calls.delete(oldest);
    }
    return call;
  }

  function makeRoom(): void {
    let total = 0;
    for (const call of calls.values()) total += outputChars(call.output);
    for (const call of calls.values()) {
      if (total <= limits.maxTotalChars) return;
      total -= outputChars(call.output);
      calls.set(call.callId, { ...call, output: forgetOutput(call.output) });
    }
  }

  return {
    start: (call) => keep(startedCall(call)),
    progress(callId, delta) {
      const call = calls.get(callId);
      if (call?.state !== "running") return undefined;
      const next = { ...call, output: appendOutput(call.output, delta) };
      calls.set(callId, next);
      makeRoom();
      return next;
    },
    finish(end) {
      const call = calls.get(end.callId);
      if (call?.state !== "running") return undefined;
      const next = finishedCall(call, end);
      calls.set(end.callId, next);
      makeRoom();
      return next;
    },
    list: () => [...calls.values()],
  };
}

function startedCall(call: CallStarted): TimelineCall {
  return {
    callId: call.callId,
    tool: visibleLine(call.tool, 100),
    summary: summariseArguments(call.tool, call.args),
    client: clientLabel(call),
    startedAt: call.at,
    state: "running",
    durationMs: null,
    output: NO_OUTPUT,
  };
}

function finishedCall(call: TimelineCall, end: CallFinished): TimelineCall {
  return { ...call, state: end.state, durationMs: Math.max(0, end.at - call.startedAt), output: finalOutput(call, end) };
}

/** The result replaces what was streamed: it is what the client was told, exit status included. A cancelled call has only its streamed part and a note. */
function finalOutput(call: TimelineCall, end: CallFinished): TimelineCall["output"] {
  const text = outcomeText(end.outcome);
  if (end.state !== "cancelled" || call.output === NO_OUTPUT) return appendOutput(NO_OUTPUT, text);
  return appendOutput(call.output, `\n${text}`);
}

function outcomeText(outcome: ToolOutcome): string {
  return outcome.content.map(contentText).join("\n");
}

function contentText(content: ToolContent): string {
  if (content.type === "text") return content.text;
  return `[${content.mimeType}, ${Math.ceil((content.data.length * 3) / 4 / 1024)} KiB]`;
}
