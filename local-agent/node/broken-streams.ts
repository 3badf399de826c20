/**
 * A request over HTTP whose event stream ends without its answer would wait for its deadline: the SDK only notes that the stream broke.
 * Here it is answered with an error at once.
 */
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { parseJson } from "../../shared/json.ts";
import { isRpcId, type RpcId } from "../../shared/jsonrpc.ts";
import type { Timers } from "../../shared/ports.ts";
import type { UpstreamFetch } from "./http-fetch.ts";
import { watchHandler } from "./watched-handlers.ts";

/** What came last is still on its way through the SDK's parser when the stream ends. */
const LAST_EVENTS_MS = 50;
/** Ends with its stream, and its client knows what that means. */
const LISTEN = "subscriptions/listen";
const CONNECTION_LOST = -32000;

export function answerBrokenStreams(transport: Transport, upstream: UpstreamFetch, timers: Timers): void {
  const open = new Set<RpcId>();
  watchHandler(transport, "onmessage", (message: JSONRPCMessage) => {
    if (!("method" in message) && message.id !== undefined) open.delete(message.id);
  });
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    const id = requestId(message);
    if (id !== null) open.add(id);
    try {
      await send(message, options);
    } catch (error) {
      if (id !== null) open.delete(id);
      throw error;
    }
  };
  upstream.onStreamEnd = (sent, { error, isResumable }) => {
    const id = requestId(parseJson(sent));
    if (id === null || isResumable) return;
    timers.after(LAST_EVENTS_MS, () => {
      if (!open.delete(id)) return;
      const message = error === null ? "The server ended the stream before it answered." : `No answer came: ${error.message}`;
      transport.onmessage?.({ jsonrpc: "2.0", id, error: { code: CONNECTION_LOST, message } });
    });
  };
}

function requestId(message: unknown): RpcId | null {
  if (typeof message !== "object" || message === null || !("method" in message) || !("id" in message)) return null;
  return message.method !== LISTEN && isRpcId(message.id) ? message.id : null;
}
