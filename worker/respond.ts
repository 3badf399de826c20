/** Answers the Worker makes itself. One place for their headers: nothing of ours is cached or sniffed. */
import { rpcError, type RpcId } from "../shared/jsonrpc.ts";

const PLAIN = { "cache-control": "no-store", "x-content-type-options": "nosniff" } as const;

export function jsonAnswer(status: number, value: unknown, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(value), { status, headers: { "content-type": "application/json", ...PLAIN, ...headers } });
}

/** For people and scripts: `{ error, message }`. */
export function refusal(status: number, error: string, message: string, headers: Record<string, string> = {}): Response {
  return jsonAnswer(status, { error, message }, headers);
}

/** [ED3] For a workspace that no agent has come to yet. */
export function notReady(): Response {
  const message = "The workstation has never connected to this relay yet. Start the agent there (pimcp --relay …), then try again.";
  return refusal(503, "not_ready", message, { "retry-after": "30" });
}

/** A JSON-RPC error as a whole HTTP answer. */
export function rpcAnswer(
  status: number,
  error: { id: RpcId | null; code: number; message: string },
  headers: Record<string, string> = {},
): Response {
  return new Response(rpcError(error.id, error.code, error.message), {
    status,
    headers: { "content-type": "application/json", ...PLAIN, ...headers },
  });
}
