/** One HTTP exchange → one fresh SDK server → one answer. Modern or legacy is read off the request by the SDK itself. */
import {
  createMcpHandler,
  isJsonContentType,
  isLegacyRequest,
  readRequestBody,
  WebStandardStreamableHTTPServerTransport,
  type Server,
} from "@modelcontextprotocol/server";
import { parseJson, type JsonValue } from "../../shared/json.ts";
import { isRpcId, readRpcValue, RPC, rpcError, type RpcId, type RpcMessage } from "../../shared/jsonrpc.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import { LIMITS } from "../../shared/wire/limits.ts";
import { openCallScope } from "./call-scope.ts";
import type { ExchangeAnswer, ExchangeContext, ExchangeHandler } from "./exchange.ts";
import { linkSignals } from "./linked-signal.ts";
import { createLiveCalls, type LiveCalls } from "./live-calls.ts";
import { createProtocolServer, type Era, type ProtocolServerOptions } from "./protocol-server.ts";
import { callAnswer, isEventStream, wholeAnswer } from "./answers.ts";
import type { CallScope } from "./tool-call.ts";

export interface HttpExchangeOptions extends ProtocolServerOptions {
  readonly keepAliveMs: number;
  readonly lifeMs: number;
}

interface Exchange {
  readonly era: Era;
  readonly message: RpcMessage;
  readonly body: JsonValue;
  readonly headers: Headers;
  readonly url: string;
  readonly context: ExchangeContext;
}

/** Modern subscriptions of one agent; each holds a stream open. */
const MAX_SUBSCRIPTIONS = 16;

export function createExchangeHandler(options: HttpExchangeOptions): ExchangeHandler {
  const live = createLiveCalls();
  const modern = createMcpHandler((context) => createProtocolServer(options, context.era, noCalls), {
    legacy: "reject",
    keepAliveMs: options.keepAliveMs,
    maxSubscriptions: MAX_SUBSCRIPTIONS,
  });

  return async (request, context) => {
    // [MC5] There are no sessions, so there is nothing to end and no stream to open.
    if (request.method === "DELETE") return wholeAnswer(new Response(null, { status: 204 }));
    if (request.method !== "POST") return wholeAnswer(methodNotAllowed());
    const read = await readMessage(request);
    if (!read.ok) return wholeAnswer(read.error);
    const headers = acceptingBoth(request.headers);
    const probe = new Request(request.url, { method: "POST", headers });
    const era = (await isLegacyRequest(probe, read.value.body)) ? "legacy" : "modern";
    const exchange: Exchange = { ...read.value, era, headers, url: request.url, context };
    if (exchange.message.kind === "request" && exchange.message.method === "tools/call")
      return answerCall(options, live, exchange, exchange.message.id);
    return answerOther(options, live, exchange, modern.fetch);
  };
}

/** [MC8] A tool call answers as an event stream, whatever the era. */
async function answerCall(options: HttpExchangeOptions, live: LiveCalls, exchange: Exchange, id: RpcId): Promise<ExchangeAnswer> {
  const scope = openCallScope(exchange, id, { live, timers: options.timers, lifeMs: options.lifeMs });
  if (scope.signal.aborted) return wholeAnswer(new Response(null, { status: 499 }));
  const server = createProtocolServer(options, exchange.era, scope);
  scope.signal.addEventListener("abort", () => void server.close(), { once: true });
  const response =
    exchange.era === "legacy"
      ? await serveLegacy(server, exchange, { enableJsonResponse: false })
      : await createMcpHandler(() => server, { legacy: "reject", responseMode: "sse", keepAliveMs: 0 }).fetch(innerRequest(exchange, scope.signal), {
          parsedBody: exchange.body,
        });
  if (response.body === null || !isEventStream(response)) {
    scope.answered();
    return wholeAnswer(response);
  }
  const { answer, stream } = callAnswer(response, response.body, id, { ...options, onEnd: () => scope.answered() });
  scope.watch(stream);
  return answer;
}

async function answerOther(
  options: HttpExchangeOptions,
  live: LiveCalls,
  exchange: Exchange,
  serveModern: (request: Request, options: { parsedBody: unknown }) => Promise<Response>,
): Promise<ExchangeAnswer> {
  const { context, era, message, body } = exchange;
  if (era === "modern" && isAboutTask(message)) return answerAboutTask(options, exchange);
  const response =
    era === "legacy"
      ? await serveLegacy(createProtocolServer(options, era, noCalls), exchange, { enableJsonResponse: true })
      : await serveModern(innerRequest(exchange, isSubscription(message) ? linkSignals(context.signal, context.gone).signal : null), {
          parsedBody: body,
        });
  if (response.status === 202) cancelNamedCall(live, exchange, message);
  return wholeAnswer(response);
}

/** Of the requests beside calls, the ones that ask who the caller is: their answer may carry the person's words. */
function isAboutTask(message: RpcMessage): boolean {
  return message.kind === "request" && message.method.startsWith("tasks/");
}

async function answerAboutTask(options: HttpExchangeOptions, exchange: Exchange): Promise<ExchangeAnswer> {
  const { principal, x, signal, gone } = exchange.context;
  const server = createProtocolServer(options, "modern", { ...noCalls, principal, x, signal, gone });
  return wholeAnswer(await createMcpHandler(() => server, { legacy: "reject" }).fetch(innerRequest(exchange, null), { parsedBody: exchange.body }));
}

/** The one other answer that goes on until somebody ends it. */
function isSubscription(message: RpcMessage): boolean {
  return message.kind === "request" && message.method === "subscriptions/listen";
}

/** [MC14] `notifications/cancelled` without a session. The caller of the cancelled call is told nothing more. */
function cancelNamedCall(live: LiveCalls, exchange: Exchange, message: RpcMessage): void {
  if (message.kind !== "notification" || message.method !== "notifications/cancelled") return;
  const { requestId, reason } = message.params;
  if (!isRpcId(requestId)) return;
  const said = typeof reason === "string" && reason !== "" ? `: ${reason.slice(0, 200)}` : "";
  live.cancel(exchange.context.principal.id, requestId, new Error(`cancelled by the client${said}`));
}

/** No session id is ever minted or looked at: a stray one is served like none (DESIGN §5). */
async function serveLegacy(server: Server, exchange: Exchange, mode: { readonly enableJsonResponse: boolean }): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ ...mode, keepAliveMs: 0 });
  await server.connect(transport);
  // Without a signal: a legacy client that goes away has not cancelled anything (2025-11-25 basic/transports).
  return transport.handleRequest(innerRequest(exchange, null), { parsedBody: exchange.body });
}

function innerRequest(exchange: Exchange, signal: AbortSignal | null): Request {
  return new Request(exchange.url, { method: "POST", headers: exchange.headers, ...(signal !== null && { signal }) });
}

async function readMessage(request: Request): Promise<Result<{ message: RpcMessage; body: JsonValue }, Response>> {
  // Also what keeps a web page's simple form from reaching a tool.
  if (!isJsonContentType(request.headers.get("content-type")))
    return err(refusal(415, null, RPC.invalidRequest, "expected Content-Type: application/json"));
  const read = await readRequestBody(request, LIMITS.requestBytes).catch(() => null);
  if (read === null) return err(refusal(400, null, RPC.parseError, "the body could not be read"));
  if (read.tooLarge)
    return err(refusal(413, null, RPC.invalidRequest, `the body is larger than ${LIMITS.requestBytes} bytes: send less in one call`));
  const body = parseJson(read.text);
  if (body === undefined) return err(refusal(400, null, RPC.parseError, "the body is not JSON"));
  const message = readRpcValue(body);
  return message.kind === "invalid" ? err(refusal(400, message.id, message.code, message.reason)) : ok({ message, body });
}

function refusal(status: number, id: RpcId | null, code: number, message: string): Response {
  return new Response(rpcError(id, code, message), { status, headers: { "Content-Type": "application/json" } });
}

function methodNotAllowed(): Response {
  const response = refusal(405, null, RPC.invalidRequest, "send requests by POST; this server opens no stream by GET");
  response.headers.set("Allow", "POST, DELETE");
  return response;
}

/** The SDK insists on both media types by name. A client that says "anything" or nothing accepts both as well. */
function acceptingBoth(received: Headers): Headers {
  const headers = new Headers(received);
  for (const name of ["content-length", "transfer-encoding", "connection"]) headers.delete(name);
  const accept = headers.get("accept");
  if (accept === null || accept.includes("*/*")) headers.set("accept", "application/json, text/event-stream");
  return headers;
}

/** For requests that cannot reach a tool. */
const noCalls: CallScope = {
  principal: { id: "none", kind: "local", name: "none", scope: [] },
  x: null,
  signal: new AbortController().signal,
  gone: new AbortController().signal,
  probe: () => {},
  writable: () => true,
  began: () => () => {},
};
