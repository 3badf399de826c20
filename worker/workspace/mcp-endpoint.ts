/**
 * `/mcp`: everything that is checked before an exchange goes through the tunnel, in this order: address, origin, method,
 * credential, size. docs/spec/edge.md.
 */
import type { Principal } from "../../shared/principal.ts";
import { RPC } from "../../shared/jsonrpc.ts";
import type { Result } from "../../shared/result.ts";
import type { Deposits } from "../../shared/wire/frames.ts";
import { LIMITS } from "../../shared/wire/limits.ts";
import type { ExchangeFailure, NewRequest, Refusal } from "../../shared/wire/relay-exchanges.ts";
import { refusal, rpcAnswer } from "../respond.ts";
import { failureAnswer, offlineAnswer, type WholeAnswer } from "./offline-answers.ts";
import { saidWhileAway, type AwayWords } from "./said-while-away.ts";
import type { BodyReader, BodyRefusal } from "./request-body.ts";
import type { Tunnel } from "./tunnel.ts";

export interface McpEndpoint {
  readonly tunnel: Tunnel;
  readonly bodies: BodyReader;
  readonly deposits: Deposits;
  readonly authenticate: () => Promise<Result<Principal, Response>>;
  readonly absent: (principal: Principal) => Absence;
}

/** What is said and done for a workstation that is not there. */
export interface Absence {
  /** A sentence such as "The workstation has been away since …". */
  readonly away: string;
  /** Keeps words for the person. */
  readonly keep: (words: AwayWords) => void;
}

const METHODS = "POST, DELETE";

/** `target`: path and query, as the agent is to see them. */
export async function serveMcp(request: Request, target: string, endpoint: McpEndpoint): Promise<Response> {
  const origin = checkOrigin(request.headers.get("origin"), endpoint.deposits);
  if (origin === "foreign")
    return refusal(
      403,
      "foreign_origin",
      "Web pages of other origins may not call this endpoint. Start the agent with --allow-origin to permit one.",
    );
  if (request.method === "OPTIONS" && origin !== "none")
    return new Response(null, { status: 204, headers: { ...corsHeaders(origin), ...preflightHeaders(request.headers) } });
  const answer = await serveChecked(request, target, endpoint);
  if (origin === "none") return answer;
  const readable = new Response(answer.body, answer);
  for (const [name, value] of Object.entries(corsHeaders(origin))) readable.headers.set(name, value);
  return readable;
}

async function serveChecked(request: Request, target: string, endpoint: McpEndpoint): Promise<Response> {
  const { method } = request;
  // No GET stream: the object could never sleep (DESIGN §5). 405 is what clients understand; 400 and 404 make some loop.
  if (method !== "POST" && method !== "DELETE") return new Response(null, { status: 405, headers: { allow: METHODS, "cache-control": "no-store" } });
  const caller = await endpoint.authenticate();
  if (!caller.ok) return caller.error;
  const read = await endpoint.bodies.read(request);
  if (!read.ok) return refuseExchange(read.error);
  const body = read.value;
  if (!endpoint.tunnel.accepts()) return toResponse(absentAnswer(method, decode(body), endpoint.deposits, endpoint.absent(caller.value)));
  const newRequest: NewRequest = { method, path: target, headers: forwardedHeaders(request.headers), principal: caller.value };
  const forwarded = endpoint.tunnel.forward(newRequest, body, request.signal);
  return forwarded.ok ? forwarded.value : refuseExchange(forwarded.error);
}

/** Nothing was run: the answer says so, and whether trying again makes sense. */
function refuseExchange(refusal: Refusal | BodyRefusal): Response {
  switch (refusal) {
    case "too_large":
      return rpcAnswer(413, {
        id: null,
        code: RPC.invalidRequest,
        message: `The request body must be at most ${LIMITS.requestBytes} bytes. Send large content in several calls.`,
      });
    case "too_slow":
      return rpcAnswer(408, { id: null, code: RPC.invalidRequest, message: "The request body did not arrive in time. Nothing was run." });
    case "not_a_frame":
      return rpcAnswer(431, {
        id: null,
        code: RPC.invalidRequest,
        message: "The request's path and MCP headers are too large to pass on: each header at most 16 KiB. Nothing was run.",
      });
    case "too_many":
    case "too_much_held": {
      const message = "Too many requests are open on this relay. Try again shortly; nothing was run.";
      return rpcAnswer(503, { id: null, code: RPC.internalError, message }, { "retry-after": "5" });
    }
  }
}

/** The whole answer for an exchange that failed before its answer began. */
export function failedAnswer(failure: ExchangeFailure, deposits: Deposits, absence: Absence): Response {
  const body = decode(failure.body);
  // An empty body is a DELETE: there is no id to answer to.
  if (failure.why === "away") return toResponse(absentAnswer(failure.body.byteLength === 0 ? "DELETE" : "POST", body, deposits, absence));
  return toResponse(failureAnswer(failure.why, body));
}

/** [HU20] Words are kept for the person; for everything else the answer says that nobody is there. */
function absentAnswer(method: string, body: string, { offline }: Deposits, { away, keep }: Absence): WholeAnswer {
  const said = method === "POST" ? saidWhileAway(body, offline, away) : undefined;
  if (said === undefined) return offlineAnswer(method, body, offline, away);
  keep(said.words);
  return said.answer;
}

/** `none`: no browser is involved. Unparseable origins, `null` among them, are foreign. */
function checkOrigin(origin: string | null, deposits: Deposits): "none" | "foreign" | { readonly allowed: string } {
  if (origin === null) return "none";
  return deposits.origins.includes(origin) || deposits.allowOrigins.includes(origin) ? { allowed: origin } : "foreign";
}

function corsHeaders(origin: { readonly allowed: string }): Record<string, string> {
  return { "access-control-allow-origin": origin.allowed, vary: "Origin", "access-control-expose-headers": "mcp-session-id, www-authenticate" };
}

/** What is forwarded may be sent: the `mcp-*` headers asked for, whatever a revision calls them, and the usual ones. */
function preflightHeaders(headers: Headers): Record<string, string> {
  const asked = (headers.get("access-control-request-headers") ?? "").toLowerCase().split(",");
  const mcp = asked.map((name) => name.trim()).filter((name) => /^mcp-[a-z0-9-]+$/.test(name));
  return {
    "access-control-allow-methods": METHODS,
    "access-control-allow-headers": ["authorization", "content-type", "accept", "last-event-id", ...mcp].join(", "),
    "access-control-max-age": "600",
  };
}

/** By prefix, because each revision adds `mcp-*` headers that its server compares with the body. No credential, no cookie. */
function forwardedHeaders(headers: Headers): [string, string][] {
  return [...headers].filter(([name, value]) => (name.startsWith("mcp-") || FORWARDED.has(name)) && isHeaderText(value));
}

/** The agent could not put anything else into a request; what is left out it misses, and says so in MCP's words. */
function isHeaderText(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}

const FORWARDED: ReadonlySet<string> = new Set(["accept", "content-type", "last-event-id", "user-agent"]);

function toResponse(answer: WholeAnswer): Response {
  const headers = { "cache-control": "no-store", ...(answer.body === "" ? {} : { "content-type": "application/json" }) };
  return new Response(answer.body === "" ? null : answer.body, { status: answer.status, headers });
}

function decode(body: Uint8Array): string {
  return new TextDecoder().decode(body);
}
