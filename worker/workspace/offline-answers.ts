/**
 * What the relay answers when nobody can run a request (DESIGN D2). Pure. Of MCP it reads the method, the caller's id, the
 * revision `initialize` asks for and whether the modern envelope is there; and only here, without a link.
 */
import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import { readRpcMessage, RPC, rpcError, type RpcId } from "../../shared/jsonrpc.ts";
import type { OfflineAnswers } from "../../shared/wire/frames.ts";
import type { FailureWhy } from "../../shared/wire/relay-exchanges.ts";

export interface WholeAnswer {
  readonly status: number;
  /** JSON text; empty for 202 and 204. */
  readonly body: string;
}

const MODERN_VERSION = "io.modelcontextprotocol/protocolVersion";

/** [OF1–OF5] `away` is a sentence such as "The workstation has been away since …". */
export function offlineAnswer(method: string, body: string, offline: OfflineAnswers, away: string): WholeAnswer {
  if (method === "DELETE") return { status: 204, body: "" };
  const message = readRpcMessage(body);
  switch (message.kind) {
    case "invalid":
      return { status: 400, body: rpcError(message.id, message.code, message.reason) };
    case "notification":
    case "response":
      return { status: 202, body: "" };
    case "request": {
      const result = resultFor(message.method, message.params, offline);
      if (result === undefined)
        return {
          status: 200,
          body: rpcError(
            message.id,
            RPC.internalError,
            offline.otherwise.replaceAll("{away}", () => away),
          ),
        };
      return { status: 200, body: fill(message.id, result, away) };
    }
  }
}

/** Whether the message has the envelope of the modern era. */
export function isModernMessage(method: string, params: JsonObject): boolean {
  const meta = params["_meta"];
  return method === "server/discover" || (isJsonObject(meta) && MODERN_VERSION in meta);
}

function resultFor(method: string, params: JsonObject, offline: OfflineAnswers): object | undefined {
  const isModern = isModernMessage(method, params);
  const era = isModern ? offline.modern : offline.legacy;
  if (method === "tools/call") return era.toolCall;
  if (method === "initialize" && !isModern) return initializeResult(params["protocolVersion"], offline.legacy);
  return own(era.results, method);
}

/** A client refuses a version it did not ask for and lacks, so there is one result per version. */
function initializeResult(asked: unknown, legacy: OfflineAnswers["legacy"]): object | undefined {
  return (typeof asked === "string" ? own(legacy.initialize, asked) : undefined) ?? own(legacy.initialize, legacy.fallbackVersion);
}

/** Method names come from strangers: `__proto__` and `constructor` are not answers. */
function own<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

/** The sentence is put into JSON text, so it is escaped as a JSON string's inside. The caller's id is not touched. */
export function fill(id: RpcId, result: object, away: string): string {
  const filled = JSON.stringify(result).replaceAll("{away}", () => JSON.stringify(away).slice(1, -1));
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${filled}}`;
}

/**
 * The answer for a request that failed before its answer began. It carries the caller's id with status 200: a 5xx would
 * invite HTTP layers to repeat what may have run.
 */
export function failureAnswer(why: Exclude<FailureWhy, "away">, body: string): WholeAnswer {
  const message = readRpcMessage(body);
  const text = FAILURE_TEXT[why];
  if (message.kind === "request") return { status: 200, body: rpcError(message.id, RPC.internalError, text) };
  return { status: 502, body: rpcError(null, RPC.internalError, text) };
}

const MAY_HAVE_RUN = "It may have run; look at its effects before repeating it.";
const FAILURE_TEXT: Record<Exclude<FailureWhy, "away">, string> = {
  agent_restarted: `The agent on the workstation was restarted during this request. ${MAY_HAVE_RUN}`,
  agent_lost: `The connection to the workstation was lost during this request. ${MAY_HAVE_RUN}`,
  deadline: `The workstation did not answer in time and the request was cancelled. ${MAY_HAVE_RUN}`,
  broken_answer: `The agent on the workstation failed during this request. ${MAY_HAVE_RUN}`,
};

/** "The workstation has been away since 2026-11-30 15:04 UTC (12 min)." */
export function awaySentence(since: number | undefined, now: number): string {
  if (since === undefined) return "The workstation is not connected right now.";
  const at = `${new Date(since).toISOString().slice(0, 16).replace("T", " ")} UTC`;
  return `The workstation has been away since ${at} (${duration(now - since)}).`;
}

function duration(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return "less than a minute";
  if (minutes < 120) return `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / (24 * 60))} days`;
}
