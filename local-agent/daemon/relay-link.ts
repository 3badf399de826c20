/**
 * The agent's link to the relay: dials, says hello, stays, redials. Exchanges outlive its sockets (DESIGN D3).
 * States and numbers: docs/spec/wire.md.
 */
import * as v from "valibot";
import {
  DecisionOutcome,
  GrantList,
  RevocationOutcome,
  type AuthorizationDecision,
  type Grant,
  type PendingAuthorization,
  type Revocation,
} from "../../shared/authorization.ts";
import type { LinkState } from "../../shared/desk.ts";
import type { Clock, Log, Timers } from "../../shared/ports.ts";
import { encodeControl } from "../../shared/wire/codec.ts";
import { AGENT_CALLS, type AgentFrame, type Deposits, type RelayFrame, type Welcome } from "../../shared/wire/frames.ts";
import { PROTOCOL } from "../../shared/wire/version.ts";
import type { ExchangeHandler } from "../mcp/exchange.ts";
import { ExchangeRunner } from "./exchange-runner.ts";
import { redialAfterMs } from "./link-timing.ts";
import { createRelayCalls, type RelayCalls } from "./relay-calls.ts";
import type { RelayHumanStore } from "./relay-human-store.ts";
import { lost, refused, RelaySocket, type SocketEnd } from "./relay-socket.ts";

export interface RelayLinkOptions {
  /** Where the workspace lies: the relay's origin, `https://…` or `http://127.0.0.1:…`, with the prefix of a named one. */
  readonly relayUrl: string;
  readonly agentKey: string;
  /** Stable per machine and workspace. */
  readonly host: string;
  readonly hostName: string;
  /** New at every start. */
  readonly instance: string;
  readonly takeOver: boolean;
  readonly handler: ExchangeHandler;
  /** Asked at every dial. */
  readonly deposits: () => Deposits | Promise<Deposits>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: () => number;
  readonly log: Log;
  readonly onState: (state: LinkState) => void;
  readonly onPending: (pending: readonly PendingAuthorization[]) => void;
  readonly onGrantsChanged: () => void;
  /** Is told of every welcome and every loss; absent without `--human`. */
  readonly human?: RelayHumanStore | undefined;
}

export interface RelayLink {
  /** Rejects after 20 s, or when there is no link. */
  decide(decision: AuthorizationDecision): Promise<DecisionOutcome>;
  /** The cards that are up, by the relay's own clock. Rejects as `decide` does. */
  pending(): Promise<readonly PendingAuthorization[]>;
  /** What is granted now. Rejects as `decide` does. */
  grants(): Promise<readonly Grant[]>;
  /** Ends grants at once. Rejects as `decide` does; whether they ended is then not known. */
  revoke(which: Revocation): Promise<RevocationOutcome>;
  /** Replaces the static tokens the relay knows. Rejects as `decide` does, and with the relay's words when it is too old for that. */
  setStaticTokens(staticTokens: Deposits["staticTokens"]): Promise<void>;
  /** Resolves at the first welcome. */
  readonly opened: Promise<void>;
  /** Resolves when the link ends for good by the relay's will: replaced, refused, wrong key. */
  readonly retired: Promise<{ readonly reason: string; readonly message: string }>;
  /** Says bye, ends every exchange, closes. Resolves within two seconds. */
  close(): Promise<void>;
}

const FLUSH_MS = 1000;
const STEADY_MS = 10_000;

export function createRelayLink(options: RelayLinkOptions): RelayLink {
  const link = new Link(options);
  link.dial();
  return link;
}

class Link implements RelayLink {
  readonly #options: RelayLinkOptions;
  readonly #runner: ExchangeRunner;
  readonly #calls: RelayCalls;
  readonly #opened = Promise.withResolvers<void>();
  readonly #retired = Promise.withResolvers<{ reason: string; message: string }>();
  #socket: RelaySocket | undefined;
  /** Frames count only after the welcome (WP12). */
  #isWelcomed = false;
  #attempt = 0;
  /** Of the latest welcome; undefined before the first. */
  #openedAt: number | undefined;
  #isClosed = false;
  #cancelRedial: () => void = () => undefined;

  constructor(options: RelayLinkOptions) {
    this.#options = options;
    this.#runner = new ExchangeRunner({
      handler: options.handler,
      log: options.log,
      send: (message) => {
        if (this.#isWelcomed) this.#socket?.send(message);
      },
      breakLink: (detail) => this.#socket?.end(lost("bad_frame", detail)),
    });
    const { timers, onPending, onGrantsChanged, human } = options;
    this.#calls = createRelayCalls({
      timers,
      onPending,
      onGrantsChanged,
      human,
      send: (call) => {
        if (this.#isWelcomed) this.#socket?.send(encodeControl(call));
        return this.#isWelcomed;
      },
    });
  }

  get opened(): Promise<void> {
    return this.#opened.promise;
  }

  get retired(): Promise<{ reason: string; message: string }> {
    return this.#retired.promise;
  }

  dial(): void {
    if (this.#isClosed) return;
    const { clock, timers, agentKey, relayUrl } = this.#options;
    this.#state({ at: "connecting", since: clock.now() });
    const agentUrl = new URL(`${relayUrl}/agent`);
    agentUrl.protocol = agentUrl.protocol === "https:" ? "wss:" : "ws:";
    const socket: RelaySocket = new RelaySocket(
      { agentUrl, agentKey, clock, timers },
      {
        opened: () => void this.#hello(socket),
        frame: (frame) => this.#onFrame(frame, socket),
        data: ({ x, seq, bytes }) => this.#runner.perform(this.#isWelcomed ? this.#runner.machine.data(x, seq, bytes) : []),
        ended: (end) => this.#ended(end, socket),
        isBusy: () => this.#runner.machine.size > 0,
      },
    );
    this.#socket = socket;
  }

  async decide(decision: AuthorizationDecision): Promise<DecisionOutcome> {
    return v.parse(DecisionOutcome, await this.#calls.ask("authorization.decide", decision));
  }

  async pending(): Promise<readonly PendingAuthorization[]> {
    return v.parse(AGENT_CALLS["authorization.list"].result, await this.#calls.ask("authorization.list", {})).pending;
  }

  async grants(): Promise<readonly Grant[]> {
    return v.parse(GrantList, await this.#calls.ask("grants.list", {})).grants;
  }

  async revoke(which: Revocation): Promise<RevocationOutcome> {
    return v.parse(RevocationOutcome, await this.#calls.ask("grants.revoke", which));
  }

  async setStaticTokens(staticTokens: Deposits["staticTokens"]): Promise<void> {
    await this.#calls.ask("tokens.set", { staticTokens });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelRedial();
    this.#runner.stopAll("the agent is stopping");
    const farewell: AgentFrame = { t: "bye", why: "leaving", message: "The agent was stopped.", comeBack: false };
    await this.#socket?.leave(encodeControl(farewell), FLUSH_MS);
    this.#state({ at: "retired", since: this.#options.clock.now(), reason: "stopped" });
  }

  async #hello(socket: RelaySocket): Promise<void> {
    const { instance, host, hostName, takeOver, log } = this.#options;
    try {
      const deposits = await this.#options.deposits();
      const { machine } = this.#runner;
      const hello: AgentFrame = {
        t: "hello",
        versions: PROTOCOL,
        instance,
        host,
        hostName,
        takeOver,
        epoch: machine.epoch,
        begun: machine.begun(),
        deposits,
      };
      socket.send(encodeControl(hello));
    } catch (error) {
      log.event("error", "hello.failed", { error: error instanceof Error ? error.message : "unknown" });
      socket.end(lost("hello", "The agent could not describe itself to the relay."));
    }
  }

  #onFrame(frame: RelayFrame, socket: RelaySocket): void {
    if (frame.t === "welcome") return this.#welcome(frame);
    if (frame.t === "bye") return socket.end(frame.comeBack ? lost(frame.why, frame.message) : refused(frame.why, frame.message));
    if (!this.#isWelcomed) return;
    const { machine } = this.#runner;
    switch (frame.t) {
      case "request":
        return this.#runner.receive(frame);
      case "ack":
        return this.#runner.perform(machine.ack(frame.x, frame.next));
      case "cancel":
        return this.#runner.perform(machine.cancel(frame.x, frame.why));
      case "call":
        return this.#socket?.send(encodeControl(this.#calls.called(frame)));
      case "reply":
        return this.#calls.replied(frame);
    }
  }

  /** [WP12] A second welcome of one socket would name fewer exchanges than there are: ignored. */
  #welcome(welcome: Welcome): void {
    if (this.#isWelcomed) return;
    this.#isWelcomed = true;
    this.#openedAt = this.#options.clock.now();
    this.#options.log.event("info", "link.opened", { version: welcome.version, held: welcome.held.length });
    this.#runner.perform(this.#runner.machine.welcome(welcome));
    this.#state({ at: "open", since: this.#options.clock.now() });
    this.#opened.resolve();
    this.#options.human?.welcomed(this.#calls);
  }

  #ended(end: SocketEnd, socket: RelaySocket): void {
    if (socket !== this.#socket) return;
    this.#socket = undefined;
    // A link that falls right after its welcome is not dialled again at full speed for ever.
    if (this.#isWelcomed && this.#options.clock.now() - (this.#openedAt ?? 0) >= STEADY_MS) this.#attempt = 0;
    this.#isWelcomed = false;
    this.#runner.machine.linkLost();
    this.#calls.linkLost();
    this.#options.human?.linkLost();
    if (this.#isClosed) return;
    this.#options.log.event("warn", "link.lost", { reason: end.reason, kind: end.kind });
    if (end.kind === "refused" || (end.kind === "foreign" && this.#openedAt === undefined)) this.#retire(end);
    else this.#redial(end);
  }

  #retire(end: SocketEnd): void {
    this.#isClosed = true;
    this.#runner.stopAll(end.message);
    this.#options.onPending([]);
    this.#state({ at: "retired", since: this.#options.clock.now(), reason: end.message });
    this.#retired.resolve({ reason: end.reason, message: end.message });
  }

  #redial(end: SocketEnd): void {
    const { clock, timers, random } = this.#options;
    const delayMs = redialAfterMs(this.#attempt, random());
    this.#attempt += 1;
    const now = clock.now();
    this.#state({ at: "waiting", since: now, retryAt: now + delayMs, reason: end.message });
    this.#cancelRedial = timers.after(delayMs, () => this.dial());
  }

  #state(state: LinkState): void {
    this.#options.onState(state);
  }
}
