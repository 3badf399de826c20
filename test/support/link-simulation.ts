/**
 * One relay, agents one after another, and the sockets between them, as two queues of encoded frames each. It plays the
 * drivers of `RelayExchanges` and `AgentExchanges` and holds the promises of docs/spec/wire.md at every step: an
 * `Error` names the promise that was broken.
 */
import { Buffer } from "node:buffer";
import { AgentExchanges, type AgentEffect } from "../../shared/wire/agent-exchanges.ts";
import { decodeAgentFrame, decodeData, decodeRelayFrame, encodeControl, encodeData } from "../../shared/wire/codec.ts";
import type { AgentFrame, HeadFrame, Hello, RelayFrame } from "../../shared/wire/frames.ts";
import { packAnswer, packRequest, unpackAnswer, unpackRequest } from "../../shared/wire/inline.ts";
import { LIMITS } from "../../shared/wire/limits.ts";
import { createUtf8 } from "../../shared/wire/utf8.ts";
import { RelayExchanges, type ExchangeFailure, type RelayEffect } from "../../shared/wire/relay-exchanges.ts";
import { aHello } from "./wire-frames.ts";

export type Side = "agent" | "relay";
export type Outcome = "whole" | "last words" | "error answer" | "cut" | "client gone" | "agent away" | "refused";

/** What can happen. Indices are taken modulo what is there, so that every list of steps has a meaning. */
export type Step =
  | { readonly do: "open"; readonly bytes: number; readonly isEventStream: boolean }
  | { readonly do: "deliver"; readonly to: Side; readonly count: number }
  /** The network fails: of each queue only the first messages arrive, then the close is seen. */
  | { readonly do: "cut"; readonly keepToAgent: number; readonly keepToRelay: number }
  /** The link is up, then away for so long, then up again. */
  | { readonly do: "outage"; readonly ms: number }
  | { readonly do: "dial" }
  /** Everything under way arrives, on a new socket if there is none. */
  | { readonly do: "sync" }
  /** The agent gives its socket up; the relay learns of it later. */
  | { readonly do: "hang-up" }
  | { readonly do: "damage"; readonly how: "drop" | "duplicate" | "truncate"; readonly to: Side; readonly at: number; readonly by: number }
  | { readonly do: "kill-agent"; readonly keepToRelay: number }
  | { readonly do: "leave" }
  | { readonly do: "crash-relay" }
  | { readonly do: "hibernate" }
  | { readonly do: "read"; readonly client: number; readonly count: number }
  | { readonly do: "client-gone"; readonly client: number }
  | { readonly do: "produce"; readonly handler: number; readonly bytes: number }
  | { readonly do: "end"; readonly handler: number; readonly isWhole: boolean }
  | { readonly do: "wait"; readonly ms: number };

type Message = string | Uint8Array;

/** One direction of a socket. Closed: nothing more goes in, and the receiver sees the close after the last message. */
interface Pipe {
  messages: Message[];
  isClosed: boolean;
}

interface Socket {
  /** Order of acceptance at the relay. */
  readonly serial: number;
  readonly openedAt: number;
  readonly toAgent: Pipe;
  readonly toRelay: Pipe;
  hasHello: boolean;
  /** The relay reads it no longer. */
  isOver: boolean;
}

interface Client {
  readonly key: number;
  readonly x: number;
  readonly body: Uint8Array;
  readonly openedAt: number;
  readonly isEventStream: boolean;
  readonly pending: ({ readonly seq: number; readonly bytes: number } | "comment")[];
  hasHead: boolean;
  last: string | null;
  written: number;
  unread: number;
  isFinishing: boolean;
}

interface Handler {
  readonly key: number;
  readonly x: number;
  readonly isEventStream: boolean;
  hasHead: boolean;
  produced: number;
}

interface Agent {
  readonly instance: string;
  readonly exchanges: AgentExchanges;
  readonly handlers: Map<number, Handler>;
  socket: Socket | null;
  isWelcome: boolean;
}

const STEP_MS = 2_000;
const utf8 = createUtf8({ TextDecoder, TextEncoder });
const NOISE = makeNoise(6 * 1024 * 1024);
/** The same, but never UTF-8: it may not travel inside a frame. */
const BINARY = NOISE.map((byte) => (byte === 10 ? 10 : byte | 0x80));
/** Bytes an answer may have, so that it stays inside the noise. */
const LONGEST_ANSWER = 3 * 1024 * 1024;

export class LinkSimulation {
  readonly outcomes = new Map<number, Outcome>();
  readonly breaks: string[] = [];
  readonly comments: number[] = [];
  now = 1_000_000;
  #relay: RelayExchanges;
  #agent: Agent | null = null;
  #current: Socket | null = null;
  readonly #sockets: Socket[] = [];
  readonly #clients = new Map<number, Client>();
  readonly #runs = new Map<number, number>();
  readonly #answers = new Map<number, { readonly bytes: number; readonly isWhole: boolean }>();
  #keys = 0;
  #lives = 0;
  #instances = 0;
  #serial = 0;
  #newestHello = 0;

  constructor() {
    this.#relay = this.#newRelay();
  }

  /** How often each request was begun, over all instances. */
  get runs(): ReadonlyMap<number, number> {
    return this.#runs;
  }

  // oxlint-disable-next-line complexity -- one line per kind of step
  run(step: Step): void {
    switch (step.do) {
      case "open":
        return this.#open(step.bytes, step.isEventStream);
      case "deliver":
        for (let left = step.count; left > 0; left -= 1) this.#deliver(step.to);
        return;
      case "cut":
        return this.#cut(step.keepToAgent, step.keepToRelay);
      case "outage":
        return this.#outage(step.ms);
      case "dial":
        return this.#dial();
      case "sync":
        return this.#sync();
      case "hang-up":
        return this.#hangUp();
      case "damage":
        return this.#damage(step.how, step.to, step.at, step.by);
      case "kill-agent":
        this.#cut(0, step.keepToRelay);
        this.#agent = null;
        return;
      case "leave":
        return this.#leave();
      case "crash-relay":
        return this.#crashRelay();
      case "hibernate":
        return this.#hibernate();
      case "read":
        return this.#read(pick(this.#clients, step.client), step.count);
      case "client-gone":
        return this.#clientGone(pick(this.#clients, step.client));
      case "produce":
        this.#produce(pick(this.#agent?.handlers, step.handler), step.bytes);
        return;
      case "end":
        return this.#end(pick(this.#agent?.handlers, step.handler), step.isWhole);
      case "wait":
        return this.#wait(step.ms);
    }
  }

  /** The network heals, handlers end, clients read. With `maxRounds` spent, what is still open stays open. */
  settle(maxRounds = 60): void {
    for (let round = 0; round < maxRounds; round += 1) {
      this.#sync();
      for (const handler of this.#agent?.handlers.values() ?? []) {
        // Ends only after some more bytes: an answer that lost its credit for ever would stay open.
        if (this.#produce(handler, 100)) this.#end(handler, true);
      }
      for (const client of this.#clients.values()) this.#read(client, Number.POSITIVE_INFINITY);
      this.#deliverAll();
      if (this.#clients.size === 0 && this.#agent?.isWelcome === true && this.#agent.exchanges.size === 0) return;
    }
  }

  /** A fresh socket: whatever one side believes alone ends with it (WP12). */
  reconnect(): void {
    this.#hangUp();
    this.#sync();
  }

  /** What is still open, held or remembered as open on either side; nothing, when every exchange has ended (WP15). */
  leftovers(): string[] {
    const counts = {
      "clients without an end": this.#clients.size,
      "exchanges at the relay": this.#relay.size,
      "bytes held by the relay": this.#relay.heldBytes,
      "exchanges at the agent": this.#agent?.exchanges.size ?? 0,
      "handlers running": this.#agent?.handlers.size ?? 0,
      "requests without an outcome": this.#keys - this.outcomes.size,
    };
    return Object.entries(counts)
      .filter(([, count]) => count !== 0)
      .map(([what, count]) => `${count} ${what}`);
  }

  // The clients' side of the relay.

  #open(bytes: number, isEventStream: boolean): void {
    const key = ++this.#keys;
    const body = bodyOf(key, bytes);
    if (!this.#relay.accepts(this.now)) return this.#settle(key, "agent away");
    const request = {
      method: "POST" as const,
      path: `/mcp?key=${key}&sse=${isEventStream ? 1 : 0}`,
      headers: [],
      principal: { id: "grant:1", kind: "grant" as const, name: "c", scope: [] },
    };
    const opened = this.#relay.open(request, body, this.now);
    if (!opened.ok) return this.#settle(key, "refused");
    const { x, effects } = opened.value;
    check(!this.#clients.has(x), `number ${x} was given twice`);
    this.#clients.set(x, {
      key,
      x,
      body,
      isEventStream,
      openedAt: this.now,
      pending: [],
      hasHead: false,
      last: null,
      written: 0,
      unread: 0,
      isFinishing: false,
    });
    this.#runRelay(effects);
  }

  #read(client: Client | undefined, count: number): void {
    if (client === undefined) return;
    const { x, pending } = client;
    for (let left = count; left > 0 && pending.length > 0; left -= 1) {
      const item = pending.shift();
      if (item === undefined || item === "comment") continue;
      client.unread -= item.bytes;
      this.#runRelay(this.#relay.consumed(x, item.seq, item.bytes, this.now));
    }
    if (!client.isFinishing || pending.length > 0 || !this.#clients.has(x)) return;
    this.#finishClient(client, "whole");
    this.#runRelay(this.#relay.closed(x));
  }

  #clientGone(client: Client | undefined): void {
    if (client === undefined) return;
    this.#finishClient(client, "client gone");
    this.#runRelay(this.#relay.clientGone(client.x));
  }

  #finishClient(client: Client, outcome: Outcome): void {
    check(this.#clients.delete(client.x), `exchange of request ${client.key} ended twice`);
    check(this.now - client.openedAt <= LIMITS.lifeMs + STEP_MS, `request ${client.key} outlived its deadline`);
    this.#settle(client.key, outcome);
  }

  #settle(key: number, outcome: Outcome): void {
    check(!this.outcomes.has(key), `request ${key} ended twice: ${this.outcomes.get(key)}, then ${outcome}`);
    this.outcomes.set(key, outcome);
  }

  #failClient(client: Client, failure: ExchangeFailure): void {
    check(failure.afterHead === client.hasHead, `request ${client.key}: afterHead is ${failure.afterHead}`);
    if (!failure.afterHead) {
      check(Buffer.compare(failure.body, client.body) === 0, `request ${client.key}: the failure lacks the request's body`);
      if (failure.why === "away") check(!this.#runs.has(client.key), `request ${client.key} was begun, and its client was told that it was not`);
      return this.#finishClient(client, "error answer");
    }
    check(failure.last === client.last, `request ${client.key} ends with other last words`);
    // Nothing can be appended to a stream that was closed: the client sees it cut.
    this.#finishClient(client, client.isFinishing || failure.last === null ? "cut" : "last words");
  }

  // The relay's driver.

  #newRelay(instance?: string): RelayExchanges {
    this.#lives += 1;
    return new RelayExchanges(`epoch-${this.#lives}`, scatter(this.#lives), instance === undefined ? undefined : { at: "up", instance });
  }

  #runRelay(effects: readonly RelayEffect[]): void {
    const packed = packRequest(effects, utf8);
    if (packed !== undefined) return this.#sendToAgent(encodeControl(packed));
    for (const effect of effects) {
      if (effect.do === "break") return this.#breakRelay(effect.detail);
      this.#runRelayEffect(effect);
    }
  }

  #runRelayEffect(effect: Exclude<RelayEffect, { do: "break" }>): void {
    const { x } = effect.do === "request" ? effect.frame : effect;
    switch (effect.do) {
      case "request":
        return this.#sendToAgent(encodeControl(effect.frame));
      case "request-data":
        check(effect.bytes.byteLength <= LIMITS.chunkBytes, "a body piece is too big");
        return this.#sendToAgent(encodeData(x, effect.seq, effect.bytes));
      case "ack":
        return this.#sendToAgent(encodeControl({ t: "ack", x, next: effect.next }));
      case "cancel":
        return this.#sendToAgent(encodeControl({ t: "cancel", x, why: effect.why }));
      case "head":
      case "write":
      case "finish":
      case "comment":
      case "fail":
        return this.#runClientEffect(this.#clientOf(x, effect.do), effect);
    }
  }

  #runClientEffect(client: Client, effect: Extract<RelayEffect, { do: "head" | "write" | "finish" | "comment" | "fail" }>): void {
    switch (effect.do) {
      case "head":
        check(!client.hasHead, `request ${client.key} got a second head`);
        client.hasHead = true;
        client.last = effect.head.last;
        return;
      case "write": {
        const { bytes } = effect;
        check(client.hasHead && !client.isFinishing, `request ${client.key}: data outside its answer`);
        check(
          Buffer.compare(bytes, truth(client.key, client.written, bytes.byteLength)) === 0,
          `request ${client.key}: not the true answer at ${client.written}`,
        );
        client.written += bytes.byteLength;
        client.unread += bytes.byteLength;
        check(client.unread <= LIMITS.windowBytes, `request ${client.key}: ${client.unread} bytes wait for its client`);
        client.pending.push({ seq: effect.seq, bytes: bytes.byteLength });
        return;
      }
      case "finish": {
        const answer = this.#answers.get(client.key);
        check(
          answer?.isWhole === true && answer.bytes === client.written,
          `request ${client.key}: finished with ${client.written} bytes of ${answer?.bytes}`,
        );
        client.isFinishing = true;
        return;
      }
      case "comment":
        check(this.#current === null, "a comment while the link is up");
        check(client.isEventStream && client.hasHead && isEventEnd(client.written), `request ${client.key}: a comment inside an event`);
        client.pending.push("comment");
        this.comments.push(client.key);
        return;
      case "fail":
        return this.#failClient(client, effect.failure);
    }
  }

  #clientOf(x: number, what: string): Client {
    const client = this.#clients.get(x);
    if (client === undefined) throw new Error(`${what} for an exchange that is over`);
    return client;
  }

  #sendToAgent(message: Message): void {
    if (this.#current !== null) send(this.#current.toAgent, message);
  }

  #breakRelay(detail: string): void {
    this.breaks.push(`relay: ${detail}`);
    if (this.#current === null) return;
    this.#dropSocket(this.#current);
    this.#current = null;
    this.#runRelay(this.#relay.linkLost("unannounced", this.now));
  }

  /** The relay closes a socket, or has seen it closed. */
  #dropSocket(socket: Socket): void {
    socket.isOver = true;
    socket.toAgent.isClosed = true;
    this.#sockets.splice(this.#sockets.indexOf(socket), 1);
  }

  #relayReceives(socket: Socket): void {
    const message = socket.toRelay.messages.shift();
    if (message === undefined) return this.#relaySeesClose(socket, "unannounced");
    if (typeof message !== "string") {
      const data = decodeData(message);
      if (!socket.hasHello) return this.#dropSocket(socket);
      if (!data.ok) return this.#breakRelay(data.error.detail);
      return this.#runRelay(this.#relay.data(data.value.x, data.value.seq, data.value.bytes.slice(), this.now));
    }
    const frame = decodeAgentFrame(message);
    if (!socket.hasHello) return frame.ok && frame.value.t === "hello" ? this.#relayGreets(socket, frame.value) : this.#dropSocket(socket);
    if (!frame.ok) return this.#breakRelay(frame.error.detail);
    this.#relayTakes(socket, frame.value);
  }

  #relaySeesClose(socket: Socket, how: "announced" | "unannounced"): void {
    this.#dropSocket(socket);
    if (this.#current !== socket) return;
    this.#current = null;
    this.#runRelay(this.#relay.linkLost(how, this.now));
  }

  #relayGreets(socket: Socket, hello: Hello): void {
    if (socket.serial < this.#newestHello) return this.#dropSocket(socket);
    this.#newestHello = socket.serial;
    socket.hasHello = true;
    if (this.#current !== null) this.#dropSocket(this.#current);
    this.#current = socket;
    const { held, effects } = this.#relay.linkUp(hello, this.now);
    this.#sendToAgent(encodeControl({ t: "welcome", version: 1, epoch: this.#relay.epoch, held }));
    this.#runRelay(effects);
  }

  #relayTakes(socket: Socket, frame: AgentFrame): void {
    switch (frame.t) {
      case "hello":
        return this.#breakRelay("a second hello");
      case "got":
        return this.#runRelay(this.#relay.got(frame.x, this.now));
      case "head":
        this.#runRelay(this.#relay.head(frame, this.now));
        return this.#relayTakesInside(frame);
      case "end":
        return this.#runRelay(this.#relay.end(frame.x, frame.seq, frame.whole, this.now));
      case "bye":
        return this.#relaySeesClose(socket, "announced");
      case "call":
      case "reply":
    }
  }

  #relayTakesInside(frame: HeadFrame): void {
    const inside = unpackAnswer(frame, utf8);
    if (inside?.data !== undefined) this.#runRelay(this.#relay.data(frame.x, 1, inside.data, this.now));
    if (inside !== undefined) this.#runRelay(this.#relay.end(frame.x, inside.endSeq, true, this.now));
  }

  #crashRelay(): void {
    for (const socket of this.#sockets.slice()) {
      socket.toRelay.isClosed = true;
      this.#dropSocket(socket);
    }
    this.#current = null;
    // The Worker in front of the object ends what its clients were reading.
    for (const client of this.#clients.values()) {
      this.#finishClient(client, client.hasHead ? (client.last === null ? "cut" : "last words") : "error answer");
    }
    this.#relay = this.#newRelay();
  }

  /** The object sleeps only when nothing is open; its sockets stay. */
  #hibernate(): void {
    if (this.#relay.size > 0) return;
    const { epoch } = this.#relay;
    this.#lives += 1;
    const instance = this.#current === null ? undefined : this.#instanceOf.get(this.#current);
    this.#relay = new RelayExchanges(epoch, scatter(this.#lives), instance === undefined ? undefined : { at: "up", instance });
  }

  // The agent's driver.

  readonly #instanceOf = new Map<Socket, string>();

  #dial(): void {
    this.#agent ??= {
      instance: `instance-${++this.#instances}`,
      exchanges: new AgentExchanges(),
      handlers: new Map(),
      socket: null,
      isWelcome: false,
    };
    const agent = this.#agent;
    if (agent.socket !== null) return;
    const socket: Socket = { serial: ++this.#serial, openedAt: this.now, toAgent: pipe(), toRelay: pipe(), hasHello: false, isOver: false };
    agent.socket = socket;
    agent.isWelcome = false;
    this.#sockets.push(socket);
    this.#instanceOf.set(socket, agent.instance);
    const { exchanges, instance } = agent;
    send(socket.toRelay, encodeControl({ ...aHello, instance, epoch: exchanges.epoch, begun: exchanges.begun() }));
  }

  #hangUp(): void {
    const agent = this.#agent;
    if (agent === null || agent.socket === null) return;
    agent.socket.toRelay.isClosed = true;
    agent.socket = null;
    agent.exchanges.linkLost();
  }

  #leave(): void {
    if (this.#agent?.socket) send(this.#agent.socket.toRelay, encodeControl({ t: "bye", why: "leaving", message: "", comeBack: false }));
    this.#hangUp();
    this.#agent = null;
  }

  #agentReceives(agent: Agent, socket: Socket): void {
    const message = socket.toAgent.messages.shift();
    if (message === undefined) return this.#hangUp();
    if (typeof message !== "string") {
      const data = decodeData(message);
      if (!agent.isWelcome || !data.ok) return this.#breakAgent(data.ok ? "data before welcome" : data.error.detail);
      return this.#runAgent(agent, agent.exchanges.data(data.value.x, data.value.seq, data.value.bytes));
    }
    const frame = decodeRelayFrame(message);
    if (!frame.ok) return this.#breakAgent(frame.error.detail);
    if (agent.isWelcome === (frame.value.t === "welcome")) return this.#breakAgent(`unexpected ${frame.value.t}`);
    this.#agentTakes(agent, frame.value);
  }

  #agentTakes(agent: Agent, frame: RelayFrame): void {
    const { exchanges } = agent;
    switch (frame.t) {
      case "welcome":
        agent.isWelcome = true;
        return this.#runAgent(agent, exchanges.welcome(frame));
      case "request": {
        this.#runAgent(agent, exchanges.request(frame));
        const body = unpackRequest(frame, utf8);
        return body === undefined ? undefined : this.#runAgent(agent, exchanges.data(frame.x, 0, body));
      }
      case "ack":
        return this.#runAgent(agent, exchanges.ack(frame.x, frame.next));
      case "cancel":
        return this.#runAgent(agent, exchanges.cancel(frame.x, frame.why));
      case "bye":
      case "call":
      case "reply":
    }
  }

  #runAgent(agent: Agent, effects: readonly AgentEffect[]): void {
    const packed = packAnswer(effects, utf8);
    if (packed !== undefined) return this.#sendToRelay(agent, encodeControl(packed));
    for (const effect of effects) {
      if (effect.do === "break") return this.#breakAgent(effect.detail);
      this.#runAgentEffect(agent, effect);
    }
  }

  #runAgentEffect(agent: Agent, effect: Exclude<AgentEffect, { do: "break" }>): void {
    switch (effect.do) {
      case "begin":
        return this.#begin(agent, effect.request.x, effect.request.path, effect.body);
      case "stop":
        agent.handlers.delete(effect.x);
        return;
      case "resume":
        return;
      case "got":
        return this.#sendToRelay(agent, encodeControl({ t: "got", x: effect.x }));
      case "send-head":
        return this.#sendToRelay(agent, encodeControl({ t: "head", x: effect.x, ...effect.head }));
      case "send-data":
        return this.#sendToRelay(agent, encodeData(effect.x, effect.seq, effect.bytes));
      case "send-end":
        return this.#sendToRelay(agent, encodeControl({ t: "end", x: effect.x, seq: effect.seq, whole: effect.whole }));
    }
  }

  #sendToRelay(agent: Agent, message: Message): void {
    check(agent.isWelcome && agent.socket !== null, "the agent sends before the welcome");
    if (agent.socket !== null) send(agent.socket.toRelay, message);
  }

  #breakAgent(detail: string): void {
    this.breaks.push(`agent: ${detail}`);
    this.#hangUp();
  }

  #begin(agent: Agent, x: number, path: string, body: Uint8Array): void {
    const query = new URLSearchParams(path.slice(path.indexOf("?")));
    const key = Number(query.get("key"));
    const runs = (this.#runs.get(key) ?? 0) + 1;
    this.#runs.set(key, runs);
    check(runs === 1, `request ${key} was begun ${runs} times`);
    check(Buffer.compare(body, bodyOf(key, body.byteLength)) === 0, `request ${key} arrived with another body`);
    agent.handlers.set(x, { key, x, isEventStream: query.get("sse") === "1", hasHead: false, produced: 0 });
  }

  /** Whether there was room. */
  #produce(handler: Handler | undefined, bytes: number): boolean {
    const agent = this.#agent;
    if (handler === undefined || agent === null) return false;
    this.#produceHead(agent, handler);
    const size = Math.min(bytes, agent.exchanges.room(handler.x) ?? 0, LIMITS.chunkBytes, LONGEST_ANSWER - handler.produced);
    if (size <= 0) return handler.produced === LONGEST_ANSWER;
    const piece = truth(handler.key, handler.produced, size);
    handler.produced += size;
    this.#runAgent(agent, agent.exchanges.answerData(handler.x, piece));
    return true;
  }

  #produceHead(agent: Agent, handler: Handler): void {
    this.#runAgent(agent, this.#headOf(agent, handler));
  }

  #headOf(agent: Agent, handler: Handler): AgentEffect[] {
    if (handler.hasHead) return [];
    handler.hasHead = true;
    const type = handler.isEventStream ? "text/event-stream" : "application/json";
    const last = handler.isEventStream ? `\n\ndata: last words of ${handler.key}\n\n` : null;
    return agent.exchanges.head(handler.x, { status: 200, headers: [["content-type", type]], last });
  }

  #end(handler: Handler | undefined, isWhole: boolean): void {
    const agent = this.#agent;
    if (handler === undefined || agent === null) return;
    agent.handlers.delete(handler.x);
    const effects = this.#headOf(agent, handler);
    // An answer that is all there at once, some of them empty, goes out as the driver packs it.
    const size = effects.length > 0 ? Math.min(wholeSizeOf(handler.key), agent.exchanges.room(handler.x) ?? 0) : 0;
    if (size > 0) effects.push(...agent.exchanges.answerData(handler.x, truth(handler.key, handler.produced, size)));
    handler.produced += size;
    this.#answers.set(handler.key, { bytes: handler.produced, isWhole });
    this.#runAgent(agent, [...effects, ...agent.exchanges.end(handler.x, isWhole)]);
  }

  // The network and the clock.

  #deliver(to: Side): void {
    if (to === "agent") {
      const socket = this.#agent?.socket;
      if (this.#agent && socket && isReadable(socket.toAgent)) this.#agentReceives(this.#agent, socket);
      return;
    }
    const socket = this.#sockets.find((each) => isReadable(each.toRelay));
    if (socket === undefined) return;
    // WP21: what an older socket still says is lost.
    if (socket.hasHello && socket !== this.#current && socket.toRelay.messages.length > 0) socket.toRelay.messages.shift();
    else this.#relayReceives(socket);
  }

  #deliverAll(): void {
    for (let left = 100_000; left > 0; left -= 1) {
      const toAgent = this.#agent?.socket && isReadable(this.#agent.socket.toAgent);
      const toRelay = this.#sockets.some((socket) => isReadable(socket.toRelay));
      if (!toAgent && !toRelay) return;
      if (toRelay) this.#deliver("relay");
      if (toAgent) this.#deliver("agent");
    }
    throw new Error("the two sides never stop talking");
  }

  #sync(): void {
    this.#deliverAll();
    this.#dial();
    this.#deliverAll();
  }

  #cut(keepToAgent: number, keepToRelay: number): void {
    const socket = this.#agent?.socket;
    if (!socket) return;
    cutPipe(socket.toAgent, keepToAgent);
    cutPipe(socket.toRelay, keepToRelay);
  }

  #outage(ms: number): void {
    this.#sync();
    this.#cut(0, 0);
    this.#deliverAll();
    this.#wait(ms);
    this.#sync();
  }

  #damage(how: "drop" | "duplicate" | "truncate", to: Side, at: number, by: number): void {
    const socket = this.#agent?.socket;
    if (!socket) return;
    const { messages } = to === "agent" ? socket.toAgent : socket.toRelay;
    const index = messages.length === 0 ? -1 : at % messages.length;
    const message = messages[index];
    if (message === undefined) return;
    if (how === "drop") messages.splice(index, 1);
    else if (how === "duplicate") messages.splice(Math.min(messages.length, index + 1 + by), 0, message);
    else messages[index] = truncated(message, to, by);
  }

  #wait(ms: number): void {
    const until = this.now + ms;
    while (this.now < until) {
      this.now = Math.min(until, this.now + STEP_MS);
      this.#runRelay(this.#relay.tick(this.now));
      for (const socket of this.#sockets.slice()) if (!socket.hasHello && this.now - socket.openedAt >= LIMITS.helloMs) this.#dropSocket(socket);
      if (this.#agent?.socket && !this.#agent.isWelcome && this.now - this.#agent.socket.openedAt >= LIMITS.helloMs) this.#hangUp();
    }
  }
}

function send(pipe: Pipe, message: Message): void {
  if (!pipe.isClosed) pipe.messages.push(message);
}

function pipe(): Pipe {
  return { messages: [], isClosed: false };
}

function isReadable(pipe: Pipe): boolean {
  return pipe.isClosed || pipe.messages.length > 0;
}

function cutPipe(pipe: Pipe, keep: number): void {
  pipe.messages = pipe.messages.slice(0, keep);
  pipe.isClosed = true;
}

/**
 * A WebSocket delivers a message whole or not at all. So a shortened one stands for a broken peer, and the payload of an
 * answer, which carries no checksum, is not shortened unseen.
 */
function truncated(message: Message, to: Side, by: number): Message {
  if (typeof message === "string") return message.slice(0, by % message.length);
  return message.slice(0, to === "relay" ? by % 9 : by % message.byteLength);
}

function pick<T>(from: ReadonlyMap<number, T> | undefined, index: number): T | undefined {
  return from === undefined || from.size === 0 ? undefined : [...from.values()][index % from.size];
}

function check(holds: boolean, broken: string): void {
  if (!holds) throw new Error(broken);
}

/** Numbers far apart, near the wrap-around too. */
function scatter(life: number): number {
  return (0xffff_fff0 + life * 0x9e37_79b1) % 0x1_0000_0000;
}

/** A true answer, byte by byte: every 16 bytes an event ends. */
function truth(key: number, from: number, bytes: number): Uint8Array {
  const at = (key % 1000) * 16 + from;
  return (key % 2 === 0 ? NOISE : BINARY).subarray(at, at + bytes);
}

/** How much an answer says that is there at once: nothing, little, or more than fits a frame; text (even keys) or not. */
function wholeSizeOf(key: number): number {
  return [0, 48, 4000, 20_000][(key >> 1) % 4] ?? 0;
}

function isEventEnd(written: number): boolean {
  return written > 0 && written % 16 === 0;
}

function bodyOf(key: number, bytes: number): Uint8Array {
  return truth(key + 500, 3, bytes);
}

function makeNoise(bytes: number): Uint8Array {
  const noise = new Uint8Array(bytes);
  let state = 0x2545_f491;
  for (let at = 0; at < bytes; at += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    noise[at] = at % 16 >= 14 ? 10 : 32 + ((state >>> 24) % 90);
  }
  return noise;
}
