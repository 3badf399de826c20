/** What is told about a tool call while it runs: to the desk's timeline, an audit log, a test. */
import type { JsonObject } from "./json.ts";
import type { ToolOutcome } from "./tool.ts";

export interface CallStarted {
  readonly callId: string;
  readonly tool: string;
  readonly args: JsonObject;
  /** What the client calls itself; text for people. */
  readonly client: string;
  readonly principalId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface CallProgressed {
  readonly callId: string;
  readonly delta: string;
}

export interface CallFinished {
  readonly callId: string;
  readonly outcome: ToolOutcome;
  readonly at: number;
  readonly state: "ok" | "failed" | "cancelled";
}

/** Every `started` is followed by exactly one `finished`. Must not throw and must not keep `args` or `outcome` unbounded. */
export interface CallObserver {
  started(call: CallStarted): void;
  progressed(progress: CallProgressed): void;
  finished(call: CallFinished): void;
}
