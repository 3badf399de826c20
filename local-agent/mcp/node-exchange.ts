/** node:http ⇄ web-standard request and response, with backpressure and the moment the client goes away. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { LIMITS } from "../../shared/wire/limits.ts";

/** Aborts when the connection closes before the answer was finished. */
export function clientGone(outgoing: ServerResponse): AbortSignal {
  const gone = new AbortController();
  outgoing.once("close", () => {
    if (!outgoing.writableFinished) gone.abort(new Error("the client closed the connection"));
  });
  return gone.signal;
}

/** Reads at most one byte more than is allowed, so that the handler sees a body that is too large. Null: the client left. */
export async function readBody(incoming: IncomingMessage): Promise<Uint8Array | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > LIMITS.requestBytes) break;
    }
  } catch {
    return null;
  }
  incoming.resume(); // What is left is read and dropped, so that the refusal can be delivered.
  return Buffer.concat(chunks).subarray(0, LIMITS.requestBytes + 1);
}

export function toRequest(incoming: IncomingMessage, body: Uint8Array): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(", ") : value);
  }
  // The length of what was kept: the sender's own may announce more.
  headers.set("content-length", String(body.byteLength));
  const method = incoming.method ?? "GET";
  const url = `http://${incoming.headers.host ?? "agent.invalid"}${incoming.url ?? "/"}`;
  return new Request(url, { method, headers, ...(method !== "GET" && method !== "HEAD" && { body: Buffer.from(body) }) });
}

export async function writeAnswer(outgoing: ServerResponse, response: Response, extra: Readonly<Record<string, string>>): Promise<void> {
  outgoing.writeHead(response.status, { ...Object.fromEntries(response.headers), ...extra });
  if (response.body === null) return void outgoing.end();
  outgoing.flushHeaders();
  const reader = response.body.getReader();
  const stop = (): void => void reader.cancel(new Error("the client closed the connection")).catch(() => {});
  outgoing.once("close", stop);
  for (;;) {
    const { done, value } = await reader.read();
    if (done || outgoing.destroyed) break;
    if (!outgoing.write(value)) await drained(outgoing);
  }
  outgoing.off("close", stop);
  outgoing.end();
}

export function writeJson(outgoing: ServerResponse, status: number, headers: Readonly<Record<string, string>>, body: unknown): void {
  outgoing.writeHead(status, { ...headers, "Content-Type": "application/json", "Cache-Control": "no-store" }).end(JSON.stringify(body));
}

/** Settles when the connection takes more, or never will again. */
function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off("drain", done);
      outgoing.off("close", done);
      resolve();
    };
    outgoing.once("drain", done);
    outgoing.once("close", done);
  });
}
