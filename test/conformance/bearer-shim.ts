/**
 * A loopback proxy that adds a bearer token, which the conformance runner cannot. Host and Origin pass as they were
 * sent, but for the shim's own address, which becomes the target's: a foreign one stays foreign.
 */
import { createServer, request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from "node:http";
import { request as httpsRequest } from "node:https";
import type { AddressInfo } from "node:net";

export interface Endpoint {
  readonly url: string;
  readonly token: string;
}

export interface BearerShim {
  /** On `localhost`, with the target's path. */
  readonly url: string;
  close(): Promise<void>;
}

export async function startBearerShim(target: Endpoint): Promise<BearerShim> {
  const to = new URL(target.url);
  const server = createServer((incoming, outgoing) => forward(to, target.token, incoming, outgoing));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://localhost:${port}${to.pathname}`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function forward(to: URL, token: string, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const own = `localhost:${incoming.socket.localPort}`;
  const { host, origin } = incoming.headers;
  const headers: OutgoingHttpHeaders = {
    ...incoming.headers,
    authorization: `Bearer ${token}`,
    host: host === own ? to.host : host,
    ...(origin !== undefined && { origin: origin === `http://${own}` ? to.origin : origin }),
  };
  const send = to.protocol === "https:" ? httpsRequest : httpRequest;
  const hostname = to.hostname.replace(/^\[|\]$/g, "");
  const upstream = send({ hostname, port: to.port, method: incoming.method, path: incoming.url, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    outgoing.flushHeaders();
    answer.pipe(outgoing);
    answer.on("error", () => outgoing.destroy());
  });
  incoming.pipe(upstream);
  outgoing.on("close", () => upstream.destroy());
  upstream.on("error", () => outgoing.destroy());
}
