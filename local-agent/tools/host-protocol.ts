/**
 * Messages between the agent and its tool host, over Node's IPC channel with structured clone. Both ends are this
 * program, started together, so the declarations are trusted and not checked again.
 */
import type { JsonObject } from "../../shared/json.ts";
import type { ToolDescriptor, ToolOutcome } from "../../shared/tool.ts";

/** First message to the host. */
export interface HostSettings {
  readonly root: string;
  readonly deny: readonly string[];
  /** Absolute places that are closed whatever `deny` says. */
  readonly closed: readonly string[];
  /** Absolute places that are closed to writing. */
  readonly writeClosed: readonly string[];
  /** Undefined: the platform's default. */
  readonly tools: readonly string[] | undefined;
  readonly mark: string;
  /** Private directory of this agent, 0700; the host removes it when its agent is gone. */
  readonly privateDir: string;
  /** Pi's own directory, inside the private one: nothing of the person's Pi is read. */
  readonly agentDir: string;
  /** Where long output is kept for `read`; inside the private directory. */
  readonly spillDir: string;
  /** Environment of the person's shell: without our secrets, and without what is set for the host alone. */
  readonly shellEnv: Readonly<Record<string, string>>;
}

export type ToHost =
  | { readonly t: "start"; readonly settings: HostSettings }
  | { readonly t: "prepare"; readonly id: number; readonly name: string; readonly args: JsonObject }
  | { readonly t: "execute"; readonly id: number; readonly handle: number; readonly callId: string }
  | { readonly t: "discard"; readonly handle: number }
  /** `id` of an `execute`. */
  | { readonly t: "abort"; readonly id: number };

export type FromHost =
  | {
      readonly t: "ready";
      readonly tools: readonly ToolDescriptor[];
      readonly root: string;
      /** Those of the settings' places that the root contains or lies in. */
      readonly writeClosed: readonly string[];
      readonly warnings: readonly string[];
    }
  /** The settings cannot be used; the host ends. A sentence for the person. */
  | { readonly t: "unusable"; readonly reason: string }
  | { readonly t: "prepared"; readonly id: number; readonly handle: number; readonly args: JsonObject }
  | { readonly t: "progress"; readonly id: number; readonly delta: string }
  /** Answers a `prepare` that was refused, or an `execute`. */
  | { readonly t: "result"; readonly id: number; readonly outcome: ToolOutcome }
  /** The host is about to end on an error of its own. */
  | { readonly t: "fault"; readonly message: string };

export function failedOutcome(text: string): ToolOutcome {
  return { content: [{ type: "text", text }], isError: true };
}
