/**
 * The agent's side of every exchange, as pure decisions: what to begin, send, send again and drop.
 *
 * Invariants: a request is begun at most once per instance (WP10); every answer frame is numbered and kept until the
 * relay acknowledged it (WP7); what the relay does not name in its welcome is over (WP12).
 */
import * as v from "valibot";
import { HeadFrame, type CancelWhy, type Hello, type RequestFrame, type Welcome } from "./frames.ts";
import { LIMITS } from "./limits.ts";

export interface AnswerHead {
  readonly status: number;
  readonly headers: [string, string][];
  readonly last: string | null;
}

export type AgentEffect =
  | { readonly do: "got"; readonly x: number }
  /** Run it. Reported exactly once per exchange. */
  | { readonly do: "begin"; readonly request: RequestFrame; readonly body: Uint8Array }
  | { readonly do: "send-head"; readonly x: number; readonly head: AnswerHead }
  | { readonly do: "send-data"; readonly x: number; readonly seq: number; readonly bytes: Uint8Array }
  | { readonly do: "send-end"; readonly x: number; readonly seq: number; readonly whole: boolean }
  /** Over: stop the work. Nothing more of it is delivered. */
  | { readonly do: "stop"; readonly x: number; readonly why: CancelWhy | "forgotten" }
  /** `room(x)` grew. */
  | { readonly do: "resume"; readonly x: number }
  /** The peer broke the protocol: this socket must go. */
  | { readonly do: "break"; readonly detail: string };

type Frame =
  | { readonly kind: "head"; readonly seq: 0; readonly head: AnswerHead }
  | { readonly kind: "data"; readonly seq: number; readonly bytes: Uint8Array }
  | { readonly kind: "end"; readonly seq: number; readonly whole: boolean };

interface Receiving {
  readonly request: RequestFrame;
  readonly body: Uint8Array;
  received: number;
  next: number;
}

interface Begun {
  readonly x: number;
  /** Sent or waiting to be sent, and not acknowledged; oldest first. */
  readonly kept: Frame[];
  next: number;
  keptBytes: number;
}

/** The relay would end the socket for it, and the agent would send it again on the next one. */
const UNSENDABLE: AnswerHead = { status: 500, headers: [["content-type", "text/plain"]], last: null };

/** Numbers of exchanges that are over, so that a repeated request frame cannot begin one again. */
const REMEMBERED = 4096;

export class AgentExchanges {
  readonly #receiving = new Map<number, Receiving>();
  readonly #begun = new Map<number, Begun>();
  readonly #over = new Set<number>();
  #epoch: string | null = null;
  #isWelcome = false;

  get epoch(): string | null {
    return this.#epoch;
  }

  get size(): number {
    return this.#begun.size;
  }

  /** What `hello` says this instance still holds. */
  begun(): Hello["begun"] {
    return [...this.#begun.values()].map(({ x, next }) => ({ x, next }));
  }

  /** [WP12] Resumes each exchange where the relay says; the others are over. */
  welcome(welcome: Pick<Welcome, "epoch" | "held">): AgentEffect[] {
    const isSameEpoch = welcome.epoch === this.#epoch;
    const wanted = new Map(isSameEpoch ? welcome.held.map(({ x, next }) => [x, next]) : []);
    this.#epoch = welcome.epoch;
    this.#isWelcome = true;
    this.#receiving.clear();
    const effects = [...this.#begun.values()].flatMap((exchange) => {
      const next = wanted.get(exchange.x);
      return next === undefined ? this.#stop(exchange.x, "forgotten") : resend(exchange, next);
    });
    // Numbers of another epoch say nothing about this one's.
    if (!isSameEpoch) this.#over.clear();
    return effects;
  }

  /**
   * The socket is gone: half-received requests were never begun and will be sent again in full. Until the next welcome
   * says where each answer goes on, its frames are kept and not sent.
   */
  linkLost(): void {
    this.#isWelcome = false;
    this.#receiving.clear();
  }

  request(request: RequestFrame): AgentEffect[] {
    const { x, bytes } = request;
    if (!this.#isWelcome || this.#over.has(x) || this.#receiving.has(x)) return [];
    if (this.#begun.has(x)) return [{ do: "got", x }];
    if (this.#begun.size + this.#receiving.size >= 2 * LIMITS.exchanges)
      return [{ do: "break", detail: `more than ${2 * LIMITS.exchanges} exchanges` }];
    const receiving: Receiving = { request, body: new Uint8Array(bytes), received: 0, next: 0 };
    this.#receiving.set(x, receiving);
    return bytes === 0 ? this.#begin(receiving) : [];
  }

  /** A piece of a request's body. */
  data(x: number, seq: number, bytes: Uint8Array): AgentEffect[] {
    const receiving = this.#receiving.get(x);
    if (receiving === undefined || seq < receiving.next) return [];
    if (seq > receiving.next || receiving.received + bytes.byteLength > receiving.body.byteLength) {
      return [{ do: "break", detail: `exchange ${x}: expected body frame ${receiving.next}, got ${seq}, or too many bytes` }];
    }
    receiving.body.set(bytes, receiving.received);
    receiving.received += bytes.byteLength;
    receiving.next += 1;
    return receiving.received === receiving.body.byteLength ? this.#begin(receiving) : [];
  }

  /** [WP7] The client has everything below `next`. Past `end` the exchange is settled. */
  ack(x: number, next: number): AgentEffect[] {
    const exchange = this.#begun.get(x);
    if (exchange === undefined) return [];
    if (next > exchange.next) return [{ do: "break", detail: `exchange ${x}: frame ${exchange.next} is the next, ${next} cannot be acknowledged` }];
    const last = exchange.kept.at(-1);
    release(exchange, next);
    if (last?.kind === "end" && next > last.seq) {
      this.#forget(x);
      return [];
    }
    return [{ do: "resume", x }];
  }

  cancel(x: number, why: CancelWhy): AgentEffect[] {
    if (this.#begun.has(x)) return this.#stop(x, why);
    if (this.#receiving.delete(x)) this.#remember(x);
    return [];
  }

  /** Bytes that may be produced now; 0 means wait for `resume`. `undefined`: the exchange is over. */
  room(x: number): number | undefined {
    const exchange = this.#begun.get(x);
    return exchange === undefined ? undefined : Math.max(0, LIMITS.windowBytes - exchange.keptBytes);
  }

  /** A head that no frame can carry becomes one that can: without its last words, or else a bare 500. */
  head(x: number, head: AnswerHead): AgentEffect[] {
    const sendable = [head, { ...head, last: null }].find((each) => v.is(HeadFrame, { t: "head", x, ...each })) ?? UNSENDABLE;
    return this.#answer(x, () => ({ kind: "head", seq: 0, head: sendable }));
  }

  /** At most `room(x)` and `LIMITS.chunkBytes` bytes, at least one. The bytes are kept: hand over a copy nobody changes. */
  answerData(x: number, bytes: Uint8Array): AgentEffect[] {
    return this.#answer(x, (seq) => ({ kind: "data", seq, bytes }));
  }

  end(x: number, whole: boolean): AgentEffect[] {
    return this.#answer(x, (seq) => ({ kind: "end", seq, whole }));
  }

  #answer(x: number, make: (seq: number) => Frame): AgentEffect[] {
    const exchange = this.#begun.get(x);
    if (exchange === undefined || exchange.kept.at(-1)?.kind === "end") return [];
    const frame = make(exchange.next);
    exchange.next += 1;
    exchange.kept.push(frame);
    if (frame.kind === "data") exchange.keptBytes += frame.bytes.byteLength;
    return this.#isWelcome ? [toEffect(x, frame)] : [];
  }

  #begin({ request, body }: Receiving): AgentEffect[] {
    const { x } = request;
    this.#receiving.delete(x);
    this.#begun.set(x, { x, kept: [], next: 0, keptBytes: 0 });
    return [
      { do: "got", x },
      { do: "begin", request, body },
    ];
  }

  #stop(x: number, why: CancelWhy | "forgotten"): AgentEffect[] {
    this.#forget(x);
    return [{ do: "stop", x, why }];
  }

  #forget(x: number): void {
    this.#begun.delete(x);
    this.#remember(x);
  }

  #remember(x: number): void {
    this.#over.add(x);
    const oldest = this.#over.values().next();
    if (this.#over.size > REMEMBERED && oldest.done !== true) this.#over.delete(oldest.value);
  }
}

/**
 * What lies below `next` has arrived but may not be consumed: it is not sent again, and still counts against the window
 * until the relay acknowledges it (WP7).
 */
function resend({ x, kept }: Begun, next: number): AgentEffect[] {
  return [...kept.filter((frame) => frame.seq >= next).map((frame) => toEffect(x, frame)), { do: "resume", x }];
}

function release(exchange: Begun, next: number): void {
  const keepFrom = exchange.kept.findIndex((frame) => frame.seq >= next);
  for (const frame of exchange.kept.splice(0, keepFrom === -1 ? exchange.kept.length : keepFrom)) {
    if (frame.kind === "data") exchange.keptBytes -= frame.bytes.byteLength;
  }
}

function toEffect(x: number, frame: Frame): AgentEffect {
  switch (frame.kind) {
    case "head":
      return { do: "send-head", x, head: frame.head };
    case "data":
      return { do: "send-data", x, seq: frame.seq, bytes: frame.bytes };
    case "end":
      return { do: "send-end", x, seq: frame.seq, whole: frame.whole };
  }
}
