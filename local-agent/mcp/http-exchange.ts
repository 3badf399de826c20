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
import { withEarlyRefusal } from "./pass-through/early-refusal.ts";
import { answerModern, beginSession } from "./pass-through/exchanges.ts";
import type { PassThrough } from "./pass-through/pass-through.ts";
import { SessionTransport } from "./pass-through/session-transport.ts";
import type { Session } from "./pass-through/sessions.ts";
import { createProtocolServer, type Era, type ProtocolServerOptions } from "./protocol-server.ts";
import { callAnswer, isEventStream, wholeAnswer } from "./answers.ts";
import { createSseAnswer } from "./sse-answer.ts";
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
  /** Legacy, where upstreams are passed through. */
  readonly session: Session | null;
  /** `Connections.age` when it came. */
  readonly since: number;
}

/** What clients of both SDKs take as "initialize again". */
const SESSION_GONE = -32001;

/** Modern subscriptions of one agent; each holds a stream open. */
const MAX_SUBSCRIPTIONS = 16;

export function createExchangeHandler(options: HttpExchangeOptions): ExchangeHandler {
  const live = createLiveCalls();
  const { passThrough } = options;
  const modern = createMcpHandler((context) => createProtocolServer(options, context.era, noCalls), {
    legacy: "reject",
    keepAliveMs: options.keepAliveMs,
    maxSubscriptions: MAX_SUBSCRIPTIONS,
  });

  return async (request, context) => {
    // [MC5] There is no stream to open, and what is to be ended of a session is forgotten at once.
    if (request.method === "DELETE") {
      passThrough?.sessions.end(context.principal.id, request.headers.get("mcp-session-id"));
      return wholeAnswer(new Response(null, { status: 204 }));
    }
    if (request.method !== "POST") return wholeAnswer(methodNotAllowed());
    const since = passThrough?.parts.connections.age ?? 0;
    const read = await readMessage(request);
    if (!read.ok) return wholeAnswer(read.error);
    const headers = acceptingBoth(request.headers);
    const probe = new Request(request.url, { method: "POST", headers });
    const era = (await isLegacyRequest(probe, read.value.body)) ? "legacy" : "modern";
    const found = (era === "legacy" ? passThrough?.find(context.principal.id, headers) : undefined) ?? NO_SESSION;
    if (found.at === "refused") return wholeAnswer(refusal(404, null, SESSION_GONE, "this session is over: initialize again"));
    return answer({ ...read.value, era, headers, url: request.url, context, since, session: found.at === "session" ? found.session : null });
  };

  async function answer(exchange: Exchange): Promise<ExchangeAnswer> {
    const { message } = exchange;
    if (message.kind === "request" && isStreamed(exchange, message.method)) return answerCall(options, live, exchange, message.id);
    const passed = passThrough === undefined ? null : await answerPassing(options, passThrough, exchange);
    return passed === null ? answerOther(options, live, exchange, modern.fetch) : wholeAnswer(passed);
  }
}

const NO_SESSION = { at: "none" } as const;

/**
 * Beside calls whatever a session's request asks of upstreams: they may have to be started first, or ask the client something, and
 * either needs a stream.
 */
function isStreamed({ session }: Exchange, method: string): boolean {
  return method === "tools/call" || (session !== null && OF_UPSTREAMS.test(method));
}

const OF_UPSTREAMS = /^(?:tools|prompts|resources|completion)\//;

/** Null: an exchange as it is without upstreams. */
async function answerPassing(options: HttpExchangeOptions, passThrough: PassThrough, exchange: Exchange): Promise<Response | null> {
  const { message, era, session, since, body } = exchange;
  if (message.kind === "response" && session !== null) {
    passThrough.answered(session, body);
    return new Response(null, { status: 202 });
  }
  if (message.kind !== "request" || isAboutTask(message)) return null;
  let writable = (): boolean => true;
  const scope = { ...scopeOf(exchange), writable: () => writable() };
  const server = (): Server => createProtocolServer(options, era, scope, { session, connection: "", since });
  const passing = { ...exchange, server, inner: (signal: AbortSignal | null) => innerRequest(exchange, signal), keepAliveMs: options.keepAliveMs };
  if (era === "legacy") return message.method === "initialize" ? beginSession(passThrough, passing, message.params) : null;
  const response = await answerModern(passThrough, passing);
  if (response.body === null || !isEventStream(response) || isSubscription(message)) return response;
  // What an upstream says meanwhile waits here for a client that does not read.
  const stream = createSseAnswer(response.body, { ...options, onEnd: () => {} });
  writable = stream.writable;
  return new Response(stream.body, response);
}

/** For requests that are no calls and ask whose they are. */
function scopeOf({ context: { principal, x, signal, gone } }: Exchange): CallScope {
  return { ...noCalls, principal, x, signal, gone };
}

/** [MC8] A tool call answers as an event stream, whatever the era. */
async function answerCall(options: HttpExchangeOptions, live: LiveCalls, exchange: Exchange, id: RpcId): Promise<ExchangeAnswer> {
  const scope = openCallScope(exchange, id, { live, timers: options.timers, lifeMs: options.lifeMs });
  if (scope.signal.aborted) return wholeAnswer(new Response(null, { status: 499 }));
  const { session, since } = exchange;
  const server = createProtocolServer(options, exchange.era, scope, { session, connection: "", since });
  scope.signal.addEventListener("abort", () => void server.close(), { once: true });
  const served =
    exchange.era === "legacy"
      ? await serveLegacy(options, server, exchange, { enableJsonResponse: false })
      : await createMcpHandler(() => server, { legacy: "reject", responseMode: "sse", keepAliveMs: 0 }).fetch(innerRequest(exchange, scope.signal), {
          parsedBody: exchange.body,
        });
  const response = isPassedOn(options, exchange) ? await withEarlyRefusal(served, options.timers) : served;
  if (response.body === null || !isEventStream(response)) {
    scope.answered();
    return wholeAnswer(response);
  }
  const { answer, stream } = callAnswer(response, response.body, id, { ...options, onEnd: () => scope.answered() });
  scope.watch(stream);
  return answer;
}

/** A modern call that no tool of ours answers. */
function isPassedOn({ passThrough, tools }: HttpExchangeOptions, { era, message }: Exchange): boolean {
  if (passThrough === undefined || era === "legacy" || message.kind !== "request") return false;
  return !tools.list().some(({ name }) => name === message.params["name"]);
}

async function answerOther(
  options: HttpExchangeOptions,
  live: LiveCalls,
  exchange: Exchange,
  serveModern: (request: Request, options: { parsedBody: unknown }) => Promise<Response>,
): Promise<ExchangeAnswer> {
  const { context, era, message, session, since, body } = exchange;
  if (era === "modern" && isAboutTask(message)) return answerAboutTask(options, exchange);
  const response =
    era === "legacy"
      ? await serveLegacy(options, createProtocolServer(options, era, scopeOf(exchange), { session, connection: "", since }), exchange, {
          enableJsonResponse: true,
        })
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
  const server = createProtocolServer(options, "modern", scopeOf(exchange));
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

/** Without upstreams no session id is ever minted or looked at: a stray one is served like none (DESIGN §5). */
async function serveLegacy(
  { passThrough }: HttpExchangeOptions,
  server: Server,
  exchange: Exchange,
  mode: { readonly enableJsonResponse: boolean },
): Promise<Response> {
  const { session } = exchange;
  if (passThrough === undefined || session === null) {
    const transport = new WebStandardStreamableHTTPServerTransport({ ...mode, keepAliveMs: 0 });
    await server.connect(transport);
    // Without a signal: a legacy client that goes away has not cancelled anything (2025-11-25 basic/transports).
    return transport.handleRequest(innerRequest(exchange, null), { parsedBody: exchange.body });
  }
  const transport = new SessionTransport(session, passThrough.questions, mode);
  await server.connect(transport);
  await transport.introduce();
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
