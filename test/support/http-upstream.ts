/** HTTP upstreams inside the test's process: a good one whose requests are recorded, and ones that answer as the test says. */
import { createServer, type IncomingHttpHeaders, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { getRequestListener } from "@hono/node-server";
import { onTestFinished } from "vitest";
import { serveFixtureHttp, type Era } from "../fixtures/upstreams/fixture-host.ts";
import { buildGoodServer } from "../fixtures/upstreams/good-server.ts";

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

/** `answer` may take a request for itself; everything else is served well. */
export async function goodHttpUpstream(
  answer: (request: SeenRequest) => Response | Promise<Response> | null = () => null,
  era: Era = "both",
): Promise<{ url: string; seen: SeenRequest[]; sessions: Map<string, unknown>; breakConnections: () => void }> {
  const seen: SeenRequest[] = [];
  const served = await serveFixtureHttp(
    { name: "good", era, build: buildGoodServer },
    {
      intercept: async (request) => {
        const body = request.method === "POST" ? await request.clone().text() : "";
        const one = { method: request.method, path: new URL(request.url).pathname, headers: request.headers, body };
        seen.push(one);
        return answer(one);
      },
    },
  );
  onTestFinished(() => served.close());
  return { url: served.url, seen, sessions: served.sessions, breakConnections: () => served.server.closeAllConnections() };
}

/** A plain web server on loopback. */
export async function webServer(
  answer: (request: Request) => Response | Promise<Response>,
  tls?: { readonly key: string; readonly cert: string },
): Promise<{ url: string; requests: { method: string; headers: IncomingHttpHeaders }[] }> {
  const requests: { method: string; headers: IncomingHttpHeaders }[] = [];
  const served = getRequestListener(answer);
  const listener: RequestListener = (incoming, outgoing) => {
    requests.push({ method: incoming.method ?? "", headers: incoming.headers });
    void served(incoming, outgoing);
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { url: `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}/mcp`, requests };
}
