/** A tool as the agent offers it, whoever runs it, and the answer of one call. */
import type { JsonObject, JsonValue } from "./json.ts";
import type { Result } from "./result.ts";

export interface ToolDescriptor {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** MCP tool annotations, filled in truthfully. */
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
  /** One line for the operating prompt. */
  readonly promptSnippet?: string | undefined;
  readonly promptGuidelines?: readonly string[] | undefined;
}

export type ToolContent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly data: string; readonly mimeType: string };

/** A tool that fails returns `isError: true`, so that the model sees it; it does not throw. */
export interface ToolOutcome {
  readonly content: readonly ToolContent[];
  readonly structuredContent?: JsonValue | undefined;
  readonly isError: boolean;
  /** Instead of a result, for a client that takes one: a task whose result it fetches later (MCP extension `io.modelcontextprotocol/tasks`). */
  readonly task?: JsonObject | undefined;
}

/** Output that arrived since the last report, never a snapshot. */
export interface ToolProgress {
  readonly delta: string;
}

export interface ToolCall {
  readonly name: string;
  readonly args: JsonObject;
  /** Unique per call; log lines, the timeline and process markers carry it. */
  readonly callId: string;
  readonly signal: AbortSignalLike;
  readonly onProgress: (progress: ToolProgress) => void;
}

/** The part of `AbortSignal` used across the tool boundary, so that this module needs neither Node nor DOM types. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** A call as it will run. Executing or discarding it uses it up. */
export interface PreparedCall {
  readonly name: string;
  /** Exactly what is executed: shown to whoever approves it. */
  readonly args: JsonObject;
  /** Never rejects. */
  execute(): Promise<ToolOutcome>;
  discard(): void;
}

/** Whatever can list and run tools. `call` never rejects: every failure is a `ToolOutcome`. */
export interface ToolSource {
  list(): readonly ToolDescriptor[];
  call(call: ToolCall): Promise<ToolOutcome>;
  /**
   * Rewrites and validates the arguments as the tool does, and runs nothing. The error is the outcome to answer with. Left out
   * by a source that runs arguments as they are given; whoever wraps a source hands it on.
   */
  prepare?(call: ToolCall): Promise<Result<PreparedCall, ToolOutcome>>;
}
