/**
 * All configured upstreams. Finds the server a request is for, runs the request over its connection, and sees to the servers as time
 * passes (lifecycle.ts). Rules: docs/spec/upstream-connections.md.
 */
import { err, ok, type Result } from "../../../shared/result.ts";
import { freshnessOf } from "../catalog/stored-catalog.ts";
import type { HeldCatalog, UpstreamCatalog } from "../catalog/upstream-catalog.ts";
import type { ServerDefinition, UpstreamConfig } from "../config/server-definition.ts";
import type { AdapterPorts, StoredCatalog } from "../ports.ts";
import { createEraMemory, type EraMemory } from "./era-memory.ts";
import { connectsAtStart, isDueBeforeTurn, needsTicks, TICK_MS, tickAction } from "./lifecycle.ts";
import { eachWithin } from "./parallel.ts";
import { ServerSlot, type SlotPorts } from "./server-slot.ts";
import type { ConnectFailure, PoolEvent, UpstreamPool, UpstreamState, UsedUpstream, UseOptions } from "./upstream-pool.ts";

interface PoolOptions {
  readonly config: UpstreamConfig;
  readonly ports: SlotPorts & Pick<AdapterPorts, "metadata">;
  /** The definition's hash in the metadata cache: an entry with another one is of another server. */
  readonly hash: (definition: ServerDefinition) => string;
}

/** Catalogs younger than that are not listed again before a turn. */
const MOMENT_MS = 2000;
/** A turn does not wait longer for them; a listing that is slower goes on and is not a failure. */
const REFRESH_MS = 5000;
const PARALLEL = 10;

/** Reads what is kept of the servers' catalogs; connects to none of them yet. */
export async function createUpstreamPool(options: PoolOptions): Promise<UpstreamPool> {
  return new Pool(options, await options.ports.metadata.read());
}

class Pool implements UpstreamPool {
  readonly #options: PoolOptions;
  readonly #stored: ReadonlyMap<string, StoredCatalog>;
  readonly #slots = new Map<string, ServerSlot>();
  readonly #listeners = new Set<(event: PoolEvent) => void>();
  readonly #eras: EraMemory;
  #stopTicks: (() => void) | undefined;
  #closed = false;

  constructor(options: PoolOptions, stored: ReadonlyMap<string, StoredCatalog>) {
    this.#options = options;
    this.#stored = stored;
    this.#eras = createEraMemory(options.ports.clock);
    for (const [name, server] of options.config.servers) {
      if (server.state === "enabled") this.#slots.set(name, this.#slot(server.definition));
    }
  }

  state(server: string): UpstreamState {
    const configured = this.#options.config.servers.get(server);
    if (configured?.state === "invalid") return { at: "invalid", problem: configured.problem };
    return this.#slots.get(server)?.state() ?? { at: "disabled" };
  }

  held(server: string): HeldCatalog | null {
    return this.#slots.get(server)?.held() ?? null;
  }

  connecting(): readonly string[] {
    return [...this.#slots].filter(([, slot]) => slot.isConnecting()).map(([name]) => name);
  }

  start(): void {
    // Nothing is known of any server yet: without one look at each of them there would be nothing to search.
    const first = this.#stored.size === 0;
    const due = [...this.#slots.values()].filter((slot) => first || connectsAtStart(slot.definition.lifecycle));
    void eachWithin(PARALLEL, due, (slot) => slot.connectUnasked());
  }

  async connect(server: string, options: UseOptions & { readonly replace?: boolean }): Promise<Result<UpstreamCatalog, ConnectFailure>> {
    const found = this.#usable(server);
    return found.ok ? found.value.connect(options) : found;
  }

  async use<T>(server: string, options: UseOptions, use: (upstream: UsedUpstream) => Promise<T>): Promise<Result<T, ConnectFailure>> {
    const found = this.#usable(server);
    if (!found.ok) return found;
    const slot = found.value;
    for (let again = false; ;) {
      const live = await slot.ensure(options);
      if (!live.ok) return live;
      // Its successor may have come while this use was waiting for its turn.
      if (live.value.isOver()) continue;
      try {
        return ok(await live.value.run(options, use));
      } catch (error) {
        if (again || options.signal.aborted || !(await slot.recovers(live.value, error))) throw error;
        again = true;
      }
    }
  }

  hold(server: string): () => void {
    return this.#slots.get(server)?.hold() ?? (() => undefined);
  }

  async refreshKeptAlive(signal: AbortSignal): Promise<void> {
    const { clock, timers } = this.#options.ports;
    const now = clock.now();
    const isOld = (slot: ServerSlot): boolean => (slot.held()?.catalog.listedAt ?? 0) <= now - MOMENT_MS;
    const due = [...this.#slots.values()].filter((slot) => isDueBeforeTurn(slot.watched(), now) && isOld(slot));
    if (due.length === 0 || signal.aborted) return;
    const done = Promise.withResolvers<void>();
    const leave = (): void => done.resolve();
    const stop = timers.after(REFRESH_MS, leave);
    signal.addEventListener("abort", leave, { once: true });
    void eachWithin(PARALLEL, due, (slot) => slot.check()).then(leave);
    await done.promise;
    stop();
    signal.removeEventListener("abort", leave);
  }

  async disconnect(server: string): Promise<void> {
    await this.#slots.get(server)?.disconnect("asked");
  }

  subscribe(listener: (event: PoolEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  definition(server: string): ServerDefinition | null {
    const configured = this.#options.config.servers.get(server);
    return configured === undefined || configured.state === "invalid" ? null : configured.definition;
  }

  servers(): readonly string[] {
    return [...this.#options.config.servers.keys()];
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#stopTicks?.();
    await Promise.all([...this.#slots.values()].map((slot) => slot.close()));
    this.#listeners.clear();
  }

  #slot(definition: ServerDefinition): ServerSlot {
    const { config, ports, hash } = this.#options;
    const configHash = hash(definition);
    const kept = this.#stored.get(definition.name);
    const context = {
      ports,
      elicitation: config.settings.elicitation !== false,
      sampling: config.settings.sampling !== false,
      knownEra: () => this.#eras.get(configHash),
      learnEra: (era: "legacy" | "modern") => this.#eras.set(configHash, era),
      freshness: (catalog: UpstreamCatalog) => freshnessOf(catalog, ports.clock.now()),
      emit: (event: PoolEvent) => this.#emit(event),
      store: (catalog: UpstreamCatalog) => void ports.metadata.write(definition.name, { configHash, catalog }),
    };
    return new ServerSlot(definition, context, kept?.configHash === configHash ? kept.catalog : null);
  }

  #usable(server: string): Result<ServerSlot, ConnectFailure> {
    if (this.#closed) return err({ code: "aborted", message: "The adapter is closed." });
    const slot = this.#slots.get(server);
    return slot === undefined ? err(unusable(server, this.#options.config)) : ok(slot);
  }

  #emit(event: PoolEvent): void {
    for (const listener of this.#listeners) listener(event);
    if (event.t === "state") this.#keepTicking();
  }

  #keepTicking(): void {
    if (this.#closed || this.#stopTicks !== undefined) return;
    if (![...this.#slots.values()].some((slot) => needsTicks(slot.watched()))) return;
    this.#stopTicks = this.#options.ports.timers.after(TICK_MS, () => void this.#tick());
  }

  async #tick(): Promise<void> {
    const now = this.#options.ports.clock.now();
    await eachWithin(PARALLEL, [...this.#slots.values()], (slot) => runAction(slot, tickAction(slot.watched(), now)));
    this.#stopTicks = undefined;
    this.#keepTicking();
  }
}

async function runAction(slot: ServerSlot, action: ReturnType<typeof tickAction>): Promise<void> {
  if (action === "disconnect") await slot.disconnect("idle");
  // Not waited for: a server that is slow to answer must not hold up the others' next tick.
  if (action === "connect") void slot.connectUnasked();
  if (action === "check") void slot.check();
}

function unusable(server: string, config: UpstreamConfig): ConnectFailure {
  const configured = config.servers.get(server);
  if (configured?.state === "invalid") return { code: "invalid_server", message: `"${server}" is not usable: ${configured.problem}` };
  if (configured !== undefined) return { code: "server_disabled", message: `"${server}" is disabled in the configuration.` };
  return { code: "server_not_found", message: `No MCP server "${server}" is configured.` };
}
