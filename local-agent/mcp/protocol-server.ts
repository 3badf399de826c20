/**
 * What the agent offers, as an SDK server. The low-level `Server` is used on purpose (the SDK steers to `McpServer`):
 * tools come from a table with finished JSON Schemas, and one server lives for one request, so nothing is registered.
 */
import {
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type CallToolResult,
  type GetPromptResult,
  type ListToolsResult,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import type { Timers } from "../../shared/ports.ts";
import type { ToolDescriptor, ToolOutcome } from "../../shared/tool.ts";
import { declaresTasks, serveTasks, TASKS_EXTENSION, type HumanTasks } from "./human-tasks.ts";
import { linkSignals } from "./linked-signal.ts";
import type { PassThrough } from "./pass-through/pass-through.ts";
import { servePassed } from "./pass-through/passing-server.ts";
import type { Session } from "./pass-through/sessions.ts";
import { createProgressReports, type ProgressReports } from "./progress-reports.ts";
import { runToolCall, type CallScope, type ToolCallPorts } from "./tool-call.ts";

export type Era = "legacy" | "modern";

export interface ProtocolServerOptions extends ToolCallPorts {
  readonly name: string;
  readonly version: string;
  readonly instructions: () => string;
  readonly timers: Timers;
  /** Questions as tasks, for modern clients that take them. */
  readonly tasks?: HumanTasks;
  /** Upstreams that clients use as if they were ours; without it nothing is passed through. */
  readonly passThrough?: PassThrough;
}

/** Where a request comes from, beside whose it is. Only what is passed through asks for it. */
export interface ServedPlace {
  readonly session: Session | null;
  /** Unique for a connection that lives longer than a request; empty otherwise. */
  readonly connection: string;
  /** `Connections.age` when the request came or the connection began. */
  readonly since: number;
}

const NO_PLACE: ServedPlace = { session: null, connection: "", since: 0 };

const INSTRUCTIONS_PROMPT = "pi_as_mcp_instructions";

/** What a client may keep for a minute is a matter of its grant: never shared between clients. */
const CACHE_HINT = { ttlMs: 60_000, cacheScope: "private" } as const;

const CACHE_HINTS = { "tools/list": CACHE_HINT, "prompts/list": CACHE_HINT, "server/discover": CACHE_HINT };
const PASSED_CACHE_HINTS = { "resources/list": CACHE_HINT, "resources/templates/list": CACHE_HINT, "resources/read": CACHE_HINT };

const PROMPT = {
  name: INSTRUCTIONS_PROMPT,
  title: "Operating instructions",
  description: "How to work on this workstation with the tools of this server.",
};

/** A fresh server for one request (HTTP) or one connection (stdio). Logging is declared only where the revision still has `logging/setLevel`. */
export function createProtocolServer(options: ProtocolServerOptions, era: Era, scope: CallScope, place: ServedPlace = NO_PLACE): Server {
  const { passThrough } = options;
  const server = new Server(
    { name: options.name, version: options.version },
    {
      capabilities: {
        tools: {},
        prompts: {},
        ...(era === "legacy" && { logging: {} }),
        ...passThrough?.capabilities(),
        ...(era === "modern" && options.tasks !== undefined && { extensions: { [TASKS_EXTENSION]: {} } }),
      },
      instructions: passThrough?.instructions(options.instructions()) ?? options.instructions(),
      cacheHints: passThrough === undefined ? CACHE_HINTS : { ...CACHE_HINTS, ...PASSED_CACHE_HINTS },
    },
  );
  serveOwn(server, options, era, scope);
  if (passThrough === undefined) return server;
  const own = {
    tools: () => options.tools.list().map(describeTool),
    callTool: (params: CallParams, context: ServerContext) => callOwn(options, params, { ...scope, takesTasks: takesTasks(era, context) }, context),
    prompts: [PROMPT],
    getPrompt: (name: string) => promptOf(options, name),
  };
  servePassed({ ...place, era, principal: scope.principal, server, parts: passThrough.parts, scope, own });
  return server;
}

interface CallParams {
  readonly name: string;
  readonly arguments?: Record<string, unknown> | undefined;
}

function serveOwn(server: Server, options: ProtocolServerOptions, era: Era, scope: CallScope): void {
  server.setRequestHandler("tools/list", () => ({ tools: options.tools.list().map(describeTool) }));
  server.setRequestHandler("tools/call", (request, context) =>
    callOwn(options, request.params, { ...scope, takesTasks: takesTasks(era, context) }, context),
  );
  if (era === "modern" && options.tasks !== undefined) serveTasks(server, options.tasks, scope, toResult);
  server.setRequestHandler("prompts/list", () => ({ prompts: [PROMPT] }));
  server.setRequestHandler("prompts/get", (request) => promptOf(options, request.params.name));
}

function takesTasks(era: Era, context: ServerContext): boolean {
  return era === "modern" && declaresTasks(context);
}

function callOwn(
  options: ProtocolServerOptions,
  { name, arguments: args }: CallParams,
  scope: CallScope,
  context: ServerContext,
): Promise<CallToolResult> {
  return callTool(options, { name, args: (args ?? {}) as JsonObject }, scope, context);
}

function promptOf(options: ProtocolServerOptions, name: string): GetPromptResult {
  if (name !== INSTRUCTIONS_PROMPT) throw invalidParams(`Unknown prompt: ${name}`);
  return { description: PROMPT.description, messages: [{ role: "user", content: { type: "text", text: options.instructions() } }] };
}

async function callTool(
  options: ProtocolServerOptions,
  call: { readonly name: string; readonly args: JsonObject },
  scope: CallScope,
  context: ServerContext,
): Promise<CallToolResult> {
  if (!options.tools.list().some((tool) => tool.name === call.name)) throw invalidParams(`Unknown tool: ${call.name}`);
  // Over stdio only the SDK knows of a cancel; over HTTP the scope's own reason comes first and is the one that stays.
  const ends = linkSignals(scope.signal, context.mcpReq.signal);
  const reports = progressOf(options, call.name, scope, context);
  try {
    const own = { ...scope, signal: ends.signal, abort: (reason: Error) => ends.abort(reason) };
    return toResult(
      await runToolCall(options, { ...call, onProgress: ({ delta }) => reports?.add(delta), say: (message) => reports?.say(message) }, own),
    );
  } finally {
    reports?.close();
    ends.unlink();
  }
}

/** Null for a client that did not ask for progress. */
function progressOf(options: ProtocolServerOptions, tool: string, scope: CallScope, context: ServerContext): ProgressReports | null {
  const progressToken = context.mcpReq._meta?.progressToken;
  if (progressToken === undefined) return null;
  const silence = options.tools.silence?.(tool);
  const startedAt = options.clock.now();
  return createProgressReports((report) => context.mcpReq.notify({ method: "notifications/progress", params: { progressToken, ...report } }), {
    timers: options.timers,
    writable: scope.writable,
    ...(silence !== undefined && { silenceMs: silence.everyMs, silenceMessage: () => silence.message(options.clock.now() - startedAt) }),
  });
}

function describeTool(tool: ToolDescriptor): ListToolsResult["tools"][number] {
  const { name, title, description, annotations } = tool;
  const inputSchema = tool.inputSchema as ListToolsResult["tools"][number]["inputSchema"];
  return { name, title, description, inputSchema, annotations: { title, ...annotations } };
}

/** Structured content must be an object up to 2025-11-25; another value is said by the text already. */
function toResult(outcome: ToolOutcome): CallToolResult {
  const { content, structuredContent, isError, task } = outcome;
  // What the SDK calls a result has no name for this: the extension defines it (SEP-2663, `CreateTaskResult`).
  if (task !== undefined) return { resultType: "task", ...task } as unknown as CallToolResult;
  return {
    content: content.map((part) => ({ ...part })),
    ...(isJsonObject(structuredContent) && { structuredContent: { ...structuredContent } }),
    isError,
  };
}

function invalidParams(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
