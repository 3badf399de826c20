/**
 * JSON-RPC 2.0 as MCP uses it: just the envelope. `0` and `""` are valid ids; `null` and fractions are not
 * (MCP basic/index "Requests": ids are strings or integers).
 */
import { isJsonObject, parseJson, type JsonObject, type JsonValue } from "./json.ts";

export type RpcId = string | number;

export const RPC = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
} as const;

export type RpcMessage =
  | { readonly kind: "request"; readonly id: RpcId; readonly method: string; readonly params: JsonObject }
  | { readonly kind: "notification"; readonly method: string; readonly params: JsonObject }
  | { readonly kind: "response"; readonly id: RpcId }
  | { readonly kind: "invalid"; readonly code: number; readonly reason: string; readonly id: RpcId | null };

export function isRpcId(value: unknown): value is RpcId {
  return typeof value === "string" || (typeof value === "number" && Number.isInteger(value));
}

/** Reads one message. Batches are refused with -32600 (they left MCP with revision 2025-06-18). Never throws. */
export function readRpcMessage(text: string): RpcMessage {
  const value = parseJson(text);
  return value === undefined ? invalid(RPC.parseError, "the body is not JSON") : readRpcValue(value);
}

/** The same for a body that is parsed already. */
export function readRpcValue(value: JsonValue): RpcMessage {
  if (Array.isArray(value)) return invalid(RPC.invalidRequest, "batches are not supported: send one message per request");
  if (!isJsonObject(value) || value["jsonrpc"] !== "2.0") {
    return invalid(RPC.invalidRequest, 'expected a JSON-RPC 2.0 object with "jsonrpc": "2.0"');
  }
  const params = isJsonObject(value["params"]) ? value["params"] : {};
  const method = value["method"];
  if (typeof method !== "string") return readResponse(value);
  if (!("id" in value)) return { kind: "notification", method, params };
  const id = value["id"];
  return isRpcId(id)
    ? { kind: "request", id, method, params }
    : invalid(RPC.invalidRequest, `"id" must be a string or an integer, got ${JSON.stringify(id)}`);
}

function readResponse(value: JsonObject): RpcMessage {
  const id = value["id"];
  if (isRpcId(id) && ("result" in value || "error" in value)) return { kind: "response", id };
  return invalid(RPC.invalidRequest, 'expected a string "method"', isRpcId(id) ? id : null);
}

function invalid(code: number, reason: string, id: RpcId | null = null): RpcMessage {
  return { kind: "invalid", code, reason, id };
}

/** A JSON-RPC error object as text. */
export function rpcError(id: RpcId | null, code: number, message: string, data?: JsonValue): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error: data === undefined ? { code, message } : { code, message, data } });
}

/**
 * The same as one server-sent event: what ends an SSE answer that cannot be finished. It begins with a blank line,
 * because the answer may have been cut inside an event, and would otherwise take this one into it.
 */
export function rpcErrorEvent(id: RpcId | null, code: number, message: string): string {
  return `\n\nevent: message\ndata: ${rpcError(id, code, message)}\n\n`;
}
