/** `fetch` that finds one host name at a loopback port with a self-signed certificate: a relay under its public name. */
import { request } from "node:https";
import { Readable } from "node:stream";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";

/** Requests to `host` (with port) go to 127.0.0.1 at that port under their own `Host`; all others as ever. */
export function mappedFetch(host: string): typeof fetch {
  return async (input, init) => {
    const wanted = new Request(input, init);
    const url = new URL(wanted.url);
    if (url.host !== host) return fetch(wanted);
    const body = Buffer.from(await wanted.arrayBuffer());
    const headers = { ...Object.fromEntries(wanted.headers), host, "content-length": String(body.byteLength) };
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    const outgoing = request(
      {
        host: "127.0.0.1",
        port: url.port,
        path: url.pathname + url.search,
        method: wanted.method,
        headers,
        rejectUnauthorized: false,
        signal: wanted.signal,
      },
      (incoming) => {
        const status = incoming.statusCode ?? 502;
        const answered = Object.entries(incoming.headersDistinct).flatMap(([name, values = []]) =>
          values.map((value): [string, string] => [name, value]),
        );
        const stream = Readable.toWeb(incoming) as NodeReadableStream<Uint8Array> as unknown as ReadableStream<Uint8Array>;
        resolve(new Response(status === 204 || status === 304 ? null : stream, { status, headers: answered }));
      },
    );
    outgoing.on("error", reject);
    outgoing.end(body);
    return promise;
  };
}
