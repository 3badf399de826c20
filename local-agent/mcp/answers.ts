/** SDK responses → answers for whoever carries them. */
import { RPC, rpcErrorEvent, type RpcId } from "../../shared/jsonrpc.ts";
import type { ExchangeAnswer } from "./exchange.ts";
import { createSseAnswer, type SseAnswer, type SseAnswerOptions } from "./sse-answer.ts";

const LOST =
  "The connection to the workstation was lost before the answer was complete. The command may have run, in part or to its end: look before you run it again.";

/** An answer that is short, or that a client may simply ask for again. */
export function wholeAnswer(response: Response): ExchangeAnswer {
  return { response: withOurHeaders(response, response.body), lastWords: null };
}

/**
 * [MC11] The answer of a tool call. A stream that just ends makes a client wait for its own timeout, so it carries the
 * words to end it with.
 */
export function callAnswer(
  response: Response,
  events: ReadableStream<Uint8Array>,
  id: RpcId,
  options: SseAnswerOptions,
): { readonly answer: ExchangeAnswer; readonly stream: Pick<SseAnswer, "writable" | "probe"> } {
  const stream = createSseAnswer(events, options);
  return { answer: { response: withOurHeaders(response, stream.body), lastWords: rpcErrorEvent(id, RPC.internalError, LOST) }, stream };
}

export function isEventStream(response: Response): boolean {
  return response.headers.get("content-type")?.startsWith("text/event-stream") === true;
}

/** `Connection` belongs to the hop that carries the answer, not to the answer. */
function withOurHeaders(response: Response, body: ReadableStream<Uint8Array> | null): Response {
  const headers = new Headers(response.headers);
  headers.delete("connection");
  headers.set("Cache-Control", "no-store");
  headers.set("X-Accel-Buffering", "no");
  return new Response(body, { status: response.status, headers });
}
