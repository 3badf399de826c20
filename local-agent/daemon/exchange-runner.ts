/**
 * Runs exchanges for the link: begins them, streams their answers into numbered frames within the window, and stops them.
 * Every decision about delivery is in `AgentExchanges`; this is its effects.
 */
import type { ReadableStreamReadResult } from "node:stream/web";
import { readRpcMessage, RPC, rpcError } from "../../shared/jsonrpc.ts";
import type { Log } from "../../shared/ports.ts";
import { AgentExchanges, type AgentEffect, type AnswerHead } from "../../shared/wire/agent-exchanges.ts";
import { encodeControl, encodeData, split } from "../../shared/wire/codec.ts";
import type { AgentFrame, RequestFrame } from "../../shared/wire/frames.ts";
import { packAnswer, unpackRequest } from "../../shared/wire/inline.ts";
import { LIMITS } from "../../shared/wire/limits.ts";
import { createUtf8 } from "../../shared/wire/utf8.ts";
import type { ExchangeAnswer, ExchangeHandler } from "../mcp/exchange.ts";

export interface ExchangeRunnerPorts {
  readonly handler: ExchangeHandler;
  /** Puts a message on the socket if one is open. What is dropped here is sent again after the next welcome. */
  readonly send: (message: string | Uint8Array) => void;
  /** Ends the socket after a protocol error of the relay. */
  readonly breakLink: (detail: string) => void;
  readonly log: Log;
}

interface Running {
  /** Over for good. */
  readonly over: AbortController;
  /** The client is gone: the work may go on, its answer has no reader. */
  readonly gone: AbortController;
  wake: () => void;
  hasHead: boolean;
}

export class ExchangeRunner {
  readonly machine = new AgentExchanges();
  readonly #ports: ExchangeRunnerPorts;
  readonly #running = new Map<number, Running>();

  constructor(ports: ExchangeRunnerPorts) {
    this.#ports = ports;
  }

  perform(effects: readonly AgentEffect[]): void {
    for (const effect of effects) this.#performOne(effect);
  }

  /** [WP24] A request whose body may be inside. */
  receive(frame: RequestFrame): void {
    this.perform(this.machine.request(frame));
    const body = unpackRequest(frame, utf8);
    if (body !== undefined) this.perform(this.machine.data(frame.x, 0, body));
  }

  /** Ends everything: the agent is leaving. */
  stopAll(reason: string): void {
    for (const running of this.#running.values()) running.over.abort(new Error(reason));
  }

  #performOne(effect: AgentEffect): void {
    switch (effect.do) {
      case "got":
        return this.#gotSoon(effect.x);
      case "begin":
        return void this.#run(effect.request, effect.body);
      case "send-head":
        return this.#send({ t: "head", x: effect.x, ...effect.head });
      case "send-data":
        return this.#ports.send(encodeData(effect.x, effect.seq, effect.bytes));
      case "send-end":
        return this.#send({ t: "end", x: effect.x, seq: effect.seq, whole: effect.whole });
      case "stop":
        return this.#stop(effect.x, effect.why);
      case "resume":
        return this.#running.get(effect.x)?.wake();
      case "break":
        return this.#ports.breakLink(effect.detail);
    }
  }

  #send(frame: AgentFrame): void {
    this.#ports.send(encodeControl(frame));
  }

  /** A head says the same and more, so `got` is worth a message only when the head takes its time. */
  #gotSoon(x: number): void {
    const timer = setTimeout(() => {
      const running = this.#running.get(x);
      if (running?.hasHead === false) this.#send({ t: "got", x });
    }, GOT_AFTER_MS);
    timer.unref();
  }

  #stop(x: number, why: string): void {
    const running = this.#running.get(x);
    if (running === undefined) return;
    if (why === "client_gone") running.gone.abort(new Error("the client closed its connection"));
    else running.over.abort(new Error(STOP_TEXT[why] ?? "the exchange is over"));
    running.wake();
  }

  async #run(frame: RequestFrame, body: Uint8Array): Promise<void> {
    const { x } = frame;
    const running: Running = { over: new AbortController(), gone: new AbortController(), wake: () => undefined, hasHead: false };
    this.#running.set(x, running);
    try {
      const answer = await this.#ports.handler(toRequest(frame, body), {
        principal: frame.principal,
        x,
        signal: running.over.signal,
        gone: running.gone.signal,
      });
      await this.#stream(x, answer, running);
    } catch (error) {
      this.#ports.log.event("error", "exchange.failed", { x, error: error instanceof Error ? error.name : "unknown" });
      this.#sendWhole(x, { status: 500, headers: [["content-type", "application/json"]], last: null }, failureBody(body));
    } finally {
      this.#running.delete(x);
    }
  }

  async #stream(x: number, answer: ExchangeAnswer, running: Running): Promise<void> {
    const { response } = answer;
    const head = { status: response.status, headers: [...response.headers], last: answer.lastWords };
    const reader = response.body?.getReader();
    running.hasHead = true;
    if (reader === undefined) return this.#sendWhole(x, head, NO_BYTES);
    const cancel = () => void reader.cancel().catch(() => undefined);
    running.over.signal.addEventListener("abort", cancel, { once: true });
    const opening = await readOpening(reader);
    if (opening.isWhole && !running.over.signal.aborted) this.#sendWhole(x, head, opening.bytes);
    else {
      this.perform(this.machine.head(x, head));
      const isWhole = await this.#pump(x, opening, reader, running);
      this.perform(this.machine.end(x, isWhole && !running.over.signal.aborted));
    }
    running.over.signal.removeEventListener("abort", cancel);
  }

  /** [WP24] A whole small answer as one message. It is numbered and kept like any other. */
  #sendWhole(x: number, head: AnswerHead, bytes: Uint8Array): void {
    const effects = [...this.machine.head(x, head), ...(bytes.byteLength > 0 ? this.machine.answerData(x, bytes) : []), ...this.machine.end(x, true)];
    const packed = packAnswer(effects, utf8);
    if (packed === undefined) this.perform(effects);
    else this.#send(packed);
  }

  /** When nobody reads any more the rest is drained, so that work that outlives its client is not held up by its output. */
  async #pump(x: number, opening: Opening, reader: ReadableStreamDefaultReader<Uint8Array>, running: Running): Promise<boolean> {
    try {
      await this.#sendPieces(x, opening.bytes, running);
      for (let next = await opening.next; !next.done; next = await reader.read()) await this.#sendPieces(x, next.value, running);
      return true;
    } catch (error) {
      this.#ports.log.event("error", "answer.broken", { x, error: error instanceof Error ? error.name : "unknown" });
      return false;
    }
  }

  async #sendPieces(x: number, bytes: Uint8Array, running: Running): Promise<void> {
    for (const piece of split(bytes, LIMITS.chunkBytes)) {
      if (await this.#roomFor(x, piece.byteLength, running)) this.perform(this.machine.answerData(x, piece));
    }
  }

  /** Waits for credit; false when the exchange is over. Bounded by the relay's deadline for the exchange. */
  async #roomFor(x: number, bytes: number, running: Running): Promise<boolean> {
    for (;;) {
      const room = this.machine.room(x);
      if (room === undefined) return false;
      if (room >= bytes) return true;
      await new Promise<void>((resolve) => {
        running.wake = resolve;
      });
    }
  }
}

/** A defect of ours, with the caller's id: a client waits for its answer by that. */
function failureBody(request: Uint8Array): Uint8Array {
  const message = readRpcMessage(utf8.decode(request) ?? "");
  const id = message.kind === "request" ? message.id : null;
  return utf8.encode(rpcError(id, RPC.internalError, "The agent failed at this request. It may have run in part; the agent's log has the error."));
}

/** What an answer's body has to say at once: within one turn of the event loop, and small. */
interface Opening {
  readonly bytes: Uint8Array;
  readonly isWhole: boolean;
  /** The read that was still open when the turn ended. */
  readonly next: Promise<ReadableStreamReadResult<Uint8Array>>;
}

async function readOpening(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Opening> {
  const turn = new Promise<"over">((resolve) => setImmediate(resolve, "over"));
  const pieces: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const next = reader.read();
    next.catch(() => undefined); // Reported by whoever reads on.
    const first = size <= LIMITS.inlineBytes ? await Promise.race([next, turn]).catch(() => "over" as const) : "over";
    if (first === "over" || first.done) return { bytes: Buffer.concat(pieces), isWhole: first !== "over", next };
    pieces.push(first.value);
    size += first.value.byteLength;
  }
}

const utf8 = createUtf8({ TextDecoder, TextEncoder });
const NO_BYTES = new Uint8Array(0);
const GOT_AFTER_MS = 20;

const STOP_TEXT: Readonly<Record<string, string>> = {
  deadline: "the relay's deadline for this request passed",
  forgotten: "the relay no longer holds this request",
};

/** The host is never resolved; handlers see the path the client used. */
function toRequest(frame: RequestFrame, body: Uint8Array): Request {
  const init: RequestInit = { method: frame.method, headers: frame.headers };
  return new Request(`http://agent.invalid${frame.path}`, body.byteLength === 0 ? init : { ...init, body });
}
