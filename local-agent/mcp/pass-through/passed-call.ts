/** One `tools/call` of an upstream's tool: allowed, told to the observer, sent, and answered as the upstream answers. */
import type { ServerContext, Tool } from "@modelcontextprotocol/server";
import type { ApprovalGate } from "../../../shared/approval.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../shared/json.ts";
import type { ToolCall, ToolContent, ToolOutcome } from "../../../shared/tool.ts";
import { frozenCopy } from "../frozen-copy.ts";
import { linkSignals } from "../linked-signal.ts";
import { runToolCall, type CallScope, type OneCallScope, type ToolCallPorts } from "../tool-call.ts";
import type { Caller } from "./caller.ts";
import type { Grants } from "./grants.ts";
import type { Offered } from "./offers.ts";
import { progressTo } from "./reports.ts";
import { openState, passRequest, type RoundsPorts, type RoundState } from "./rounds.ts";
import { digestOf } from "./seal.ts";

export interface PassedCallPorts extends RoundsPorts {
  readonly calls: ToolCallPorts;
  readonly grants: Grants;
}

export interface AskedOfUpstream {
  readonly tool: Offered<Tool>;
  readonly params: JsonObject;
  readonly caller: Caller;
  readonly context: ServerContext;
  readonly scope: CallScope;
}

/** @throws what the upstream answered with an error */
export async function passToolCall(ports: PassedCallPorts, asked: AskedOfUpstream): Promise<JsonObject> {
  const { tool, params, caller, context, scope } = asked;
  const args = frozenCopy(isJsonObject(params["arguments"]) ? params["arguments"] : {});
  if (args === undefined) return failed("The arguments are nested too deeply. Nothing was sent.");
  const digest = digestOf("tools/call", { name: tool.displayed, arguments: args });
  const state = openState(ports.seal, { upstream: tool.upstream, digest, caller, context });
  const ends = linkSignals(scope.signal, context.mcpReq.signal);
  const own: OneCallScope = { ...scope, signal: ends.signal, abort: (reason) => ends.abort(reason) };
  let raw: JsonObject | null = null;
  let thrown: { readonly error: unknown } | null = null;
  const call = async (running: ToolCall): Promise<ToolOutcome> => {
    try {
      raw = await sent(ports, { ...asked, args, digest, state, running, signal: ends.signal });
      return shown(raw);
    } catch (error) {
      thrown = { error };
      return { content: [{ type: "text", text: error instanceof Error ? error.message : "The upstream failed." }], isError: true };
    }
  };
  try {
    const calls = { ...ports.calls, gate: NO_GATE, tools: { list: () => [], call } };
    const outcome = await runToolCall(calls, { name: tool.displayed, args, onProgress: () => {}, say: () => {} }, own);
    if (thrown !== null) throw (thrown as { readonly error: unknown }).error;
    return raw ?? { content: outcome.content.map((part) => ({ ...part })), isError: outcome.isError };
  } finally {
    ends.unlink();
  }
}

/** The adapter's own approval is asked below, with what it needs to know. */
const NO_GATE: ApprovalGate = { guards: () => false, ask: () => Promise.resolve({ allowed: false, text: "" }) };

interface Running extends AskedOfUpstream {
  readonly args: JsonObject;
  readonly digest: string;
  readonly state: RoundState;
  readonly running: ToolCall;
  readonly signal: AbortSignal;
}

async function sent(ports: PassedCallPorts, call: Running): Promise<JsonObject> {
  const { tool, params, caller, context, scope, args, digest, state, running, signal } = call;
  // A later round of a call that was allowed. What is parked runs already.
  const isAllowed = state.parked !== undefined || ports.grants.take(state.grant);
  if (!isAllowed) {
    const answer = await askLeave(ports, call);
    if (!answer.allowed) return failed(answer.text);
  }
  const grant = ports.grants.give();
  const tellClient = progressTo({ context, writable: scope.writable });
  // Whatever else the client wrote was shown to nobody; a `task` of 2025-11-25 would even detach the run from this call.
  const meta = params["_meta"];
  const outcome = await passRequest(ports, {
    upstream: tool.upstream,
    request: { method: "tools/call", params: { name: tool.item.name, arguments: args, ...(isJsonObject(meta) && { _meta: meta }) } },
    digest,
    caller,
    context,
    signal,
    writable: scope.writable,
    onProgress: (progress) => {
      tellClient(progress);
      if (typeof progress["message"] === "string") running.onProgress({ delta: `${progress["message"]}\n` });
    },
    inputSchema: tool.item.inputSchema as JsonObject,
    state: { ...state, grant },
  });
  if (!outcome.ok || outcome.value["resultType"] !== "input_required") ports.grants.take(grant);
  return outcome.ok ? outcome.value : failed(outcome.error);
}

/** A client that has left has nobody to tell what its call did: it ends the waiting in both eras. */
async function askLeave(ports: PassedCallPorts, { tool, caller, scope, args, running, signal }: Running) {
  const waiting = linkSignals(signal, scope.gone);
  try {
    const { id: principalId, name: client } = caller.principal;
    const { upstream, displayed, item } = tool;
    const asked = { callId: running.callId, upstream, original: item.name, displayed, args, principalId, client };
    const answer = await ports.passage.beforeCall({ ...asked, signal: waiting.signal, probe: scope.probe });
    if (!answer.allowed || !waiting.signal.aborted) return answer;
    return { allowed: false, text: "The call ended before its approval could take effect. Nothing was sent." } as const;
  } finally {
    waiting.unlink();
  }
}

function failed(text: string): JsonObject {
  return { content: [{ type: "text", text }], isError: true };
}

/** For the timeline: what of a result a person can read. */
function shown(result: JsonObject): ToolOutcome {
  if (result["resultType"] === "input_required") {
    const asked = isJsonObject(result["inputRequests"]) ? Object.keys(result["inputRequests"]).length : 0;
    return { content: [{ type: "text", text: `The upstream asks the client for ${asked} more answers.` }], isError: false };
  }
  const content = Array.isArray(result["content"]) ? (result["content"] as readonly JsonValue[]) : [];
  return {
    content: content.map(shownPart),
    ...(result["structuredContent"] !== undefined && { structuredContent: result["structuredContent"] }),
    isError: result["isError"] === true,
  };
}

function shownPart(part: JsonValue): ToolContent {
  if (!isJsonObject(part)) return { type: "text", text: "" };
  const { type, text, data, mimeType } = part;
  if (type === "text" && typeof text === "string") return { type, text };
  if (type === "image" && typeof data === "string" && typeof mimeType === "string") return { type, data, mimeType };
  return { type: "text", text: typeof type === "string" ? `[${type}]` : "" };
}
