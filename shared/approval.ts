/**
 * Approval of single calls (`--approve`): the card the person sees, their decision, and the gate that a call passes before
 * anything is run. Whatever is not an allowing click is a refusal.
 */
import * as v from "valibot";
import type { JsonObject } from "./json.ts";
import type { AbortSignalLike } from "./tool.ts";

/** Characters of the command inside the card; the whole of a longer one is asked for by id. */
export const APPROVAL_HEAD_CHARS = 16_384;

export const ApprovalCard = v.object({
  id: v.string(),
  /** The call's row on the timeline. */
  callId: v.string(),
  tool: v.string(),
  /** What the client calls itself, as the timeline shows it. */
  client: v.string(),
  at: v.number(),
  /** What would run, as it came: a shell's command, another tool's arguments as JSON. The page makes hidden characters visible. */
  text: v.string(),
  /** Length of the whole; more than `text` has: the rest is asked for. */
  totalChars: v.number(),
  /** Other arguments of a shell call, as JSON; empty when there are none. */
  beside: v.string(),
  /** Not a call: an MCP server that a project's own files configure wants to run. `text` is its command line or address, `beside` the whole entry. */
  server: v.optional(v.object({ name: v.string(), files: v.array(v.string()) })),
});
export type ApprovalCard = v.InferOutput<typeof ApprovalCard>;

export const ApprovalDecision = v.object({
  id: v.pipe(v.string(), v.maxLength(100)),
  /** `sitting`: this exact call of this client needs no further click until the agent ends. */
  decision: v.picklist(["once", "sitting", "deny"]),
  /** Only read with `deny`: the client is told. */
  reason: v.optional(v.pipe(v.string(), v.maxLength(2000))),
});
export type ApprovalDecision = v.InferOutput<typeof ApprovalDecision>;

/** `gone`: it waits no longer; nothing was allowed by this click. */
export const ApprovalOutcome = v.object({ outcome: v.picklist(["allowed", "denied", "gone"]) });
export type ApprovalOutcome = v.InferOutput<typeof ApprovalOutcome>;

/** Why a card left the page. `withdrawn`: its call ended, its client left or the link was lost; nothing was run. */
export const ApprovalEnd = v.picklist(["allowed", "denied", "withdrawn"]);
export type ApprovalEnd = v.InferOutput<typeof ApprovalEnd>;

export interface ApprovalRequest {
  readonly callId: string;
  readonly tool: string;
  /** Exactly what will be run if it is allowed; nobody changes it meanwhile. */
  readonly args: JsonObject;
  readonly principalId: string;
  readonly client: string;
  /** What the tool is right now, where that can change: what was allowed for the sitting is allowed for this version of it. */
  readonly version?: string;
  /** The call is over: cancelled, expired, or its client is gone. */
  readonly signal: AbortSignalLike;
  /** Writes into the answer's stream, so that a client that has just left is noticed before its call is run. */
  readonly probe: () => void;
}

/** `text` is told to the client. */
export type ApprovalAnswer = { readonly allowed: true } | { readonly allowed: false; readonly text: string };

export interface ApprovalGate {
  /** Whether calls of this tool need a click. */
  guards(tool: string): boolean;
  /** Resolves with the person's decision, or a refusal when there can be none any more. Never rejects, never allows by itself. */
  ask(request: ApprovalRequest): Promise<ApprovalAnswer>;
}
