/**
 * Lets another Pi extension decide about calls to MCP servers (contract "Tool Approval"). The names of the event and of its answers are
 * those that permission extensions listen for.
 */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { JsonObject } from "../../shared/json.ts";
import type { CallOrigin, UpstreamApprovalRequest } from "../adapter/ports.ts";

export const MCP_TOOL_APPROVAL_REQUEST_EVENT = "pi-mcp-adapter:tool-approval-request";

export type McpToolApprovalAnswer = "allow_once" | "allow_for_session" | "deny" | "abstain";

export interface McpToolApprovalRequest {
  readonly requestId: string;
  readonly serverName: string;
  readonly originalToolName: string;
  readonly prefixedToolName: string;
  readonly args: JsonObject;
  readonly origin: CallOrigin;
  readonly signal?: AbortSignal;
  /** Takes the decision over. Only during the event, and only the first time. */
  claim(decide: () => McpToolApprovalAnswer | Promise<McpToolApprovalAnswer>): void;
}

/** [PI20] What the extension that claimed the call says: `abstain` when none did, `deny` when it throws or answers anything else. */
export async function askBroker(events: ExtensionAPI["events"], request: UpstreamApprovalRequest): Promise<McpToolApprovalAnswer> {
  let decide: (() => unknown) | undefined;
  let isOpen = true;
  const { requestId, server, original, displayed, args, origin, signal } = request;
  const asked: McpToolApprovalRequest = {
    requestId,
    serverName: server,
    originalToolName: original,
    prefixedToolName: displayed,
    // A listener that changes what it was shown changes nothing that is run.
    args: structuredClone(args),
    origin,
    signal,
    claim: (by) => {
      if (isOpen) decide ??= by;
    },
  };
  events.emit(MCP_TOOL_APPROVAL_REQUEST_EVENT, asked);
  isOpen = false;
  return decide === undefined ? "abstain" : answerOf(decide, signal);
}

async function answerOf(decide: () => unknown, signal: AbortSignal): Promise<McpToolApprovalAnswer> {
  const { promise: ended, resolve } = Promise.withResolvers<"deny">();
  const onAbort = (): void => resolve("deny");
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    const answer = await Promise.race([(async () => decide())(), ended]);
    return isAnswer(answer) ? answer : "deny";
  } catch {
    return "deny";
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

const ANSWERS: readonly unknown[] = ["allow_once", "allow_for_session", "deny", "abstain"] satisfies McpToolApprovalAnswer[];

function isAnswer(value: unknown): value is McpToolApprovalAnswer {
  return ANSWERS.includes(value);
}
