/** HTTP exchanges that exist only where upstreams are passed through: sessions' beginnings, a modern client's requests and streams. */
import { CLIENT_CAPABILITIES_META_KEY, createMcpHandler, WebStandardStreamableHTTPServerTransport, type Server } from "@modelcontextprotocol/server";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../shared/json.ts";
import type { RpcMessage } from "../../../shared/jsonrpc.ts";
import type { Era } from "../protocol-server.ts";
import type { ExchangeContext } from "../exchange.ts";
import { linkSignals } from "../linked-signal.ts";
import { askable, type Caller } from "./caller.ts";
import type { PassThrough } from "./pass-through.ts";

export interface PassingExchange {
  readonly era: Era;
  readonly message: RpcMessage;
  readonly body: JsonValue;
  readonly context: ExchangeContext;
  readonly since: number;
  readonly server: () => Server;
  /** The request as the SDK is to see it. */
  readonly inner: (signal: AbortSignal | null) => Request;
  readonly keepAliveMs: number;
}

/** The only answers that say what the upstreams can do. */
const SAYING = new Set(["initialize", "server/discover", "subscriptions/listen"]);

/** Answers `initialize` with the id of a new session. */
export async function beginSession(passThrough: PassThrough, exchange: PassingExchange, params: JsonObject): Promise<Response> {
  const { context, body } = exchange;
  const id = passThrough.sessions.begin(context.principal.id, params);
  const found = passThrough.sessions.find(context.principal.id, id);
  const { key = "", capabilities = {} } = found.at === "session" ? found.session : {};
  await passThrough.learn(callerOf(exchange, key, capabilities));
  const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => id, enableJsonResponse: true, keepAliveMs: 0 });
  await exchange.server().connect(transport);
  return transport.handleRequest(exchange.inner(null), { parsedBody: body });
}

/** A modern request that is no call. A client that leaves ends it (MCP 2026-07-28 basic/patterns/cancellation). */
export async function answerModern(passThrough: PassThrough, exchange: PassingExchange): Promise<Response> {
  const { message, context, body, server, keepAliveMs } = exchange;
  const params = "params" in message ? message.params : {};
  const method = "method" in message ? message.method : "";
  const caller = callerOf(exchange, "", askable(isJsonObject(params["_meta"]) ? params["_meta"][CLIENT_CAPABILITIES_META_KEY] : {}));
  if (SAYING.has(method)) await passThrough.learn(caller);
  const { signal } = linkSignals(context.signal, context.gone);
  const request = exchange.inner(signal);
  if (method !== "subscriptions/listen") return createMcpHandler(server, { legacy: "reject", keepAliveMs }).fetch(request, { parsedBody: body });
  const ended = new AbortController();
  const response = await passThrough.listen(caller, { request, body, server, uris: urisIn(params), keepAliveMs, signal, ended });
  return new Response(response.body === null ? null : endedBy(response.body, () => ended.abort()), response);
}

function callerOf({ context, era, since }: PassingExchange, place: string, capabilities: Caller["capabilities"]): Caller {
  return { principal: context.principal, since, place, era, capabilities, logLevel: null };
}

const MAX_URIS = 256;

function urisIn(params: JsonObject): readonly string[] {
  const filter = params["notifications"];
  const uris = isJsonObject(filter) ? filter["resourceSubscriptions"] : undefined;
  return Array.isArray(uris) ? [...new Set(uris)].filter((uri) => typeof uri === "string").slice(0, MAX_URIS) : [];
}

/** However it ends. */
function endedBy(body: ReadableStream<Uint8Array>, onEnd: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        onEnd();
        controller.close();
      },
      async cancel(reason) {
        onEnd();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
