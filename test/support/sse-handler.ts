/** Handlers whose answers a test drives piece by piece. */
import type { ExchangeContext, ExchangeHandler } from "../../local-agent/mcp/exchange.ts";
import { rpcErrorEvent } from "../../shared/jsonrpc.ts";

export interface Driven {
  readonly body: string;
  readonly request: Request;
  readonly context: ExchangeContext;
  write(text: string): void;
  end(): void;
  break(): void;
}

/** Answers every request as SSE with last words for id 1; `on` gets the controls. */
export function sseHandler(on: (driven: Driven) => void): ExchangeHandler {
  return async (request, context) => {
    const body = await request.text();
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
    const stream = new ReadableStream<Uint8Array>({
      start(started) {
        controller = started;
      },
    });
    const encoder = new TextEncoder();
    const driven: Driven = {
      body,
      request,
      context,
      write: (text) => controller?.enqueue(encoder.encode(text)),
      end: () => controller?.close(),
      break: () => controller?.error(new Error("broken on purpose")),
    };
    queueMicrotask(() => on(driven));
    return {
      response: new Response(stream, { headers: { "content-type": "text/event-stream" } }),
      lastWords: rpcErrorEvent(1, -32603, "last words"),
    };
  };
}
