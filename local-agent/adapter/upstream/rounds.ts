/**
 * Requests that a modern server may answer with questions first (`input_required`, MCP 2026-07-28): the questions are answered and the
 * request is made again with the answers.
 *
 * The SDK's client would do that by itself, but tells its handlers not which request a question belongs to: several callers share a
 * connection, and none may be asked in the place of another.
 */
import {
  isInputRequiredResult,
  SdkError,
  SdkErrorCode,
  type Client,
  type InputRequiredResult,
  type InputResponses,
} from "@modelcontextprotocol/client";
import type { Timers } from "../../../shared/ports.ts";
import type { AskableUse } from "./questions.ts";
import type { RequestLimits, UsedUpstream } from "./upstream-pool.ts";

/** As the SDK's clients have it. */
const MAX_ROUNDS = 10;
/** A server that only wants to be asked again is not asked at once. */
const AGAIN_MS = 250;

interface RoundsPorts {
  /** Whose the requests are. A question that it does not answer ends its request. */
  readonly asked: Pick<AskableUse, "answer">;
  readonly timers: Timers;
}

/** What a request takes along from the round before. */
interface Carried {
  readonly inputResponses?: InputResponses;
  readonly requestState?: string;
}

type Requests = Pick<UsedUpstream, "callTool" | "getPrompt"> & {
  readResource(uri: string, options: RequestLimits & { readonly cacheMode?: "refresh" }): ReturnType<UsedUpstream["readResource"]>;
};

/** The requests of one use. They reject with the SDK's errors, and with `InputRequiredRoundsExceeded` when the server asks without an end. */
export function createRequests(client: Pick<Client, "callTool" | "getPrompt" | "readResource">, ports: RoundsPorts): Requests {
  return {
    callTool: (params, options) =>
      throughRounds((carried) => client.callTool({ ...params, ...carried }, { ...options, allowInputRequired: true }), options, ports),
    getPrompt: (params, options) =>
      throughRounds((carried) => client.getPrompt({ ...params, ...carried }, { ...options, allowInputRequired: true }), options, ports),
    readResource: (uri, options) =>
      throughRounds((carried) => client.readResource({ uri, ...carried }, { ...options, allowInputRequired: true }), options, ports),
  };
}

async function throughRounds<T extends object>(send: (carried: Carried) => Promise<T>, limits: RequestLimits, ports: RoundsPorts): Promise<T> {
  let carried: Carried = {};
  for (let round = 1; ; round++) {
    // The SDK's types leave out what `allowInputRequired` lets through.
    const result: T | InputRequiredResult = await send(carried);
    if (!isInputRequiredResult(result)) return result;
    if (round > MAX_ROUNDS) throw endless();
    // As any progress it begins the request's time anew.
    limits.onprogress?.({ progress: round, message: "The server needs something first" });
    const inputResponses = await answersTo(result, limits.signal, ports);
    const { requestState } = result;
    carried = { ...(inputResponses !== null && { inputResponses }), ...(requestState !== undefined && { requestState }) };
  }
}

/** null: it asks for nothing, only to be asked again. */
async function answersTo({ inputRequests }: InputRequiredResult, signal: AbortSignal, ports: RoundsPorts): Promise<InputResponses | null> {
  const questions: [string, unknown][] = Object.entries(inputRequests ?? {});
  if (questions.length === 0) {
    await moment(ports.timers, signal);
    return null;
  }
  const round = new AbortController();
  const either = AbortSignal.any([signal, round.signal]);
  try {
    const answers = questions.map(async ([key, question]) => [key, await ports.asked.answer(key, question, either)] as const);
    return Object.fromEntries(await Promise.all(answers));
  } finally {
    // Where one cannot be answered the others are for nothing.
    round.abort(new Error("the round is over"));
  }
}

/** Ends early with the request, which then fails by itself. */
async function moment(timers: Timers, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = timers.after(AGAIN_MS, resolve);
  const end = (): void => resolve();
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  await promise;
  stop();
  signal.removeEventListener("abort", end);
}

function endless(): SdkError {
  const message = `The server asked ${MAX_ROUNDS} times in a row and wanted more: the request was given up.`;
  return new SdkError(SdkErrorCode.InputRequiredRoundsExceeded, message, { rounds: MAX_ROUNDS });
}
