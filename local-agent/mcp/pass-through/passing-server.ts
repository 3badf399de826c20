/** Gives one request's SDK server the exposed upstreams beside what it serves of ours. */
import {
  ProtocolError,
  ProtocolErrorCode,
  type CallToolResult,
  type CompleteRequest,
  type GetPromptResult,
  type LoggingLevel,
  type Prompt,
  type ReadResourceResult,
  type Server,
  type ServerCapabilities,
  type ServerContext,
  type Tool,
} from "@modelcontextprotocol/server";
import { isJsonObject, type JsonObject } from "../../../shared/json.ts";
import { linkSignals } from "../linked-signal.ts";
import type { CallScope } from "../tool-call.ts";
import { abortOf } from "./abort-of.ts";
import { allowedRead } from "./allowed-read.ts";
import { callerOf, type Caller, type CallerPlace } from "./caller.ts";
import { notificationOf } from "./changes.ts";
import { withoutHeaderHints } from "./header-hints.ts";
import { ownerOfResource, promptsOf, resourcesOf, templatesOf, toolsOf, type Offered, type Offers } from "./offers.ts";
import { passToolCall } from "./passed-call.ts";
import type { PassingParts } from "./pass-through.ts";
import { askNow } from "./questions.ts";
import { progressTo, tell } from "./reports.ts";
import { openState, passRequest } from "./rounds.ts";
import { digestOf } from "./seal.ts";
import type { Session, Subscription } from "./sessions.ts";
import type { PassedRequest } from "./upstream-link.ts";

/** What the server offers of our own. */
interface OwnOffers {
  readonly tools: () => readonly Tool[];
  readonly callTool: (
    params: { readonly name: string; readonly arguments?: Record<string, unknown> | undefined },
    context: ServerContext,
  ) => Promise<CallToolResult>;
  readonly prompts: readonly Prompt[];
  readonly getPrompt: (name: string) => GetPromptResult;
}

export interface Passing extends CallerPlace {
  readonly server: Server;
  readonly parts: PassingParts;
  readonly scope: CallScope;
  readonly own: OwnOffers;
}

/** A client keeps nothing longer, and for nobody else, whatever the upstream says. */
const MAX_TTL_MS = 60_000;
const SUBSCRIBE_MS = 30_000;

export function servePassed(passing: Passing): void {
  const { server } = passing;
  const capabilities = server.getCapabilities();
  serveTools(passing);
  servePrompts(passing);
  if (capabilities.resources !== undefined) serveResources(passing, capabilities);
  if (capabilities.completions !== undefined) serveCompletion(passing);
  if (passing.era === "legacy") serveLevel(passing);
  if (passing.connection !== "") tellConnection(passing);
}

/** A connection that lives on hears of changes at any time; the SDK knows who of a modern one's listens. */
function tellConnection({ server, parts, principal, scope }: Passing): void {
  const end = parts.changes.announce(principal.id, null, (change) => {
    server.notification(notificationOf(change)).catch(() => undefined);
    return true;
  });
  scope.signal.addEventListener("abort", end, { once: true });
}

function serveTools(passing: Passing): void {
  const { server, parts, own } = passing;
  const offered = (caller: Caller, how: "anew" | "kept"): Promise<Offers<Tool>> => toolsOf(parts, caller, namesOf(own.tools()), how);
  server.setRequestHandler("tools/list", async (_request, context) => {
    const { offered: theirs } = await offered(callerIn(passing, context), "anew");
    return { tools: [...own.tools(), ...theirs.map(displayedTool)] };
  });
  server.setRequestHandler("tools/call", async (request, context) => {
    const { params } = request;
    if (namesOf(own.tools()).has(params.name)) return own.callTool(params, context);
    const caller = callerIn(passing, context);
    const { found, failures } = await findByName((how) => offered(caller, how), params.name);
    if (found === null && failures.length > 0) return unreachable(failures);
    if (found === null) throw invalidParams(`Unknown tool: ${params.name}`);
    const end = announcing(passing, context);
    try {
      const asked = { tool: found, params: params as unknown as JsonObject, caller, context, scope: passing.scope };
      const result = (await passToolCall(parts, asked)) as unknown as CallToolResult;
      if (result["resultType"] === "input_required") return result;
      return server.projectCallToolResult(result, found.item.outputSchema);
    } finally {
      end();
    }
  });
}

function displayedTool({ displayed, item }: Offered<Tool>): Tool {
  return { ...item, name: displayed, inputSchema: withoutHeaderHints(item.inputSchema as JsonObject) as Tool["inputSchema"] };
}

/** A legacy client that can be asked is asked on the stream of whatever it requests now. */
function callerIn(passing: Passing, context: ServerContext): Caller {
  const { server, era, session, connection, parts, scope } = passing;
  const caller = callerOf(passing, server, context);
  if (era !== "legacy" || (session === null && connection === "")) return caller;
  const { forms } = parts.passage;
  return {
    ...caller,
    ask: (upstream) => (question, withdrawn) => askNow(question, { upstream, caller, forms, signal: scope.signal, context }, withdrawn),
  };
}

function unreachable(failures: readonly string[]): CallToolResult {
  return { content: [{ type: "text", text: `Nothing was run: ${failures.join(" ")}` }], isError: true };
}

function servePrompts(passing: Passing): void {
  const { server, parts, own } = passing;
  const offered = (caller: Caller, how: "anew" | "kept"): Promise<Offers<Prompt>> => promptsOf(parts, caller, namesOf(own.prompts), how);
  server.setRequestHandler("prompts/list", async (_request, context) => {
    const { offered: theirs } = await offered(callerIn(passing, context), "anew");
    return { prompts: [...own.prompts, ...theirs.map(({ displayed, item }) => ({ ...item, name: displayed }))] };
  });
  server.setRequestHandler("prompts/get", async (request, context) => {
    const { name } = request.params;
    if (namesOf(own.prompts).has(name)) return own.getPrompt(name);
    const caller = callerIn(passing, context);
    const { found, failures } = await findByName((how) => offered(caller, how), name);
    if (found === null) throw failures.length > 0 ? unavailable(failures.join(" ")) : invalidParams(`Unknown prompt: ${name}`);
    const asked = { ...(request.params as unknown as JsonObject), name: found.item.name };
    const digest = digestOf("prompts/get", { name, arguments: { ...request.params.arguments } });
    return (await pass(passing, context, {
      upstream: found.upstream,
      request: { method: "prompts/get", params: asked },
      digest,
    })) as unknown as GetPromptResult;
  });
}

function serveResources(passing: Passing, capabilities: ServerCapabilities): void {
  const { server, parts, era } = passing;
  server.setRequestHandler("resources/list", async (_request, context) => {
    const { offered } = await resourcesOf(parts, callerIn(passing, context), "anew");
    return { resources: offered.map(({ item }) => item) };
  });
  server.setRequestHandler("resources/templates/list", async (_request, context) => {
    const { offered } = await templatesOf(parts, callerIn(passing, context), "anew");
    return { resourceTemplates: offered.map(({ item }) => item) };
  });
  server.setRequestHandler("resources/read", async (request, context) => {
    const { uri } = request.params;
    const upstream = await ownerOf(passing, context, uri);
    const { _meta } = request.params as unknown as JsonObject;
    const params: JsonObject = { uri, ...(isJsonObject(_meta) && { _meta }) };
    const digest = digestOf("resources/read", { uri });
    const result = await pass(passing, context, { upstream, request: { method: "resources/read", params }, digest, uri });
    return keptPrivately(result) as unknown as ReadResourceResult;
  });
  if (era !== "legacy" || capabilities.resources?.subscribe !== true) return;
  server.setRequestHandler("resources/subscribe", async (request, context) => {
    const { uri } = request.params;
    const { session } = passing;
    if (session === null) throw invalidParams("A subscription needs a session: send the Mcp-Session-Id that initialize was answered with.");
    const present = session.subscriptions.get(uri);
    if (present === undefined && session.subscriptions.size >= MAX_SUBSCRIPTIONS)
      throw invalidParams(`A session has at most ${MAX_SUBSCRIPTIONS} subscriptions.`);
    await (present ?? subscribe(passing, context, { session, uri })).begun;
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", (request) => {
    const { uri } = request.params;
    passing.session?.subscriptions.get(uri)?.stop();
    passing.session?.subscriptions.delete(uri);
    return {};
  });
}

const MAX_SUBSCRIPTIONS = 256;

/** Holds the connection until it is ended. Kept by the session from now on: whoever asks again waits for the same, and once it is over asks anew. */
function subscribe(passing: Passing, context: ServerContext, { session, uri }: { readonly session: Session; readonly uri: string }): Subscription {
  const { connections } = passing.parts;
  const over = new AbortController();
  const { promise: begun, resolve, reject } = Promise.withResolvers<void>();
  const subscription = { begun, stop: () => over.abort(new Error("unsubscribed")) };
  session.subscriptions.set(uri, subscription);
  const hold = async (): Promise<void> => {
    const upstream = await ownerOf(passing, context, uri);
    const held = await connections.use(upstream, callerIn(passing, context), {}, async (link) => {
      const stop = await link.subscribe(uri, { signal: over.signal, timeoutMs: SUBSCRIBE_MS });
      resolve();
      await Promise.race([abortOf(over.signal), link.closed]);
      stop();
    });
    if (!held.ok) throw unavailable(held.error);
  };
  hold()
    .catch(reject)
    .finally(() => {
      if (session.subscriptions.get(uri) === subscription) session.subscriptions.delete(uri);
    });
  return subscription;
}

function serveCompletion(passing: Passing): void {
  const { server, parts, own } = passing;
  server.setRequestHandler("completion/complete", async (request, context) => {
    const caller = callerIn(passing, context);
    const params = request.params as unknown as JsonObject;
    const to = await completes(passing, caller, context, request.params.ref);
    const facts = to === null ? null : parts.connections.facts(to.upstream);
    if (to === null || (facts !== null && facts.capabilities.completions === undefined)) return { completion: { values: [], hasMore: false } };
    const passed: PassedRequest = { method: "completion/complete", params: { ...params, ref: to.ref } };
    return (await pass(passing, context, { upstream: to.upstream, request: passed, digest: "" })) as never;
  });

  async function completes({ parts }: Passing, caller: Caller, context: ServerContext, ref: CompleteRequest["params"]["ref"]) {
    if (ref.type !== "ref/prompt") return { upstream: await ownerOf(passing, context, ref.uri), ref: { ...ref } };
    if (namesOf(own.prompts).has(ref.name)) return null;
    const { found } = await findByName((how) => promptsOf(parts, caller, namesOf(own.prompts), how), ref.name);
    if (found === null) throw invalidParams(`Unknown prompt: ${ref.name}`);
    return { upstream: found.upstream, ref: { ...ref, name: found.item.name } };
  }
}

/** Upstreams learn of it with the next request. */
function serveLevel({ server, session }: Passing): void {
  let level: LoggingLevel | null = null;
  server.setRequestHandler("logging/setLevel", (request) => {
    level = request.params.level;
    if (session !== null) session.logLevel = level;
    return {};
  });
}

async function pass(
  passing: Passing,
  context: ServerContext,
  asked: { readonly upstream: string; readonly request: PassedRequest; readonly digest: string; readonly uri?: string },
): Promise<JsonObject> {
  const { upstream, request, digest, uri } = asked;
  const { parts, scope } = passing;
  const caller = callerIn(passing, context);
  const ends = linkSignals(scope.signal, context.mcpReq.signal);
  const end = announcing(passing, context);
  try {
    const brought = openState(parts.seal, { upstream, digest, caller, context });
    const leave = uri === undefined ? null : await allowedRead(parts, { upstream, uri, caller, scope, signal: ends.signal, state: brought });
    const outcome = await passRequest(parts, {
      upstream,
      request: { ...request, params: withoutRound(request.params) },
      digest,
      caller,
      context,
      signal: ends.signal,
      writable: scope.writable,
      onProgress: progressTo({ context, writable: scope.writable }),
      state: leave?.state ?? brought,
    });
    if (!outcome.ok || outcome.value["resultType"] !== "input_required") leave?.over();
    if (!outcome.ok) throw unavailable(outcome.error);
    return outcome.value;
  } finally {
    end();
    ends.unlink();
  }
}

/** While it runs its stream is where a legacy client hears of changes. */
function announcing({ era, parts, scope, session, principal, connection }: Passing, context: ServerContext): () => void {
  if (era !== "legacy" || connection !== "") return () => {};
  return parts.changes.announce(principal.id, session, (change) => {
    if (!scope.writable()) return false;
    const { method, params } = notificationOf(change);
    tell(context, method, params);
    return true;
  });
}

async function ownerOf(passing: Passing, context: ServerContext, uri: string): Promise<string> {
  const owner = await ownerOfResource(passing.parts, callerIn(passing, context), uri);
  if (owner === null) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Resource not found: ${uri}`, { uri });
  return owner;
}

async function findByName<T>(offered: (how: "anew" | "kept") => Promise<Offers<T>>, name: string) {
  const kept = await offered("kept");
  const found = kept.offered.find(({ displayed }) => displayed === name);
  if (found !== undefined) return { found, failures: [] };
  const anew = await offered("anew");
  return { found: anew.offered.find(({ displayed }) => displayed === name) ?? null, failures: anew.failures };
}

function keptPrivately(result: JsonObject): JsonObject {
  if (result["resultType"] === "input_required") return result;
  const { ttlMs, cacheScope: _scope, ...rest } = result;
  return { ...rest, ttlMs: typeof ttlMs === "number" ? Math.min(ttlMs, MAX_TTL_MS) : 0, cacheScope: "private" };
}

/** What a later round of the same request adds is no part of what it asks. */
function withoutRound(params: JsonObject): JsonObject {
  const { requestState: _state, inputResponses: _responses, _meta, ...rest } = params;
  return { ...rest, ...(isJsonObject(_meta) && { _meta: withoutToken(_meta) }) };
}

function withoutToken({ progressToken: _token, ...rest }: JsonObject): JsonObject {
  return rest;
}

function namesOf(named: readonly { readonly name: string }[]): ReadonlySet<string> {
  return new Set(named.map(({ name }) => name));
}

function invalidParams(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}

function unavailable(sentence: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InternalError, sentence);
}
