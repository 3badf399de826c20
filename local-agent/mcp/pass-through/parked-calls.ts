/**
 * Requests to legacy upstreams that wait for the answer of a modern client: the client was told what is asked and comes back with a
 * request of its own. Kept in memory; after a restart of the agent they are lost, and the client is told so.
 */
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { isJsonObject, type JsonObject } from "../../../shared/json.ts";
import type { Timers } from "../../../shared/ports.ts";
import type { UpstreamQuestion } from "./upstream-link.ts";

/** One parked request. Somebody waits for it, or its time runs. */
interface ParkedCall {
  readonly id: string;
  /** Rejects as the upstream's request does. `signal` gives the whole call up: its client cancelled. */
  next(signal: AbortSignal): Promise<ParkedState>;
  /** Answers by the names the questions were given. Others are ignored. */
  answer(responses: Readonly<Record<string, unknown>>): void;
  onProgress: ((progress: JsonObject) => void) | null;
}

type ParkedState =
  | { readonly at: "done"; readonly result: JsonObject }
  | { readonly at: "asks"; readonly questions: Readonly<Record<string, UpstreamQuestion>> };

/** The upstream's side. */
export interface ParkedSide {
  /** Aborts when the call was given up or is over. */
  readonly signal: AbortSignal;
  readonly ask: (question: UpstreamQuestion, withdrawn: AbortSignal) => Promise<JsonObject>;
  readonly progressed: (progress: JsonObject) => void;
}

export interface ParkedCalls {
  /** Begins `run`; null when too many wait already. */
  start(principalId: string, run: (side: ParkedSide) => Promise<JsonObject>): ParkedCall | null;
  find(principalId: string, id: string): ParkedCall | null;
  giveUp(isTheirs: (principalId: string) => boolean): void;
}

/** How long a client may take to come back with an answer. */
const LIFE_MS = 30 * 60_000;
const MAX_IN_ALL = 64;
const MAX_OF_ONE = 16;

/** What an upstream asks for at once arrives within this, and is asked at once. */
const TOGETHER_MS = 25;

function others(timers: Timers): Promise<void> {
  return new Promise((resolve) => void timers.after(TOGETHER_MS, resolve));
}

interface Waiting {
  readonly question: UpstreamQuestion;
  readonly settle: (answer: JsonObject) => void;
}

export function createParkedCalls(ports: { readonly timers: Timers; readonly newId: () => string }): ParkedCalls {
  const parked = new Map<string, { readonly principalId: string; readonly call: ParkedCall; readonly giveUp: (why: Error) => void }>();
  return {
    start(principalId, run) {
      const own = [...parked.values()].filter((entry) => entry.principalId === principalId);
      if (parked.size >= MAX_IN_ALL || own.length >= MAX_OF_ONE) return null;
      const id = ports.newId();
      const { call, giveUp } = park(id, ports.timers, run, () => void parked.delete(id));
      parked.set(id, { principalId, call, giveUp });
      return call;
    },
    find(principalId, id) {
      const entry = parked.get(id);
      return entry?.principalId === principalId ? entry.call : null;
    },
    giveUp(isTheirs) {
      for (const entry of parked.values()) if (isTheirs(entry.principalId)) entry.giveUp(new Error("nobody can answer any more"));
    },
  };
}

function park(
  id: string,
  timers: Timers,
  run: (side: ParkedSide) => Promise<JsonObject>,
  forget: () => void,
): { readonly call: ParkedCall; readonly giveUp: (why: Error) => void } {
  const over = new AbortController();
  const waiting = new Map<string, Waiting>();
  let count = 0;
  let changed = Promise.withResolvers<void>();
  let stopTimer: () => void = () => {};
  const giveUp = (why: Error): void => {
    forget();
    stopTimer();
    over.abort(why);
  };
  const side: ParkedSide = {
    signal: over.signal,
    ask: (question, withdrawn) =>
      new Promise((resolve, reject) => {
        const key = `question-${++count}`;
        waiting.set(key, { question, settle: resolve });
        const drop = (): void => {
          waiting.delete(key);
          reject(new ProtocolError(ProtocolErrorCode.InternalError, "The question was given up."));
        };
        for (const signal of [withdrawn, over.signal]) signal.addEventListener("abort", drop, { once: true });
        changed.resolve();
      }),
    progressed: (progress) => call.onProgress?.(progress),
  };
  const outcome = run(side);
  const fate = { isOver: false };
  const end = (): void => {
    fate.isOver = true;
    over.abort(new Error("the call is over"));
  };
  // How it ended is kept for its client as long as a question is: it may have been done.
  const ended = outcome.then(end, end);
  const call: ParkedCall = {
    id,
    onProgress: null,
    async next(signal) {
      stopTimer();
      const cancel = (): void => giveUp(new Error("cancelled by the client"));
      if (signal.aborted) cancel();
      signal.addEventListener("abort", cancel, { once: true });
      try {
        // What was asked may have been withdrawn a moment later.
        while (waiting.size === 0 && !fate.isOver) {
          changed = Promise.withResolvers();
          await Promise.race([ended, changed.promise]);
          if (!fate.isOver) await others(timers);
        }
        if (fate.isOver) {
          forget();
          return { at: "done", result: await outcome };
        }
        stopTimer = timers.after(LIFE_MS, () => giveUp(new Error("its client did not come back with an answer")));
        return { at: "asks", questions: Object.fromEntries([...waiting].map(([key, { question }]) => [key, question])) };
      } finally {
        signal.removeEventListener("abort", cancel);
      }
    },
    answer: (responses) => settle(waiting, responses),
  };
  return { call, giveUp };
}

function settle(waiting: Map<string, Waiting>, responses: Readonly<Record<string, unknown>>): void {
  for (const [key, response] of Object.entries(responses)) {
    const asked = waiting.get(key);
    if (asked === undefined || !isJsonObject(response)) continue;
    waiting.delete(key);
    asked.settle(response);
  }
}
