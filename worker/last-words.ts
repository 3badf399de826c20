/**
 * What a client is told when the object dies under an answer: a stream that just ends makes every MCP SDK wait for its
 * own timeout. The object hands the last words over in a header, the Worker keeps them and writes them if need be.
 */
import { RPC } from "../shared/jsonrpc.ts";
import { rpcAnswer } from "./respond.ts";

const HEADER = "x-pi-relay-last-words";

/** For the object: `last` as a header value (base64 of UTF-8, so that any text is a legal header). */
export function lastWordsHeader(last: string): [string, string] {
  return [HEADER, btoa(String.fromCharCode(...new TextEncoder().encode(last)))];
}

/** For the Worker: the same answer, whose stream ends with its last words if the object stops in the middle. */
export function guardAnswer(answer: Response, ctx: ExecutionContext): Response {
  const encoded = answer.headers.get(HEADER);
  if (encoded === null || answer.body === null) return answer;
  const headers = new Headers(answer.headers);
  headers.delete(HEADER);
  const { readable, writable } = new IdentityTransformStream();
  ctx.waitUntil(
    pump(
      answer.body,
      writable,
      Uint8Array.from(atob(encoded), (char) => char.charCodeAt(0)),
    ),
  );
  return new Response(readable, { status: answer.status, headers });
}

export function objectDied(): Response {
  return rpcAnswer(502, {
    id: null,
    code: RPC.internalError,
    message: "The relay restarted during this request. It may have run; look before repeating it.",
  });
}

/** The piece-by-piece work is the runtime's own (`pipeTo` between its streams); only the end is decided here. */
async function pump(from: ReadableStream<Uint8Array>, to: WritableStream<Uint8Array>, last: Uint8Array): Promise<void> {
  const outcome = await from.pipeTo(to, { preventClose: true, preventAbort: true }).then(
    () => "whole" as const,
    () => "cut" as const,
  );
  // Fails when it is the client that is gone: then nobody is left to tell.
  const writer = to.getWriter();
  try {
    if (outcome === "cut") await writer.write(last);
    await writer.close();
  } catch {
    await writer.abort().catch(() => undefined);
  }
}
