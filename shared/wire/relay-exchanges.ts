/**
 * The relay's side of every open exchange, as pure decisions: methods take what happened and return what to do.
 * Owns numbering, delivery, resume, deadlines and the moment an exchange is over. Knows no socket, stream or clock.
 *
 * Invariants: a request put on a socket of one instance is never delivered to another (WP11); an answer is passed on
 * in order, each frame once (WP13); every exchange ends exactly once, whole or with a failure (WP15).
 */
import * as v from "valibot";
import { err, ok, type Result } from "../result.ts";
import { split } from "./codec.ts";
import { RequestFrame, type CancelWhy, type HeadFrame, type Hello, type Welcome } from "./frames.ts";
import { LIMITS } from "./limits.ts";

/** Why an answer cannot be finished. With `away` nothing was run; with every other it may have been. */
export type FailureWhy = "away" | "agent_restarted" | "agent_lost" | "deadline" | "broken_answer";

export interface ExchangeFailure {
  readonly why: FailureWhy;
  /** False: nothing was passed to the client yet, so a whole answer can be made. True: `last` is all that can be said. */
  readonly afterHead: boolean;
  readonly last: string | null;
  /** The request's body, for the caller's id; empty after `head`. */
  readonly body: Uint8Array;
}

export type RelayEffect =
  | { readonly do: "request"; readonly frame: RequestFrame }
  | { readonly do: "request-data"; readonly x: number; readonly seq: number; readonly bytes: Uint8Array }
  | { readonly do: "ack"; readonly x: number; readonly next: number }
  | { readonly do: "cancel"; readonly x: number; readonly why: CancelWhy }
  | { readonly do: "head"; readonly x: number; readonly head: HeadFrame }
  /** Report back with `consumed` when the client's connection took the bytes. */
  | { readonly do: "write"; readonly x: number; readonly seq: number; readonly bytes: Uint8Array }
  /** Report back with `closed` when the client's connection took everything. */
  | { readonly do: "finish"; readonly x: number }
  /** The exchange is over and forgotten. */
  | { readonly do: "fail"; readonly x: number; readonly failure: ExchangeFailure }
  /** Keep the client's stream alive: a comment fits, because a whole event was written last. */
  | { readonly do: "comment"; readonly x: number }
  /** The peer broke the protocol: this socket must go; what is open resumes on the next one. */
  | { readonly do: "break"; readonly detail: string };

/** `not_a_frame`: path, headers or body exceed what a request frame may carry; it will never be taken. */
export type Refusal = "too_many" | "too_much_held" | "not_a_frame";
export type NewRequest = Omit<RequestFrame, "t" | "x" | "bytes" | "body">;

type Phase =
  /** Never put on any socket. */
  | { readonly at: "waiting" }
  /** Put on a socket of `instance`: it alone may run it. */
  | { readonly at: "sent"; readonly instance: string }
  | { readonly at: "begun"; readonly instance: string }
  | { readonly at: "answering"; readonly instance: string; readonly last: string | null }
  /** `end` arrived, the client is still reading. */
  | { readonly at: "ending"; readonly instance: string; readonly last: string | null };

interface Exchange {
  readonly x: number;
  readonly request: NewRequest;
  readonly openedAt: number;
  phase: Phase;
  body: Uint8Array;
  activeAt: number;
  writtenAt: number;
  /** Number of the next answer frame expected. */
  next: number;
  consumed: number;
  acked: number;
  ackDebtBytes: number;
  unconsumedBytes: number;
  isEventStream: boolean;
  endsEvent: boolean;
}

export type LinkView = { readonly at: "none" } | { readonly at: "lost"; readonly since: number } | { readonly at: "up"; readonly instance: string };

/** Acknowledge at the latest after so much; a small answer is acknowledged once, when it settles. */
const ACK_BYTES = LIMITS.windowBytes / 8;
const ACK_FRAMES = 32;
const NEWLINE = 10;
const NO_BYTES = new Uint8Array(0);

export class RelayExchanges {
  readonly epoch: string;
  readonly #open = new Map<number, Exchange>();
  #lastX: number;
  #heldBytes = 0;
  #link: LinkView = { at: "none" };

  /**
   * @param epoch names this life of the object; an agent's list of begun exchanges counts only within it
   * @param lastX random, so that the numbers of two lives do not meet
   * @param link the agent whose socket outlived hibernation; or since when it is lost, because the object died under it
   */
  constructor(epoch: string, lastX: number, link: LinkView = { at: "none" }) {
    this.epoch = epoch;
    this.#lastX = lastX;
    this.#link = link;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Bytes of request bodies held now, for answers that have no head yet. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Whether a new request is sent now or may wait for the link; else the caller answers for the absent agent (WP14). */
  accepts(now: number): boolean {
    return this.#link.at === "up" || (this.#link.at === "lost" && now - this.#link.since < LIMITS.holdMs);
  }

  /** [WP4] Takes a request, or refuses it when a bound is reached. */
  open(request: NewRequest, body: Uint8Array, now: number): Result<{ x: number; effects: RelayEffect[] }, Refusal> {
    if (this.#open.size >= LIMITS.exchanges || this.#openOf(request.principal.id) >= LIMITS.perPrincipal) return err("too_many");
    if (this.#heldBytes + body.byteLength > LIMITS.heldBytes) return err("too_much_held");
    const exchange = newExchange(this.#takeNumber(), request, body, now);
    // The agent would end the socket for it, and get it again on the next one.
    if (!v.is(RequestFrame, toFrame(exchange))) return err("not_a_frame");
    this.#open.set(exchange.x, exchange);
    this.#heldBytes += body.byteLength;
    return ok({ x: exchange.x, effects: this.#link.at === "up" ? deliver(exchange, this.#link.instance) : [] });
  }

  /** [WP10] [WP11] [WP12] An agent said hello: what resumes, is sent again, or is lost. `held` goes out before the effects. */
  linkUp(hello: Pick<Hello, "instance" | "epoch" | "begun">, now: number): { held: Welcome["held"]; effects: RelayEffect[] } {
    this.#link = { at: "up", instance: hello.instance };
    const begun = new Set(hello.epoch === this.epoch ? hello.begun.map((entry) => entry.x) : []);
    const held: Welcome["held"] = [];
    const effects: RelayEffect[] = [];
    for (const exchange of this.#open.values()) {
      const decision = resume(exchange.phase, hello.instance, begun.has(exchange.x));
      exchange.activeAt = now;
      if (decision === "deliver") effects.push(...deliver(exchange, hello.instance));
      else if (decision === "continue") {
        held.push({ x: exchange.x, next: exchange.next });
        // An acknowledgement lost with the old socket would leave the agent without credit for ever.
        if (exchange.consumed > 0) effects.push(acknowledge(exchange));
      } else if (decision !== "keep") effects.push(this.#fail(exchange, decision));
    }
    return { held, effects };
  }

  /** [WP14] The socket is gone. Announced: nobody comes back for it, so everything open is over at once. */
  linkLost(how: "announced" | "unannounced", now: number): RelayEffect[] {
    if (how === "unannounced") {
      // A close that follows `bye`, or comes twice, is no new loss: it must not start the wait of WP14 again.
      if (this.#link.at !== "up") return [];
      this.#link = { at: "lost", since: now };
      for (const exchange of this.#open.values()) exchange.activeAt = now;
      return [];
    }
    this.#link = { at: "none" };
    return [...this.#open.values()]
      .filter((exchange) => exchange.phase.at !== "ending")
      .map((exchange) => this.#fail(exchange, exchange.phase.at === "waiting" ? "away" : "agent_lost"));
  }

  /** The whole body is at the agent and the request was begun there. The body is kept until `head`, for its id. */
  got(x: number, now: number): RelayEffect[] {
    const exchange = this.#open.get(x);
    if (exchange === undefined) return [];
    exchange.activeAt = now;
    if (exchange.phase.at === "sent") exchange.phase = { at: "begun", instance: exchange.phase.instance };
    return [];
  }

  head(head: HeadFrame, now: number): RelayEffect[] {
    return this.#inOrder(head.x, 0, now, (exchange, instance) => {
      exchange.phase = { at: "answering", instance, last: head.last };
      exchange.isEventStream = head.headers.some(([name, value]) => name === "content-type" && value.startsWith("text/event-stream"));
      exchange.consumed = 1;
      this.#dropBody(exchange);
      return [{ do: "head", x: head.x, head }];
    });
  }

  data(x: number, seq: number, bytes: Uint8Array, now: number): RelayEffect[] {
    return this.#inOrder(x, seq, now, (exchange) => {
      if (exchange.phase.at !== "answering") return [{ do: "break", detail: `data of exchange ${x} outside an answer` }];
      if (exchange.unconsumedBytes + bytes.byteLength > LIMITS.windowBytes) return [{ do: "break", detail: `exchange ${x} overran its window` }];
      exchange.unconsumedBytes += bytes.byteLength;
      exchange.endsEvent = endsWithBlankLine(bytes);
      exchange.writtenAt = now;
      return [{ do: "write", x, seq, bytes }];
    });
  }

  end(x: number, seq: number, whole: boolean, now: number): RelayEffect[] {
    return this.#inOrder(x, seq, now, (exchange, instance) => {
      if (exchange.phase.at !== "answering") return [{ do: "break", detail: `end of exchange ${x} outside an answer` }];
      if (!whole) return [{ do: "ack", x, next: seq + 1 }, this.#fail(exchange, "broken_answer")];
      exchange.phase = { at: "ending", instance, last: exchange.phase.last };
      return [{ do: "finish", x }];
    });
  }

  /** The client's connection took answer frame `seq` of `bytes` bytes. Acknowledged in lots (WP7). */
  consumed(x: number, seq: number, bytes: number, now: number): RelayEffect[] {
    const exchange = this.#open.get(x);
    if (exchange === undefined) return [];
    exchange.activeAt = now;
    exchange.consumed = Math.max(exchange.consumed, seq + 1);
    exchange.unconsumedBytes -= bytes;
    exchange.ackDebtBytes += bytes;
    if (exchange.phase.at === "ending") return [];
    if (exchange.ackDebtBytes < ACK_BYTES && exchange.consumed - exchange.acked < ACK_FRAMES) return [];
    return [acknowledge(exchange)];
  }

  /** [WP8] The client has everything: only now is the exchange settled. */
  closed(x: number): RelayEffect[] {
    const exchange = this.#open.get(x);
    if (exchange === undefined) return [];
    this.#forget(exchange);
    return [{ do: "ack", x, next: exchange.next }];
  }

  /** [WP16] The client's connection is closed, seen by a failed write or an aborted request. */
  clientGone(x: number): RelayEffect[] {
    const exchange = this.#open.get(x);
    if (exchange === undefined) return [];
    this.#forget(exchange);
    return exchange.phase.at === "waiting" ? [] : [{ do: "cancel", x, why: "client_gone" }];
  }

  /** [WP17] Deadlines and comments. Call every second or two while `size > 0`. */
  tick(now: number): RelayEffect[] {
    return [...this.#open.values()].flatMap((exchange) => this.#checkDeadlines(exchange, now));
  }

  #checkDeadlines(exchange: Exchange, now: number): RelayEffect[] {
    const { x, phase } = exchange;
    const isUp = this.#link.at === "up";
    if (phase.at === "waiting") return now - exchange.openedAt >= LIMITS.holdMs ? [this.#fail(exchange, "away")] : [];
    if (now - exchange.openedAt >= LIMITS.lifeMs || now - exchange.activeAt >= LIMITS.silenceMs) {
      const failed = this.#fail(exchange, isUp ? "deadline" : "agent_lost");
      return isUp ? [failed, { do: "cancel", x, why: "deadline" }] : [failed];
    }
    if (isUp || phase.at !== "answering" || !exchange.isEventStream || !exchange.endsEvent) return [];
    if (now - exchange.writtenAt < LIMITS.commentMs) return [];
    exchange.writtenAt = now;
    return [{ do: "comment", x }];
  }

  /** Each answer frame once and in order: an old number is a repeat, a number ahead means that something was lost. */
  #inOrder(x: number, seq: number, now: number, take: (exchange: Exchange, instance: string) => RelayEffect[]): RelayEffect[] {
    const exchange = this.#open.get(x);
    if (exchange === undefined || seq < exchange.next) return [];
    if (exchange.phase.at === "waiting" || seq > exchange.next) {
      return [{ do: "break", detail: `exchange ${x}: expected answer frame ${exchange.next}, got ${seq}` }];
    }
    const effects = take(exchange, exchange.phase.instance);
    // A frame that broke the protocol was not taken: counting it would leave a hole in the answer.
    if (effects[0]?.do === "break") return effects;
    exchange.next = seq + 1;
    exchange.activeAt = now;
    return effects;
  }

  #fail(exchange: Exchange, why: FailureWhy): RelayEffect {
    const { x, phase, body } = exchange;
    this.#forget(exchange);
    const afterHead = phase.at === "answering" || phase.at === "ending";
    return { do: "fail", x, failure: { why, afterHead, last: afterHead ? phase.last : null, body } };
  }

  #forget(exchange: Exchange): void {
    this.#open.delete(exchange.x);
    this.#heldBytes -= exchange.body.byteLength;
  }

  #dropBody(exchange: Exchange): void {
    this.#heldBytes -= exchange.body.byteLength;
    exchange.body = NO_BYTES;
  }

  #openOf(principalId: string): number {
    let count = 0;
    for (const exchange of this.#open.values()) if (exchange.request.principal.id === principalId) count += 1;
    return count;
  }

  #takeNumber(): number {
    do this.#lastX = this.#lastX >= 0xffff_ffff ? 1 : this.#lastX + 1;
    while (this.#open.has(this.#lastX));
    return this.#lastX;
  }
}

/** After a reconnect the agent's own list of begun exchanges decides, never what the relay heard of it (WP10). */
function resume(phase: Phase, instance: string, isListed: boolean): "deliver" | "continue" | "keep" | FailureWhy {
  if (phase.at === "waiting") return "deliver";
  if (phase.at === "ending") return isListed ? "continue" : "keep";
  if (phase.instance !== instance) return "agent_restarted";
  if (isListed) return "continue";
  return phase.at === "sent" ? "deliver" : "agent_lost";
}

function deliver(exchange: Exchange, instance: string): RelayEffect[] {
  const { x, body } = exchange;
  exchange.phase = { at: "sent", instance };
  const effects: RelayEffect[] = [{ do: "request", frame: toFrame(exchange) }];
  let seq = 0;
  for (const bytes of split(body)) effects.push({ do: "request-data", x, seq: seq++, bytes });
  return effects;
}

function toFrame({ x, request, body }: Exchange): RequestFrame {
  return { t: "request", x, bytes: body.byteLength, ...request };
}

function acknowledge(exchange: Exchange): RelayEffect {
  exchange.acked = exchange.consumed;
  exchange.ackDebtBytes = 0;
  return { do: "ack", x: exchange.x, next: exchange.acked };
}

function newExchange(x: number, request: NewRequest, body: Uint8Array, now: number): Exchange {
  return {
    x,
    request,
    body,
    openedAt: now,
    activeAt: now,
    writtenAt: now,
    phase: { at: "waiting" },
    next: 0,
    consumed: 0,
    acked: 0,
    ackDebtBytes: 0,
    unconsumedBytes: 0,
    isEventStream: false,
    endsEvent: false,
  };
}

/** A comment inside an event that was cut in two would destroy the event. */
function endsWithBlankLine(bytes: Uint8Array): boolean {
  return bytes.at(-1) === NEWLINE && bytes.at(-2) === NEWLINE;
}
