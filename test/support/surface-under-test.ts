/** The MCP surface over scripted tools, and requests as raw clients of both eras write them. */
import { silentLog } from "../../local-agent/node/log-sinks.ts";
import { systemClock, systemTimers } from "../../local-agent/node/system-time.ts";
import type { ApprovalGate } from "../../shared/approval.ts";
import type { CallFinished, CallStarted } from "../../shared/call-events.ts";
import type { ExchangeAnswer, ExchangeContext } from "../../local-agent/mcp/exchange.ts";
import { createMcpSurface, type McpSurface, type McpSurfaceOptions } from "../../local-agent/mcp/server.ts";
import type { Principal } from "../../shared/principal.ts";
import { scriptedTools, type ScriptedTools, type ToolScript } from "./scripted-tools.ts";

export interface SurfaceUnderTest {
  readonly surface: McpSurface;
  readonly tools: ScriptedTools;
  readonly begun: CallStarted[];
  readonly ended: CallFinished[];
  readonly deltas: string[];
}

export function surfaceUnderTest(scripts: Readonly<Record<string, ToolScript>>, options: Partial<McpSurfaceOptions> = {}): SurfaceUnderTest {
  const tools = scriptedTools(scripts);
  const begun: CallStarted[] = [];
  const ended: CallFinished[] = [];
  const deltas: string[] = [];
  const surface = createMcpSurface({
    name: "pimcp",
    version: "0.0.0-test",
    tools,
    instructions: () => "operating prompt",
    clock: systemClock,
    timers: systemTimers,
    log: silentLog,
    gate: UNGUARDED_GATE,
    calls: {
      started: (call) => void begun.push(call),
      progressed: ({ delta }) => void deltas.push(delta),
      finished: (call) => void ended.push(call),
    },
    ...options,
  });
  return { surface, tools, begun, ended, deltas };
}

/** Asks nobody. */
export const UNGUARDED_GATE: ApprovalGate = { guards: () => false, ask: () => Promise.resolve({ allowed: false, text: "nobody was asked" }) };

function principal(id = "grant:1"): Principal {
  return { id, kind: "grant", name: `client of ${id}`, scope: [] };
}

export interface TestContext extends ExchangeContext {
  readonly end: AbortController;
  readonly leave: AbortController;
}

export function context(id = "grant:1"): TestContext {
  const end = new AbortController();
  const leave = new AbortController();
  return { principal: principal(id), x: null, signal: end.signal, gone: leave.signal, end, leave };
}

export type Message = { readonly id?: unknown; readonly method: string; readonly params?: Record<string, unknown> };

export function legacyRequest(message: Message, headers: Record<string, string> = {}): Request {
  return post(message, headers);
}

export const MODERN = "2026-07-28";

export function modernRequest(message: Message, headers: Record<string, string> = {}): Request {
  const params = message.params ?? {};
  const name = params["name"];
  const envelope = { "io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {} };
  const _meta = { ...envelope, ...(params["_meta"] as object | undefined) };
  return post(
    { ...message, params: { ...params, _meta } },
    { "mcp-protocol-version": MODERN, "mcp-method": message.method, ...(typeof name === "string" && { "mcp-name": name }), ...headers },
  );
}

export function requestOf(era: "legacy" | "modern", message: Message, headers: Record<string, string> = {}): Request {
  return era === "legacy" ? legacyRequest(message, headers) : modernRequest(message, headers);
}

function post(message: Message, headers: Record<string, string>): Request {
  return new Request("http://relay.test/mcp", {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
  });
}

export function toolCall(id: unknown, name: string, args: Record<string, unknown> = {}, progressToken?: string | number): Message {
  return { id, method: "tools/call", params: { name, arguments: args, ...(progressToken !== undefined && { _meta: { progressToken } }) } };
}

export interface RpcAnswer {
  readonly id: unknown;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
  readonly method?: string;
  readonly params?: Record<string, unknown>;
}

/** Every JSON-RPC message of an answer, whether it came as JSON or as events. */
export async function messages(answer: ExchangeAnswer | Response): Promise<RpcAnswer[]> {
  const response = answer instanceof Response ? answer : answer.response;
  const body = await response.text();
  if (body === "") return [];
  return response.headers.get("content-type")?.startsWith("text/event-stream") === true
    ? eventData(body).map((data) => JSON.parse(data))
    : [JSON.parse(body)];
}

export function eventData(stream: string): string[] {
  return stream.split("\n\n").flatMap((event) => event.split("\n").flatMap((line) => (line.startsWith("data: ") ? [line.slice(6)] : [])));
}

/** The last message: the response itself. */
export async function reply(answer: ExchangeAnswer | Response): Promise<RpcAnswer> {
  const all = await messages(answer);
  const last = all.at(-1);
  if (last === undefined) throw new Error("the answer holds no message");
  return last;
}
