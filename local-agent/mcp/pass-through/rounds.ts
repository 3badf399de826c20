/**
 * One request to an upstream, through all that the upstream may ask meanwhile, in the four combinations of eras:
 * modern client and upstream: `input_required` is handed on; legacy client, modern upstream: the same, and the SDK asks the client;
 * legacy both: the upstream's question is asked on the request's stream; modern client, legacy upstream: the request is parked.
 */
import { CLIENT_CAPABILITIES_META_KEY, LOG_LEVEL_META_KEY, ProtocolError, ProtocolErrorCode, type ServerContext } from "@modelcontextprotocol/server";
import { isJsonObject, type JsonObject } from "../../../shared/json.ts";
import { err, ok, type Result } from "../../../shared/result.ts";
import { failureText } from "../../adapter/upstream/failure-text.ts";
import { linkSignals } from "../linked-signal.ts";
import type { Caller } from "./caller.ts";
import { declaredTo, type Connections } from "./connections.ts";
import type { ParkedCalls, ParkedSide } from "./parked-calls.ts";
import type { Passage } from "./passage.ts";
import { answererOf, askNow, askPage, refusalOf, withoutMeta } from "./questions.ts";
import { logsTo } from "./reports.ts";
import type { Seal } from "./seal.ts";
import type { LinkRequestOptions, PassedRequest, UpstreamLink, UpstreamQuestion } from "./upstream-link.ts";

export interface RoundsPorts {
  readonly passage: Passage;
  readonly connections: Connections;
  readonly parked: ParkedCalls;
  readonly seal: Seal;
  readonly lifeMs: number;
}

export interface PassedExchange {
  readonly upstream: string;
  /** With the upstream's own names. */
  readonly request: PassedRequest;
  /** Of the request as the client sends it: what a state is good for. */
  readonly digest: string;
  readonly caller: Caller;
  readonly context: ServerContext;
  readonly signal: AbortSignal;
  readonly writable: () => boolean;
  readonly onProgress: (progress: JsonObject) => void;
  readonly inputSchema?: JsonObject | undefined;
  readonly state: RoundState;
}

/** What a client brings back. */
export interface RoundState {
  /** The upstream's own state. */
  readonly upstream?: string;
  /** What the person answered already, by the upstream's keys. */
  readonly answers?: JsonObject;
  /** The keys that the client was asked for. */
  readonly asked?: readonly string[];
  readonly parked?: string;
  /** That this very call was allowed; good once. */
  readonly grant?: string;
}

/** A state that comes back later is refused. */
const STATE_MS = 60 * 60_000;
const MAX_ROUNDS = 10;
const URL_REQUIRED: number = ProtocolErrorCode.UrlElicitationRequired;
const PURPOSE = "round";

/** The state that came with a request. @throws ProtocolError when it is not what was given to this client for this request */
export function openState(seal: Seal, exchange: Pick<PassedExchange, "upstream" | "digest" | "caller" | "context">): RoundState {
  const given = exchange.context.mcpReq.requestState();
  if (given === undefined) return {};
  const read = typeof given === "string" ? seal.open(PURPOSE, boundTo(exchange), given) : null;
  if (read === null) throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Invalid or expired requestState", { reason: "invalid_request_state" });
  return read;
}

function boundTo({ upstream, digest, caller }: Pick<PassedExchange, "upstream" | "digest" | "caller">): readonly string[] {
  return [caller.principal.id, caller.place, upstream, digest];
}

/** The upstream's result, or an `input_required` of ours. The error is a sentence; what the upstream answers with an error is thrown. */
export async function passRequest(ports: RoundsPorts, exchange: PassedExchange): Promise<Result<JsonObject, string>> {
  try {
    return await passed(ports, exchange);
  } catch (error) {
    if (error instanceof ProtocolError || exchange.signal.aborted) throw error;
    return err(`"${exchange.upstream}" failed: ${failureText(error, "")}. What was asked of it may have been done: look before you ask again.`);
  }
}

async function passed(ports: RoundsPorts, exchange: PassedExchange): Promise<Result<JsonObject, string>> {
  const { upstream, caller, state } = exchange;
  if (state.parked !== undefined) return resume(ports, exchange, state.parked);
  if (caller.era === "modern") {
    const era = await ports.connections.use(upstream, caller, {}, (link) => Promise.resolve(link.era));
    if (!era.ok) return era;
    if (era.value === "legacy") return startParked(ports, exchange);
  }
  // Without its call a question has nobody to answer to.
  const asking = linkSignals(exchange.signal);
  const asks = { upstream, caller, forms: ports.passage.forms, signal: asking.signal, context: exchange.context };
  const use = {
    onLog: logsTo(exchange),
    onQuestion: (question: UpstreamQuestion, withdrawn: AbortSignal) => askNow(question, asks, withdrawn),
  };
  const answer = ports.connections.use(upstream, caller, use, async (link) => {
    await adjustLevel(link, exchange);
    return link.era === "modern" ? modernRounds(ports, exchange, link) : link.request(exchange.request, requestOptions(ports, exchange));
  });
  return answer.finally(() => asking.abort(new Error("the call is over")));
}

function requestOptions(ports: RoundsPorts, exchange: PassedExchange): LinkRequestOptions {
  const { signal, inputSchema, onProgress } = exchange;
  return { signal, timeoutMs: ports.lifeMs, inputSchema, onProgress: (progress) => onProgress(progress as unknown as JsonObject) };
}

async function modernRounds(ports: RoundsPorts, exchange: PassedExchange, link: UpstreamLink): Promise<JsonObject> {
  const { caller, request, state } = exchange;
  let responses: Record<string, unknown> = { ...givenByClient(ports, exchange), ...state.answers };
  let upstreamState = state.upstream;
  for (let round = 1; ; round++) {
    const params = {
      ...request.params,
      _meta: {
        ...(isJsonObject(request.params["_meta"]) && request.params["_meta"]),
        [CLIENT_CAPABILITIES_META_KEY]: declaredTo(caller.capabilities, ports.passage.forms !== null),
        ...(caller.logLevel !== null && { [LOG_LEVEL_META_KEY]: caller.logLevel }),
      },
      ...(Object.keys(responses).length > 0 && { inputResponses: responses }),
      ...(upstreamState !== undefined && { requestState: upstreamState }),
    } as JsonObject;
    const result = await link.request({ ...request, params }, requestOptions(ports, exchange));
    if (result["resultType"] !== "input_required") return result;
    const asked = isJsonObject(result["inputRequests"]) ? result["inputRequests"] : {};
    const { forClient, answers } = await answerByPage(ports, exchange, asked);
    upstreamState = typeof result["requestState"] === "string" ? result["requestState"] : undefined;
    const isForUs = Object.keys(forClient).length === 0 && Object.keys(answers).length > 0;
    if (!isForUs) return inputRequired(ports, exchange, forClient, { ...(upstreamState !== undefined && { upstream: upstreamState }), answers });
    if (round === MAX_ROUNDS) throw new ProtocolError(ProtocolErrorCode.InternalError, `The upstream asked ${MAX_ROUNDS} times in a row.`);
    responses = answers;
  }
}

/** Where a person answers forms no client answers in its place: only what the client itself was asked for counts. */
function givenByClient(ports: RoundsPorts, { context, state }: PassedExchange): Record<string, unknown> {
  const given = Object.entries(context.mcpReq.inputResponses ?? {});
  return Object.fromEntries(ports.passage.forms === null ? given : given.filter(([key]) => state.asked?.includes(key) === true));
}

/** Puts the forms that the client cannot answer to the person. Whatever else it cannot answer is left to the SDK to refuse. */
async function answerByPage(
  ports: RoundsPorts,
  exchange: PassedExchange,
  asked: JsonObject,
): Promise<{ forClient: JsonObject; answers: JsonObject }> {
  const forClient: Record<string, JsonObject> = {};
  const answers: Record<string, JsonObject> = {};
  const asks = { upstream: exchange.upstream, caller: exchange.caller, forms: ports.passage.forms, signal: exchange.signal };
  for (const [key, request] of Object.entries(asked)) {
    if (!isJsonObject(request)) continue;
    const question = {
      method: typeof request["method"] === "string" ? request["method"] : "",
      params: isJsonObject(request["params"]) ? request["params"] : {},
    };
    if (answererOf(question, exchange.caller.capabilities, ports.passage.forms).by === "page") answers[key] = await askPage(question.params, asks);
    else forClient[key] = request;
  }
  return { forClient, answers };
}

function inputRequired(ports: RoundsPorts, exchange: PassedExchange, inputRequests: JsonObject, state: RoundState): JsonObject {
  const { grant } = exchange.state;
  const content = { ...state, asked: Object.keys(inputRequests), ...(grant !== undefined && { grant }) } as JsonObject;
  return {
    resultType: "input_required",
    ...(Object.keys(inputRequests).length > 0 && { inputRequests }),
    requestState: ports.seal.seal(PURPOSE, boundTo(exchange), content, STATE_MS),
  };
}

async function startParked(ports: RoundsPorts, exchange: PassedExchange): Promise<Result<JsonObject, string>> {
  const { upstream, caller, request } = exchange;
  let failure: string | null = null;
  const call = ports.parked.start(caller.principal.id, async (side) => {
    const use = { onLog: logsTo(exchange), onQuestion: parkOrRefuse(ports, exchange, side) };
    const options = {
      ...requestOptions(ports, exchange),
      signal: side.signal,
      onProgress: (progress: object) => side.progressed(progress as JsonObject),
    };
    const outcome = await ports.connections.use(upstream, caller, use, async (link) => {
      await adjustLevel(link, exchange);
      return link.request(request, options);
    });
    if (outcome.ok) return outcome.value;
    failure = outcome.error;
    return {};
  });
  if (call === null) return err("Too many calls wait for an answer already. Answer or end one of them.");
  const answer = await followParked(ports, exchange, call);
  return failure === null ? answer : err(failure);
}

function parkOrRefuse(ports: RoundsPorts, { upstream, caller }: PassedExchange, side: ParkedSide) {
  const { forms } = ports.passage;
  return async (question: UpstreamQuestion, withdrawn: AbortSignal): Promise<JsonObject> => {
    if (question.method === "ping") return {};
    const answerer = answererOf(question, caller.capabilities, forms);
    if (answerer.by === "nobody") throw refusalOf(answerer);
    if (answerer.by === "page") return askPage(question.params, { upstream, caller, forms, signal: AbortSignal.any([side.signal, withdrawn]) });
    return side.ask(question, withdrawn);
  };
}

function resume(ports: RoundsPorts, exchange: PassedExchange, id: string): Promise<Result<JsonObject, string>> {
  const call = ports.parked.find(exchange.caller.principal.id, id);
  if (call === null)
    return Promise.resolve(err("The call that waited for this answer is no more: it took too long, or the agent was restarted. Begin it again."));
  call.answer(exchange.context.mcpReq.inputResponses ?? {});
  return followParked(ports, exchange, call);
}

async function followParked(
  ports: RoundsPorts,
  exchange: PassedExchange,
  call: NonNullable<ReturnType<ParkedCalls["find"]>>,
): Promise<Result<JsonObject, string>> {
  call.onProgress = exchange.onProgress;
  try {
    const state = await call.next(exchange.signal);
    if (state.at === "done") return ok(state.result);
    return ok(inputRequired(ports, exchange, modernQuestions(state.questions), { parked: call.id }));
  } catch (error) {
    const urls = requiredUrls(error);
    if (urls === null) throw error;
    return ok(inputRequired(ports, exchange, urls, {}));
  } finally {
    call.onProgress = null;
  }
}

function modernQuestions(questions: Readonly<Record<string, UpstreamQuestion>>): JsonObject {
  return Object.fromEntries(Object.entries(questions).map(([key, { method, params }]) => [key, modernQuestion(method, params)]));
}

/** The id of a URL elicitation went with revision 2026-07-28. */
function modernQuestion(method: string, params: JsonObject): JsonObject {
  const { elicitationId: _id, ...rest } = withoutMeta(params) as Record<string, JsonObject>;
  return { method, params: rest };
}

/** What an upstream of 2025-11-25 says with an error, a modern client is asked for (-32042). */
function requiredUrls(error: unknown): JsonObject | null {
  if (!(error instanceof ProtocolError) || error.code !== URL_REQUIRED || !isJsonObject(error.data)) return null;
  const { elicitations } = error.data;
  if (!Array.isArray(elicitations)) return null;
  const asked = (elicitations as readonly unknown[])
    .filter(isJsonObject)
    .map((params, index) => [`url-${index + 1}`, modernQuestion("elicitation/create", { ...params, mode: "url" })]);
  return asked.length === 0 ? null : Object.fromEntries(asked);
}

/** A legacy upstream is told once for all requests of a connection, and only if its client said so. */
async function adjustLevel(link: UpstreamLink, exchange: PassedExchange): Promise<void> {
  const { logLevel } = exchange.caller;
  if (link.era === "modern" || link.capabilities.logging === undefined || logLevel === null || link.level === logLevel) return;
  link.level = logLevel;
  await link.setLevel(logLevel, { signal: exchange.signal, timeoutMs: 10_000 }).catch(() => undefined); // It logs as it likes, then.
}
