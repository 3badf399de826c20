/** Questions to one tool host process and their answers. When the process ends, every open question is answered with that. */
import type { ChildProcess } from "node:child_process";
import type { Timers } from "../../shared/ports.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type { ToolDescriptor } from "../../shared/tool.ts";
import type { FromHost, ToHost } from "./host-protocol.ts";
import { endProcessTree } from "./process-marker.ts";

const MAX_STDERR_CHARS = 2_000;
/** Messages sent just before the end are still in the channel when the exit is seen. */
const LAST_MESSAGES_MS = 500;

export interface HostReady {
  readonly tools: readonly ToolDescriptor[];
  /** Real path. */
  readonly root: string;
  /** Real places closed to writing that the root contains or lies in. */
  readonly writeClosed: readonly string[];
  readonly warnings: readonly string[];
}

export interface HostEnd {
  /** For people: "it was killed (SIGKILL)". */
  readonly reason: string;
  /** The settings cannot be used; `reason` is then a sentence of its own. */
  readonly unusable: boolean;
}

/** What answers a question: a `prepare` gets either, an `execute` gets a `result`. */
type HostAnswer = Extract<FromHost, { t: "prepared" | "result" }>;

interface Question<T> {
  readonly ask: (id: number) => ToHost;
  readonly answer: (message: HostAnswer) => T;
  /** The answer when the process ends first; `reason` is a clause for people. */
  readonly lost: (reason: string) => T;
  readonly onProgress?: (delta: string) => void;
}

export interface HostChannel {
  readonly ready: Promise<Result<HostReady, HostEnd>>;
  readonly ended: Promise<HostEnd>;
  readonly send: (message: ToHost) => void;
  /** Never rejects. */
  readonly ask: <T>(question: Question<T>) => Promise<T>;
  readonly kill: () => void;
}

interface Waiting {
  readonly settle: (answer: HostAnswer) => void;
  readonly lost: (reason: string) => void;
  readonly onProgress: ((delta: string) => void) | undefined;
}

/** What the process said about itself. */
interface Said {
  fault: string | undefined;
  unusable: boolean;
}

/** A host that is not ready within `readyMs` is killed. */
export function openHostChannel(child: ChildProcess, readyMs: number, timers: Timers): HostChannel {
  const waiting = new Map<number, Waiting>();
  const ready = Promise.withResolvers<Result<HostReady, HostEnd>>();
  const said: Said = { fault: undefined, unusable: false };
  const kill = (): void => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) endProcessTree(child.pid);
  };
  const cancelReady = timers.after(readyMs, () => {
    said.fault ??= `it was not ready within ${readyMs / 1_000} s`;
    kill();
  });
  void ready.promise.then(cancelReady);
  child.on("message", (message) => {
    if (!settle(message as FromHost, waiting, said, ready.resolve)) kill();
  });
  const ended = whenEnded(child, timers, said).then((end) => {
    ready.resolve(err(end));
    for (const question of waiting.values()) question.lost(end.reason);
    waiting.clear();
    return end;
  });
  const send = (message: ToHost): void => {
    // A failed send is followed by the end of the process, which answers every question.
    if (child.connected) child.send(message, () => {});
  };
  return { ready: ready.promise, ended, send, kill, ask: asker(waiting, send, ended) };
}

/** Takes one message. False when the host cannot go on. */
function settle(message: FromHost, waiting: Map<number, Waiting>, said: Said, ready: (result: Result<HostReady, HostEnd>) => void): boolean {
  switch (message.t) {
    case "ready":
      ready(ok(message));
      return true;
    case "unusable":
      said.unusable = true;
      said.fault = message.reason;
      return false;
    case "fault":
      said.fault ??= message.message;
      return true;
    case "progress":
      waiting.get(message.id)?.onProgress?.(message.delta);
      return true;
    case "prepared":
    case "result": {
      const question = waiting.get(message.id);
      waiting.delete(message.id);
      question?.settle(message);
      return true;
    }
  }
}

function asker(waiting: Map<number, Waiting>, send: (message: ToHost) => void, ended: Promise<HostEnd>): HostChannel["ask"] {
  let over: HostEnd | undefined;
  let lastId = 0;
  void ended.then((end) => (over = end));
  return (question) => {
    if (over !== undefined) return Promise.resolve(question.lost(over.reason));
    lastId += 1;
    const id = lastId;
    return new Promise((resolve) => {
      waiting.set(id, {
        settle: (answer) => resolve(question.answer(answer)),
        lost: (reason) => resolve(question.lost(reason)),
        onProgress: question.onProgress,
      });
      send(question.ask(id));
    });
  };
}

/** How the process ended, once its last messages have been read. */
function whenEnded(child: ChildProcess, timers: Timers, said: Said): Promise<HostEnd> {
  const stderr = tailOf(child);
  return new Promise((resolve) => {
    const end = (how: string): void => {
      const tail = stderr();
      resolve({ reason: said.fault ?? (tail === "" ? how : `${how}: ${tail}`), unusable: said.unusable });
    };
    child.once("error", (error) => end(`it could not be started: ${error.message}`));
    child.once("exit", (code, signal) => {
      const how = signal === null ? `it exited with code ${code}` : `it was killed by ${signal}`;
      if (!child.connected) return end(how);
      const cancel = timers.after(LAST_MESSAGES_MS, () => end(how));
      child.once("disconnect", () => {
        cancel();
        end(how);
      });
    });
  });
}

function tailOf(child: ChildProcess): () => string {
  let tail = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    tail = (tail + text).slice(-MAX_STDERR_CHARS);
  });
  return () => tail.trim();
}
