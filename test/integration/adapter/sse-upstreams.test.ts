/** The older HTTP transport: an event stream that says where to post to (revision 2024-11-05). */
import { expect, test } from "vitest";
import { openConnection } from "../../../local-agent/adapter/upstream/connection.ts";
import { silentLog } from "../../../local-agent/node/log-sinks.ts";
import { isJsonObject, parseJson, type JsonObject } from "../../../shared/json.ts";
import { webServer } from "../../support/http-upstream.ts";
import { httpServer } from "../../support/server-transports.ts";
import { transportsUnderTest } from "../../support/upstream-transports.ts";

const signal = new AbortController().signal;

function sseServer(endpoint = "/messages", refuse: (request: Request) => Response | null = () => null) {
  let send: (text: string) => void = () => {};
  let hangUp = (): void => {};
  const answer = (message: JsonObject): JsonObject | null => {
    if (message["method"] === "initialize")
      return { protocolVersion: "2024-11-05", capabilities: { tools: {} }, serverInfo: { name: "old", version: "1" } };
    if (message["method"] === "tools/call") return { content: [{ type: "text", text: "from old times" }] };
    return message["id"] === undefined ? null : {};
  };
  return webServer(async (request) => {
    const refused = refuse(request);
    if (refused !== null) return refused;
    if (request.method === "GET") {
      const stream = new ReadableStream<Uint8Array>({
        start(controller) {
          send = (text) => controller.enqueue(new TextEncoder().encode(text));
          hangUp = () => controller.close();
          send(`event: endpoint\ndata: ${endpoint}\n\n`);
        },
      });
      return new Response(stream, { headers: { "content-type": "text/event-stream" } });
    }
    if (new URL(request.url).pathname !== "/messages") return new Response(null, { status: 405 });
    const text = await request.text();
    const isLast = text.includes('"hang up"');
    if (isLast) hangUp();
    const message = isLast ? null : parseJson(text);
    const result = isJsonObject(message) ? answer(message) : null;
    if (isJsonObject(message) && result !== null) send(`data: ${JSON.stringify({ jsonrpc: "2.0", id: message["id"] ?? null, result })}\n\n`);
    return new Response(null, { status: 202 });
  });
}

test("[UT32] is spoken with the configured headers in every request, and ends with the connection", async () => {
  const { url, requests } = await sseServer();
  const { define, connect } = transportsUnderTest();
  const { client, call, opened } = await connect(define(httpServer(url, { headers: { "x-key": "k" }, bearerToken: "t" })), { wire: "sse" });
  expect(await call("anything")).toBe("from old times");
  expect(opened.wire).toBe("sse");
  expect(requests.map(({ headers }) => [headers["x-key"], headers.authorization])).toEqual(requests.map(() => ["k", "Bearer t"]));
  await client.close();
});

test("[UT31] the connection ends with its stream, and what was asked over it fails at once", async () => {
  const { url, requests } = await sseServer();
  const { define, connect } = transportsUnderTest();
  const { client, call } = await connect(define(httpServer(url)), { wire: "sse" });
  await expect(call("hang up")).rejects.toMatchObject({ code: "CONNECTION_CLOSED" });
  await expect(client.ping()).rejects.toThrow("Not connected");
  expect(requests.filter(({ method }) => method === "GET")).toHaveLength(1);
});

test("[UT32] a stream that ends before it says where to post to fails the connection at once", async () => {
  const { url } = await webServer(() => new Response(": nothing\n\n", { headers: { "content-type": "text/event-stream" } }));
  const { define, connect } = transportsUnderTest();
  await expect(connect(define(httpServer(url)), { wire: "sse" })).rejects.toThrow("ended before it said where to post to");
});

test("[UT32] an endpoint at another origin is not posted to", async () => {
  const other = await webServer(() => new Response(null, { status: 202 }));
  const { url } = await sseServer(other.url);
  const { define, connect } = transportsUnderTest();
  await expect(connect(define(httpServer(url, { bearerToken: "t" })), { wire: "sse" })).rejects.toThrow(/origin/);
  expect(other.requests).toEqual([]);
});

test("[UT32] a stream that never says where to post to is given up when the transport is closed", async () => {
  const { url } = await webServer(() => new Response(new ReadableStream(), { headers: { "content-type": "text/event-stream" } }));
  const { factory, define } = transportsUnderTest();
  const opened = await factory.open(define(httpServer(url)), { signal, wire: "sse" });
  if (!opened.ok) throw new Error(opened.error.message);
  const started = opened.value.transport.start();
  started.catch(() => {});
  await opened.value.close();
  await expect(started).rejects.toThrow("The transport was closed");
});

test("[UT33] a server that refuses Streamable HTTP is spoken to in this way; one that wants a login or is down is not", async () => {
  const open = async (refuse: (request: Request) => Response | null) => {
    const { url, requests } = await sseServer("/messages", refuse);
    const { factory, define } = transportsUnderTest();
    const options = { capabilities: {}, signal, prepare: () => {} };
    const connection = await openConnection(define(httpServer(url)), { transports: factory, log: silentLog }, options);
    if (connection.ok) await connection.value.close();
    return {
      wire: connection.ok ? connection.value.facts.wire : connection.error.kind,
      gets: requests.filter(({ method }) => method === "GET").length,
    };
  };
  expect(await open(() => null)).toEqual({ wire: "sse", gets: 1 });
  expect(await open(() => new Response(null, { status: 401 }))).toEqual({ wire: "needs-auth", gets: 0 });
  expect(await open(() => new Response(null, { status: 503 }))).toEqual({ wire: "unavailable", gets: 0 });
});
