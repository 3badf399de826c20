/**
 * The open connections to exposed upstreams: one for each client and upstream and, with a legacy upstream, for each place and set of
 * capabilities. Whoever uses one keeps it open; it is closed when it was idle for a while or its place is needed.
 */
import type { Clock, Log, Timers } from "../../../shared/ports.ts";
import { canonicalJson, type JsonObject } from "../../../shared/json.ts";
import { err, ok, type Result } from "../../../shared/result.ts";
import type { Era } from "../protocol-server.ts";
import type { Caller } from "./caller.ts";
import type { AskableCapabilities, Passage } from "./passage.ts";
import { createLinkParts, type Change, type LinkUse, type UpstreamLink } from "./upstream-link.ts";

export interface Connections {
  /** Runs `use` over the caller's connection. The error is a sentence; what `run` throws is thrown. */
  use<T>(upstream: string, caller: Caller, use: LinkUse, run: (link: UpstreamLink) => Promise<T>): Promise<Result<T, string>>;
  /** What the upstream is known to be able to do, from any connection; null: none was made yet. */
  facts(upstream: string): Pick<UpstreamLink, "capabilities" | "instructions"> | null;
  /** How often access was taken back until now. */
  readonly age: number;
  /** Ends every connection of these clients, and gives none to a request of theirs that began before. */
  forget(isTheirs: (principalId: string) => boolean): Promise<void>;
  close(): Promise<void>;
}

export interface ConnectionsPorts {
  readonly passage: Passage;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  /** Something changed at an upstream, seen over a connection of that client. */
  readonly onChange: (principalId: string, change: Change) => void;
}

interface Held {
  readonly upstream: string;
  readonly principalId: string;
  readonly link: Promise<Result<UpstreamLink, string>>;
  readonly opening: AbortController;
  uses: number;
  usedAt: number;
  stopIdle: () => void;
}

const IDLE_MS = 10 * 60_000;
const MAX_PER_UPSTREAM = 16;
/** Whatever one client does, others reach the upstream. */
const MAX_OF_ONE = MAX_PER_UPSTREAM / 2;
/** An upstream that just failed is not tried for every request of a client that lists. */
const FAILED_MS = 5000;
/** A person may have to allow it first. Nobody's request waits that long (offers.ts). */
const CONNECT_MS = 180_000;

/** A request does not live to see more of them, other than one that is not to be served any longer. */
const MAX_FORGOTTEN = 256;

export function createConnections(ports: ConnectionsPorts): Connections {
  return new OpenConnections(ports);
}

class OpenConnections implements Connections {
  readonly #ports: ConnectionsPorts;
  readonly #held = new Map<string, Held>();
  readonly #eras = new Map<string, Era>();
  readonly #known = new Map<string, Pick<UpstreamLink, "capabilities" | "instructions">>();
  readonly #failed = new Map<string, { readonly at: number; readonly sentence: string }>();
  /** The last ones, the newest last. */
  readonly #forgotten: ((principalId: string) => boolean)[] = [];
  #age = 0;
  #isClosed = false;

  constructor(ports: ConnectionsPorts) {
    this.#ports = ports;
  }

  facts(upstream: string): Pick<UpstreamLink, "capabilities" | "instructions"> | null {
    return this.#known.get(upstream) ?? null;
  }

  async use<T>(upstream: string, caller: Caller, use: LinkUse, run: (link: UpstreamLink) => Promise<T>): Promise<Result<T, string>> {
    const entry = await this.#take(upstream, caller);
    if (!entry.ok) return entry;
    const tried = await this.#useOnce(entry.value, use, run);
    if (tried !== "lost") return tried;
    await this.#end(entry.value);
    const another = await this.#take(upstream, caller);
    if (!another.ok) return another;
    const again = await this.#useOnce(another.value, use, run);
    return again === "lost" ? err(`"${upstream}" forgets every session at once.`) : again;
  }

  /** @param entry taken for this use */
  async #useOnce<T>(entry: Held, use: LinkUse, run: (link: UpstreamLink) => Promise<T>): Promise<Result<T, string> | "lost"> {
    try {
      const link = await entry.link;
      if (!link.ok) return link;
      const end = link.value.begin(use);
      try {
        return ok(await run(link.value));
      } catch (error) {
        if (link.value.isLost(error)) return "lost";
        throw error;
      } finally {
        end();
      }
    } finally {
      entry.uses -= 1;
      this.#rest(entry);
    }
  }

  get age(): number {
    return this.#age;
  }

  async forget(isTheirs: (principalId: string) => boolean): Promise<void> {
    this.#age += 1;
    this.#forgotten.push(isTheirs);
    if (this.#forgotten.length > MAX_FORGOTTEN) this.#forgotten.shift();
    const own = [...this.#held.values()].filter((entry) => isTheirs(entry.principalId));
    await Promise.all(own.map((entry) => this.#end(entry)));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#held.values()].map((entry) => this.#end(entry)));
  }

  /** One that is in use from now on: somebody who asks before the use has begun must not find it idle and end it. */
  async #take(upstream: string, caller: Caller): Promise<Result<Held, string>> {
    // Which connections are needed is known once the first one stands. One that was given up says nothing; then somebody else's is the first.
    for (let first = this.#firstOf(upstream); first !== undefined; first = this.#firstOf(upstream)) await first.link;
    if (this.#isClosed) return err("The agent is leaving.");
    if (this.#isForgotten(caller)) return err("The access of this client was taken back.");
    const present = this.#held.get(this.#keyOf(upstream, caller));
    if (present !== undefined) return ok(inUse(present));
    const recent = this.#failed.get(upstream);
    if (recent !== undefined && this.#ports.clock.now() - recent.at < FAILED_MS) return err(recent.sentence);
    const full = this.#makeRoom(upstream, caller);
    if (full !== null) return err(full);
    return ok(inUse(this.#begin(upstream, caller)));
  }

  /** Whoever began before all that is remembered is taken for one of them. */
  #isForgotten({ principal, since }: Caller): boolean {
    const later = this.#age - since;
    return later > this.#forgotten.length || (later > 0 && this.#forgotten.slice(-later).some((isTheirs) => isTheirs(principal.id)));
  }

  #firstOf(upstream: string): Held | undefined {
    return this.#eras.has(upstream) ? undefined : [...this.#held.values()].find((entry) => entry.upstream === upstream);
  }

  #begin(upstream: string, caller: Caller): Held {
    const opening = new AbortController();
    const entry: Held = {
      upstream,
      principalId: caller.principal.id,
      link: this.#open(upstream, caller, opening),
      opening,
      uses: 0,
      usedAt: 0,
      stopIdle: () => {},
    };
    this.#held.set(this.#keyOf(upstream, caller), entry);
    void entry.link.then((link) => this.#settled(entry, link, caller));
    return entry;
  }

  #settled(entry: Held, link: Result<UpstreamLink, string>, caller: Caller): void {
    const isHeld = [...this.#held.values()].includes(entry);
    this.#forget(entry);
    if (!link.ok) {
      // One that was given up says nothing of the upstream.
      if (isHeld) this.#failed.set(entry.upstream, { at: this.#ports.clock.now(), sentence: link.error });
      return;
    }
    this.#failed.delete(entry.upstream);
    this.#eras.set(entry.upstream, link.value.era);
    this.#known.set(entry.upstream, link.value);
    // Again, because its key was made before its era was known.
    if (isHeld) this.#held.set(this.#keyOf(entry.upstream, caller), entry);
    void link.value.closed.then(() => this.#forget(entry));
  }

  async #open(upstream: string, caller: Caller, opening: AbortController): Promise<Result<UpstreamLink, string>> {
    const { passage, timers, log, onChange } = this.#ports;
    const parts = createLinkParts(upstream, { timers, onChange: (change) => onChange(caller.principal.id, change) });
    const stop = timers.after(CONNECT_MS, () => opening.abort(new Error(`no connection within ${CONNECT_MS / 1000} s`)));
    try {
      const capabilities = declaredTo(caller.capabilities, passage.forms !== null);
      const opened = await passage.open(upstream, { capabilities, prepare: parts.prepare, signal: opening.signal });
      log.event("info", "passage.opened", { upstream, ok: opened.ok });
      return opened.ok ? ok(parts.link(opened.value)) : err(opened.error.message);
    } finally {
      stop();
    }
  }

  #keyOf(upstream: string, { principal, place, capabilities }: Caller): string {
    return this.#eras.get(upstream) === "modern"
      ? canonicalJson([upstream, principal.id])
      : canonicalJson([upstream, principal.id, place, capabilities as JsonObject]);
  }

  /** Null: there is room now. Otherwise a sentence. */
  #makeRoom(upstream: string, { principal }: Caller): string | null {
    const all = [...this.#held.values()].filter((entry) => entry.upstream === upstream);
    const own = all.filter((entry) => entry.principalId === principal.id);
    if (own.length >= MAX_OF_ONE) {
      return this.#endIdle(own)
        ? null
        : `This client uses ${MAX_OF_ONE} connections to "${upstream}", the most it may have. Wait for one of its calls to end.`;
    }
    if (all.length < MAX_PER_UPSTREAM || this.#endIdle(all)) return null;
    return `Too many connections to "${upstream}" are in use. Wait for a call to end.`;
  }

  /** Ends the one that was idle longest; false: none is idle. */
  #endIdle(entries: readonly Held[]): boolean {
    const [oldest] = entries.filter((entry) => entry.uses === 0).toSorted((a, b) => a.usedAt - b.usedAt);
    if (oldest === undefined) return false;
    void this.#end(oldest);
    return true;
  }

  #rest(entry: Held): void {
    entry.usedAt = this.#ports.clock.now();
    if (entry.uses > 0 || ![...this.#held.values()].includes(entry)) return;
    entry.stopIdle();
    entry.stopIdle = this.#ports.timers.after(IDLE_MS, () => void this.#end(entry));
  }

  #forget(entry: Held): void {
    entry.stopIdle();
    for (const [key, other] of this.#held) if (other === entry) this.#held.delete(key);
  }

  async #end(entry: Held): Promise<void> {
    this.#forget(entry);
    entry.opening.abort(new Error("the connection is no longer needed"));
    const link = await entry.link;
    if (link.ok) await link.value.close();
  }
}

function inUse(entry: Held): Held {
  entry.uses += 1;
  entry.stopIdle();
  return entry;
}

/** What an upstream may ask for: what the client can do, and forms where the person's page answers them. */
export function declaredTo(capabilities: AskableCapabilities, hasForms: boolean): AskableCapabilities {
  if (!hasForms || capabilities.elicitation !== undefined) return capabilities;
  return { ...capabilities, elicitation: { form: {} } };
}
