/**
 * One configured server over time: connected or not, being connected to, failed; what it offers. Its transitions happen here and nowhere
 * else; what is due as time passes is decided in lifecycle.ts.
 *
 * Invariants: at most one connect runs; a connection that works stays in its place until a newer one works.
 */
import { err, ok, type Result } from "../../../shared/result.ts";
import type { Freshness, HeldCatalog, UpstreamCatalog } from "../catalog/upstream-catalog.ts";
import type { ServerDefinition } from "../config/server-definition.ts";
import type { AdapterPorts, Caller } from "../ports.ts";
import { backoffFailure, cancelledFailure, connectFailure, remembered, untrustedFailure, type RememberedFailure } from "./connect-failure.ts";
import { backoffUntil, CALL_BACKOFF_MS, type WatchedServer } from "./lifecycle.ts";
import { createKeptOffer, type KeptOffer } from "./kept-offer.ts";
import type { LivePorts, LiveUpstream } from "./live-upstream.ts";
import type { Era } from "./negotiation.ts";
import { createServerEvents } from "./server-events.ts";
import { trustSubject } from "./trust.ts";
import { untilAborted } from "./until-aborted.ts";
import type { ConnectFailure, PoolEvent, UpstreamState, UseOptions } from "./upstream-pool.ts";

export type SlotPorts = LivePorts & Pick<AdapterPorts, "trust" | "sha256">;

interface SlotContext {
  readonly ports: SlotPorts;
  readonly elicitation: boolean;
  readonly sampling: boolean;
  readonly knownEra: () => Era | undefined;
  readonly learnEra: (era: Era) => void;
  readonly freshness: (catalog: UpstreamCatalog) => Freshness;
  readonly emit: (event: PoolEvent) => void;
  /** Keeps what was listed for the next run. */
  readonly store: (catalog: UpstreamCatalog) => void;
}

interface Connecting {
  readonly done: Promise<Result<LiveUpstream, ConnectFailure>>;
  readonly abort: AbortController;
}

export class ServerSlot {
  readonly definition: ServerDefinition;
  readonly #context: SlotContext;
  readonly #offer: KeptOffer;
  #live: LiveUpstream | null = null;
  #connecting: Connecting | null = null;
  #failure: RememberedFailure | null = null;
  #wasConnected = false;
  #parked = false;
  #closed = false;
  #holds = 0;
  /** When the last of them ended. */
  #releasedAt = 0;
  readonly #retired = new Set<LiveUpstream>();

  constructor(definition: ServerDefinition, context: SlotContext, stored: UpstreamCatalog | null) {
    this.definition = definition;
    this.#context = context;
    const { clock, sha256 } = context.ports;
    this.#offer = createKeptOffer({
      stored,
      clock,
      sha256,
      store: context.store,
      onNew: (catalog) => context.emit({ t: "catalog", server: definition.name, held: { catalog, freshness: "live" } }),
    });
  }

  state(): UpstreamState {
    const live = this.#live;
    if (live !== null) {
      const doubtful = live.isDoubtful() ? { unanswered: true as const } : {};
      const changed = live.changedResources();
      const resources = changed === null ? {} : { changedResources: changed };
      return { at: "connected", facts: live.facts, since: live.since, listening: live.listening(), ...doubtful, ...resources };
    }
    if (this.#connecting !== null) return { at: "connecting" };
    const trust = this.#trust();
    if (trust !== "allowed") return { at: "untrusted", denied: trust === "denied" };
    const failure = this.#failure;
    if (failure === null) return { at: "idle" };
    const { at: failedAt, cause } = failure;
    return failure.needsAuth ? { at: "needs-auth", failedAt, cause } : { at: "failed", failedAt, retryAt: failedAt + CALL_BACKOFF_MS, cause };
  }

  held(): HeldCatalog | null {
    const catalog = this.#offer.catalog();
    return catalog === null ? null : { catalog, freshness: this.#live === null ? this.#context.freshness(catalog) : "live" };
  }

  isConnecting(): boolean {
    return this.#connecting !== null;
  }

  /** Whether it may be connected to without asking anybody. */
  mayStart(): boolean {
    return this.#trust() === "allowed";
  }

  watched(): WatchedServer {
    const { lifecycle, idleTimeoutMs } = this.definition;
    return {
      lifecycle,
      idleTimeoutMs,
      connection: this.#live !== null ? "connected" : this.#connecting !== null ? "connecting" : "none",
      wasConnected: this.#wasConnected,
      parked: this.#parked,
      inFlight: this.#live?.inFlight() ?? 0,
      lastUsedAt: this.#holds > 0 ? this.#context.ports.clock.now() : Math.max(this.#live?.lastUsedAt() ?? 0, this.#releasedAt),
      failedAt: this.#failure?.at ?? null,
      failures: this.#failure?.count ?? 0,
    };
  }

  /** [UP59] Somebody counts as a user of it, calls or not; the returned function ends that once. */
  hold(): () => void {
    let held = true;
    this.#holds++;
    return () => {
      if (!held) return;
      held = false;
      this.#holds--;
      this.#releasedAt = this.#context.ports.clock.now();
    };
  }

  /** The connection, made now if there is none. A waiter that leaves does not end the connect for the others. */
  async ensure(options: UseOptions): Promise<Result<LiveUpstream, ConnectFailure>> {
    const refused = await this.#admission(options);
    if (refused !== null) return err(refused);
    return this.#live === null ? this.#join(options.caller, options.signal) : ok(this.#live);
  }

  /** Connects or lists anew. `replace`: the present connection stays until the new one works. */
  async connect(options: UseOptions & { readonly replace?: boolean }): Promise<Result<UpstreamCatalog, ConnectFailure>> {
    const { name } = this.definition;
    const standing = this.#live;
    if (standing !== null && options.replace !== true) {
      try {
        return ok(await untilAborted(standing.refresh(), options.signal));
      } catch (error) {
        if (options.signal.aborted) return err(cancelledFailure(name));
        if (!(await this.recovers(standing, error)) && this.#live === standing) {
          return err(connectFailure(name, { kind: "failed", message: `its lists could not be read again: ${messageOf(error)}` }));
        }
      }
    }
    const refused = this.#live === null ? await this.#admission(options) : null;
    if (refused !== null) return err(refused);
    const joined = await this.#join(options.caller, options.signal);
    return joined.ok ? ok(joined.value.catalog()) : joined;
  }

  /** Connects for nobody: at the start, or because the server is kept alive. */
  async connectUnasked(): Promise<void> {
    if (this.#live === null && !this.#closed && this.mayStart()) await this.#connection(null).done;
  }

  /**
   * After a failed request: whether it may be made again over a new connection, because the server refused it before it ran. The
   * present connection is given up then.
   */
  async recovers(live: LiveUpstream, error: unknown): Promise<boolean> {
    const { ports } = this.#context;
    const lost = live.isLostSession(error);
    if (!lost && !(live.evidenceOf(error) === "unauthorized" && (await this.#renewed()))) return false;
    ports.log.event("info", "upstream.session-lost", { server: this.definition.name, lost });
    this.#giveUp(live);
    return true;
  }

  /** Sees that a connected server still answers, and what it offers now. Rejects never; a slow answer is an answer. */
  async check(): Promise<void> {
    const live = this.#live;
    if (live === null) return this.connectUnasked();
    try {
      await live.refresh();
    } catch (error) {
      if (this.#closed || this.#parked || live.inFlight() > 0) return;
      if (this.#live !== live || (await this.recovers(live, error))) await this.connectUnasked();
      else if (live.evidenceOf(error) === "silent" && this.#live === live) await this.#connection(null).done;
    }
  }

  /** Ends the connection; it is left alone until somebody uses it. */
  async disconnect(why: "idle" | "asked"): Promise<void> {
    this.#parked = why === "asked";
    this.#connecting?.abort.abort(new Error("disconnected"));
    const live = this.#live;
    this.#live = null;
    this.#changed();
    if (live === null) return;
    this.#retired.add(live);
    await live.close();
  }

  async close(): Promise<void> {
    this.#closed = true;
    const connecting = this.#connecting;
    connecting?.abort.abort(new Error("the adapter is closed"));
    const live = this.#live;
    this.#live = null;
    await Promise.all([connecting?.done, live?.close(), ...[...this.#retired].map((each) => each.close())]);
  }

  async #renewed(): Promise<boolean> {
    return this.#context.ports.transports.renewCredentials(this.definition).catch(() => false);
  }

  #trust(): "allowed" | "denied" | "unasked" {
    const subject = trustSubject(this.definition);
    return subject === null ? "allowed" : this.#context.ports.trust.known(subject);
  }

  /** Why this use may not connect; null: it may, or need not. */
  async #admission(options: UseOptions): Promise<ConnectFailure | null> {
    const { name } = this.definition;
    if (this.#closed || options.signal.aborted) return cancelledFailure(name);
    if (this.#live !== null) return null;
    const subject = trustSubject(this.definition);
    if (subject !== null && this.#trust() !== "allowed") {
      const allowed = this.#trust() === "unasked" && (await this.#context.ports.trust.ask(subject, options.signal));
      // A person takes time: the adapter may have been closed meanwhile.
      if (this.#closed || options.signal.aborted) return cancelledFailure(name);
      if (!allowed) return untrustedFailure(name);
    }
    const failure = this.#failure;
    if (failure === null || this.#connecting !== null || options.ignoreBackoff === true) return null;
    const now = this.#context.ports.clock.now();
    const until = backoffUntil(failure.at, now);
    return until === null ? null : backoffFailure(name, failure, until, now);
  }

  async #join(caller: Caller, signal: AbortSignal): Promise<Result<LiveUpstream, ConnectFailure>> {
    try {
      return await untilAborted(this.#connection(caller).done, signal);
    } catch {
      return err(cancelledFailure(this.definition.name));
    }
  }

  /** One that was given up is on its way out: the next begins when it has gone. */
  #connection(opener: Caller | null): Connecting {
    const before = this.#connecting;
    if (before !== null && !before.abort.signal.aborted) return before;
    const abort = new AbortController();
    const opening = this.#open(opener, abort.signal, before?.done);
    const connecting: Connecting = { abort, done: opening };
    this.#connecting = connecting;
    this.#parked = false;
    this.#changed();
    return connecting;
  }

  async #open(opener: Caller | null, signal: AbortSignal, before: Connecting["done"] | undefined): Promise<Result<LiveUpstream, ConnectFailure>> {
    await before;
    const { name } = this.definition;
    const { ports, ...context } = this.#context;
    const events = createServerEvents(name, ports.clock, context.emit);
    let own: LiveUpstream | null = null;
    // A start that finds every catalog kept has no use for what speaks to servers, which is most of the program.
    const { openLiveUpstream } = await import("./live-upstream.ts");
    const opened = await openLiveUpstream({
      definition: this.definition,
      ports,
      elicitation: context.elicitation,
      sampling: context.sampling,
      knownEra: context.knownEra(),
      previous: this.#offer.catalog(),
      opener,
      signal,
      onCatalog: (catalog) => {
        // A listing over a connection that was replaced meanwhile is of the past.
        if (this.#live !== null && this.#live === own) this.#offer.listed(catalog);
      },
      onListening: () => this.#changed(),
      prepare: events.prepare,
    });
    if (this.#connecting?.abort.signal === signal) this.#connecting = null;
    if (opened.ok && !signal.aborted && !this.#closed) {
      own = opened.value;
      return ok(this.#connected(opened.value));
    }
    if (opened.ok) await opened.value.close();
    const failure = opened.ok || signal.aborted ? cancelledFailure(name) : connectFailure(name, opened.error);
    if (!opened.ok && failure.code !== "aborted" && this.#live === null) {
      this.#failure = remembered(opened.error, ports.clock.now(), this.#failure);
      ports.log.event("warn", "upstream.connect-failed", { server: name, kind: opened.error.kind, failures: this.#failure.count });
    }
    this.#changed();
    return err(failure);
  }

  #connected(live: LiveUpstream): LiveUpstream {
    const old = this.#live;
    this.#live = live;
    this.#failure = null;
    this.#wasConnected = true;
    this.#context.learnEra(live.facts.era);
    this.#context.ports.log.event("info", "upstream.connected", { server: this.definition.name, era: live.facts.era, wire: live.facts.wire });
    void live.closed.then(() => this.#ended(live));
    if (old !== null) this.#retire(old);
    this.#offer.listed(live.catalog());
    this.#changed();
    return live;
  }

  #giveUp(live: LiveUpstream): void {
    if (this.#live === live) this.#live = null;
    this.#retire(live);
  }

  #retire(live: LiveUpstream): void {
    this.#retired.add(live);
    live.retire();
  }

  #ended(live: LiveUpstream): void {
    // The process may outlive its connection for a moment; whoever closes the slot waits for that too.
    this.#retired.add(live);
    void live.close().then(() => this.#retired.delete(live));
    if (this.#live !== live) return;
    this.#live = null;
    this.#context.ports.log.event("info", "upstream.ended", { server: this.definition.name });
    if (!this.#closed) this.#changed();
  }

  #changed(): void {
    this.#context.emit({ t: "state", server: this.definition.name, state: this.state() });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
