/** What passing upstreams through asks of the agent around it. The daemon makes one of the adapter's parts and its own state. */
import type { ClientCapabilities, ElicitResult } from "@modelcontextprotocol/client";
import type { ApprovalAnswer } from "../../../shared/approval.ts";
import type { JsonObject } from "../../../shared/json.ts";
import type { Result } from "../../../shared/result.ts";
import type { AbortSignalLike } from "../../../shared/tool.ts";
import type { OpenOptions, UpstreamConnection } from "../../adapter/upstream/connection.ts";

export interface Passage {
  /** The exposed upstreams, in the order they are listed. */
  readonly upstreams: readonly string[];
  /**
   * Opens a connection of its own; the caller closes it. What is switched off, invalid, or a project's and not yet allowed by the person
   * is refused here: nobody else asks. The error's message is a sentence for the client. Never rejects.
   */
  open(upstream: string, options: PassageOpen): Promise<Result<PassageConnection, { readonly message: string }>>;
  /** Whether the upstream's configuration lets this tool be offered. */
  admits(upstream: string, tool: string): boolean;
  /** The approval that a call of an upstream's tool, or a read of its resource, has to pass before anything of it is sent. Never rejects. */
  beforeCall(call: PassedCall): Promise<ApprovalAnswer>;
  /** The name of an upstream's tool or prompt where several are exposed, or where its own name is taken. */
  displayed(upstream: string, original: string): string;
  /** Seals what clients bring back: at least 32 bytes, kept by the agent so that they stay good when it restarts. */
  readonly key: Uint8Array;
  /** Names that no upstream may have, whether or not they are offered now. */
  readonly reserved: ReadonlySet<string>;
  /** Puts a form to the person for a client that declared no elicitation; null: nobody can be asked. */
  readonly forms: PassageForms | null;
}

export type PassageOpen = Pick<OpenOptions, "capabilities" | "prepare" | "signal">;
export type PassageConnection = Pick<UpstreamConnection, "client" | "facts" | "instructions" | "hasLostSession" | "closed" | "close">;

export interface PassedCall {
  readonly callId: string;
  readonly upstream: string;
  readonly original: string;
  readonly displayed: string;
  /** Of a resource that is read, no tool being called. */
  readonly uri?: string;
  /** Exactly what is sent if it is allowed. */
  readonly args: JsonObject;
  readonly principalId: string;
  readonly client: string;
  /** The call is over, or its client is gone. */
  readonly signal: AbortSignalLike;
  readonly probe: () => void;
}

export interface PassageForms {
  /** `params` as the upstream wrote them. Never rejects; an aborted question is `cancel`. */
  ask(question: {
    readonly upstream: string;
    readonly params: JsonObject;
    readonly principalId: string;
    readonly client: string;
    readonly signal: AbortSignal;
  }): Promise<ElicitResult>;
}

/** What a client can be asked for, as far as it is passed on: extensions are not. */
export type AskableCapabilities = Pick<ClientCapabilities, "elicitation" | "sampling" | "roots">;
