/** HTTP requests with exactly the headers given: `fetch` would set Host and refuse to forge Origin. */
import { request, type IncomingHttpHeaders } from "node:http";

export interface RawRequest {
  readonly port: number;
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const DEADLINE_MS = 5_000;

export function rawRequest({ port, method = "GET", path = "/", headers = {}, body }: RawRequest): Promise<RawAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>();
  const outgoing = request({ host: "127.0.0.1", port, method, path, headers, agent: false, timeout: DEADLINE_MS }, (incoming) => {
    let text = "";
    incoming.setEncoding("utf8");
    incoming.on("data", (chunk: string) => (text += chunk));
    incoming.on("end", () => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: text }));
    incoming.on("error", reject);
  });
  outgoing.on("timeout", () => outgoing.destroy(new Error(`no answer within ${DEADLINE_MS} ms`)));
  outgoing.on("upgrade", (incoming, socket) => {
    socket.destroy();
    resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: "" });
  });
  outgoing.on("error", reject);
  outgoing.end(body);
  return promise;
}
