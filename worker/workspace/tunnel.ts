/**
 * HTTP exchanges ⇄ frames. The effects of `RelayExchanges`: client streams, sockets and timers; every decision is there.
 * It does not parse MCP (DESIGN D1).
 */
import { decodeData, encodeControl, encodeData, type DataFrame } from "../../shared/wire/codec.ts";
import type { AgentFrame, HeadFrame, Hello, RelayFrame, Welcome } from "../../shared/wire/frames.ts";
import type { ExchangeFailure, NewRequest, Refusal, RelayEffect, RelayExchanges } from "../../shared/wire/relay-exchanges.ts";
import type { Principal } from "../../shared/principal.ts";
import type { Result } from "../../shared/result.ts";
import { packRequest, unpackAnswer } from "../../shared/wire/inline.ts";
import { createUtf8 } from "../../shared/wire/utf8.ts";
import { lastWordsHeader } from "../last-words.ts";

export interface TunnelPorts {
  /** Puts a message on the current socket; dropped when there is none (the machine resends what matters). */
  readonly send: (message: string | Uint8Array<ArrayBuffer>) => void;
  /** Closes the current socket after a protocol error. */
  readonly breakLink: (detail: string) => void;
  /** The answer to a request whose exchange failed before `head`. */
  readonly failedAnswer: (failure: ExchangeFailure, principal: Principal) => Response;
  /** An exchange is over. `whole`: its client's connection took the whole answer. Called once for each. */
  readonly settled: (x: number, whole: boolean) => void;
  readonly now: () => number;
}

interface ClientStream {
  /** Aborts when the edge sees the client's connection reset. */
  readonly signal: AbortSignal;
  readonly respond: (response: Response) => void;
  readonly principal: Principal;
  writer?: WritableStreamDefaultWriter<Uint8Array>;
  /** Everything was handed to the stream; more may not follow. */
  isFinishing: boolean;
}

const UTF8 = createUtf8({ TextDecoder, TextEncoder });
const TICK_MS = 2000;
/** How long a client that does not read may take to accept its last words. */
const FAREWELL_MS = 10_000;
const COMMENT = new TextEncoder().encode(": waiting for the workstation\n\n");

/** The only answer headers that reach a client. */
const ANSWER_HEADERS: ReadonlySet<string> = new Set([
  "content-type",
  "mcp-session-id",
  "allow",
  "cache-control",
  "retry-after",
  "www-authenticate",
  "x-accel-buffering",
]);

export class Tunnel {
  readonly #machine: RelayExchanges;
  readonly #ports: TunnelPorts;
  readonly #streams = new Map<number, ClientStream>();
  #ticker: ReturnType<typeof setInterval> | undefined;

  constructor(machine: RelayExchanges, ports: TunnelPorts) {
    this.#machine = machine;
    this.#ports = ports;
  }

  get epoch(): string {
    return this.#machine.epoch;
  }

  /** Whether a client still waits for the answer of this exchange, or for its rest. */
  isOpen(x: number): boolean {
    return this.#streams.has(x);
  }

  accepts(): boolean {
    return this.#machine.accepts(this.#ports.now());
  }

  /** Resolves with the head of the answer, whose body streams on; an error says that nothing was sent. */
  forward(request: NewRequest, body: Uint8Array, signal: AbortSignal): Result<Promise<Response>, Refusal> {
    const opened = this.#machine.open(request, body, this.#ports.now());
    if (!opened.ok) return opened;
    const { x, effects } = opened.value;
    const { promise, resolve } = Promise.withResolvers<Response>();
    this.#streams.set(x, { signal, respond: resolve, principal: request.principal, isFinishing: false });
    this.#ticker ??= setInterval(() => this.#tick(), TICK_MS);
    this.#perform(effects);
    return { ok: true, value: promise };
  }

  linkUp(hello: Hello, welcome: (held: Welcome["held"]) => void): void {
    const { held, effects } = this.#machine.linkUp(hello, this.#ports.now());
    welcome(held);
    this.#perform(effects);
  }

  linkLost(how: "announced" | "unannounced"): void {
    this.#perform(this.#machine.linkLost(how, this.#ports.now()));
  }

  receive(frame: Extract<AgentFrame, { t: "got" | "head" | "end" }>): void {
    const now = this.#ports.now();
    switch (frame.t) {
      case "got":
        return this.#perform(this.#machine.got(frame.x, now));
      case "head":
        return this.#receiveHead(frame);
      case "end":
        return this.#perform(this.#machine.end(frame.x, frame.seq, frame.whole, now));
    }
  }

  /** [WP24] A whole answer that is all there needs no stream: it is handed to the platform and settled. */
  #receiveHead(frame: HeadFrame): void {
    const now = this.#ports.now();
    const head = this.#machine.head(frame, now);
    const inside = unpackAnswer(frame, UTF8);
    if (inside === undefined || head[0]?.do !== "head") return this.#perform(head);
    const data = inside.data === undefined ? [] : this.#machine.data(frame.x, 1, inside.data, now);
    const end = this.#machine.end(frame.x, inside.endSeq, true, now);
    if (end[0]?.do !== "finish") return this.#perform([...head, ...data, ...end]);
    const stream = this.#streams.get(frame.x);
    if (stream?.signal.aborted === true) return this.#clientGone(frame.x);
    const headers = answerHeaders(frame);
    stream?.respond(new Response(isBodiless(frame.status) ? null : (inside.data ?? null), { status: frame.status, headers }));
    this.#settle(frame.x);
  }

  receiveData(message: ArrayBuffer): void {
    const frame = decodeData(message);
    if (!frame.ok) return this.#ports.breakLink(`data frame: ${frame.error.detail}`);
    this.#perform(this.#onData(frame.value));
  }

  #onData({ x, seq, bytes }: DataFrame): RelayEffect[] {
    return this.#machine.data(x, seq, bytes, this.#ports.now());
  }

  #perform(effects: readonly RelayEffect[]): void {
    const packed = packRequest(effects, UTF8);
    if (packed !== undefined) this.#send(packed);
    else for (const effect of effects) this.#performOne(effect);
  }

  /** Ends itself when nothing is open: a pending timer would keep the object in memory, and setting one per call costs. */
  #tick(): void {
    this.#perform(this.#machine.tick(this.#ports.now()));
    if (this.#machine.size > 0) return;
    clearInterval(this.#ticker ?? null);
    this.#ticker = undefined;
  }

  #performOne(effect: RelayEffect): void {
    switch (effect.do) {
      case "request":
        return this.#send(effect.frame);
      case "request-data":
        return this.#ports.send(encodeData(effect.x, effect.seq, effect.bytes));
      case "ack":
        return this.#send({ t: "ack", x: effect.x, next: effect.next });
      case "cancel":
        return this.#send({ t: "cancel", x: effect.x, why: effect.why });
      case "head":
        return this.#begin(effect.x, effect.head);
      case "write":
        return this.#write(effect.x, effect.seq, effect.bytes);
      case "finish":
        return this.#finish(effect.x);
      case "fail":
        return this.#fail(effect.x, effect.failure);
      case "comment":
        return void this.#streams
          .get(effect.x)
          ?.writer?.write(COMMENT)
          .catch(() => this.#clientGone(effect.x));
      case "break":
        return this.#ports.breakLink(effect.detail);
    }
  }

  #send(frame: RelayFrame): void {
    this.#ports.send(encodeControl(frame));
  }

  #begin(x: number, head: HeadFrame): void {
    const stream = this.#streams.get(x);
    if (stream === undefined) return;
    if (stream.signal.aborted) return this.#clientGone(x);
    stream.signal.addEventListener("abort", () => this.#clientGone(x), { once: true });
    const headers = answerHeaders(head);
    if (isBodiless(head.status)) return stream.respond(new Response(null, { status: head.status, headers }));
    if (head.last !== null) headers.set(...lastWordsHeader(head.last));
    const { readable, writable } = new IdentityTransformStream();
    stream.writer = writable.getWriter();
    stream.writer.closed.catch(() => this.#clientGone(x));
    stream.respond(new Response(readable, { status: head.status, headers }));
  }

  /** `write` settles when the client's connection took the bytes: that is the back-pressure of the whole path. */
  #write(x: number, seq: number, bytes: Uint8Array): void {
    this.#streams
      .get(x)
      ?.writer?.write(bytes)
      .then(
        () => this.#perform(this.#machine.consumed(x, seq, bytes.byteLength, this.#ports.now())),
        () => this.#clientGone(x),
      );
  }

  #finish(x: number): void {
    const stream = this.#streams.get(x);
    if (stream?.writer === undefined) return this.#settle(x);
    stream.isFinishing = true;
    stream.writer.close().then(
      () => this.#settle(x),
      () => this.#clientGone(x),
    );
  }

  #settle(x: number): void {
    if (this.#streams.delete(x)) this.#ports.settled(x, true);
    this.#perform(this.#machine.closed(x));
  }

  #clientGone(x: number): void {
    const stream = this.#streams.get(x);
    if (stream === undefined) return;
    this.#streams.delete(x);
    void stream.writer?.abort().catch(() => undefined);
    this.#perform(this.#machine.clientGone(x));
    this.#ports.settled(x, false);
  }

  #fail(x: number, failure: ExchangeFailure): void {
    const stream = this.#streams.get(x);
    if (stream === undefined) return;
    this.#streams.delete(x);
    this.#ports.settled(x, false);
    if (!failure.afterHead) return stream.respond(this.#ports.failedAnswer(failure, stream.principal));
    if (stream.writer !== undefined) sayLastWords(stream.writer, stream.isFinishing ? null : failure.last);
  }
}

function answerHeaders(head: HeadFrame): Headers {
  return new Headers(head.headers.filter(([name]) => ANSWER_HEADERS.has(name.toLowerCase())));
}

function sayLastWords(writer: WritableStreamDefaultWriter<Uint8Array>, last: string | null): void {
  if (last === null) return void writer.abort(new Error("the answer cannot be finished")).catch(() => undefined);
  const timer = setTimeout(() => void writer.abort().catch(() => undefined), FAREWELL_MS);
  void writer
    .write(new TextEncoder().encode(last))
    .then(() => writer.close())
    .catch(() => undefined)
    .finally(() => clearTimeout(timer));
}

/** Statuses that may not carry a body (Fetch "null body status", and 202, which MCP sends without one). */
function isBodiless(status: number): boolean {
  return status === 202 || status === 204 || status === 205 || status === 304;
}
