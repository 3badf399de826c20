/**
 * The stdio servers this agent has, for Pi sessions of the same account: they use its connections instead of processes of their own.
 * The wall is the socket's file mode. Rules: docs/spec/shared-upstreams.md.
 */
import { chmodSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import * as v from "valibot";
import { parseJson } from "../../shared/json.ts";
import type { Log, Timers } from "../../shared/ports.ts";
import type { UpstreamCatalog } from "../adapter/catalog/upstream-catalog.ts";
import type { ServerDefinition } from "../adapter/config/server-definition.ts";
import type { Caller, Environment, UpstreamQuestion } from "../adapter/ports.ts";
import type { PoolEvent, UpstreamPool } from "../adapter/upstream/upstream-pool.ts";
import { OpenSocketTransport } from "../node/open-socket-transport.ts";
import { workingDirectory } from "../node/open-stdio.ts";
import { SHARED_LIMITS, SHARED_VERSION, SharedHello, type SharedAnswer, type SharedRefusal } from "../node/shared-protocol.ts";
import { newSharedPlace, removeStalePlaces, sharedDirectory, type SharedPlace } from "../node/shared-sockets.ts";
import { hashOf, realDirectory } from "../node/shared-transports.ts";
import { readSocketLine } from "../node/socket-line.ts";
import type { AttachedAsks } from "./attached-asks.ts";
import { preparePrivateDirectory, writePrivateFile } from "./config-dir.ts";
import { serveSharedClient, type SharedClient, type SharedFacts, type SharedList } from "./shared-client.ts";

export interface SharedUpstreamsOptions {
  readonly pool: UpstreamPool;
  readonly stateDir: string;
  /** Where servers run that say nothing else. */
  readonly cwd: string;
  readonly env: Environment;
  readonly home: string;
  readonly timers: Timers;
  readonly log: Log;
  /** What is counted of what attached processes can be asked, kept by whoever declares it to servers. */
  readonly asks: AttachedAsks;
}

export interface SharedUpstreams {
  readonly place: SharedPlace;
  close(): Promise<void>;
}

/** One server of one Pi session is one of them. */
const MAX_CLIENTS = 32;
/** Those of every server, and some that have not said yet what they want. */
const MAX_CONNECTIONS = 256;

/** Listens until closed. Rejects with the system's error. */
export async function shareUpstreams(options: SharedUpstreamsOptions): Promise<SharedUpstreams> {
  const directory = preparePrivateDirectory(sharedDirectory(options.stateDir));
  await removeStalePlaces(directory, options.timers);
  const place = newSharedPlace(directory);
  const sharing = new Sharing(options);
  const server = createServer((socket) => void sharing.serve(socket));
  server.maxConnections = MAX_CONNECTIONS;
  await listen(server, place.address);
  if (place.file === place.address) chmodSync(place.file, 0o600);
  else writePrivateFile(place.file, place.address);
  return {
    place,
    async close() {
      rmSync(place.file, { force: true });
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await sharing.close();
      await closed;
    },
  };
}

interface Attached {
  readonly server: string;
  readonly facts: SharedFacts;
  readonly client: SharedClient;
}

class Sharing {
  readonly #options: SharedUpstreamsOptions;
  readonly #sockets = new Set<Socket>();
  readonly #attached = new Set<Attached>();
  /** Clients by server, also those that are being connected for. */
  readonly #counts = new Map<string, number>();
  readonly #catalogs = new Map<string, UpstreamCatalog>();
  readonly #unsubscribe: () => void;

  constructor(options: SharedUpstreamsOptions) {
    this.#options = options;
    this.#unsubscribe = options.pool.subscribe((event) => this.#heard(event));
  }

  async serve(socket: Socket): Promise<void> {
    const { timers, log, asks } = this.#options;
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    socket.on("error", () => socket.destroy()); // Whoever attached is gone.
    const { lineBytes: maxBytes, firstLineMs: deadlineMs } = SHARED_LIMITS;
    const line = await readSocketLine(socket, { maxBytes, deadlineMs, timers });
    const hello = v.safeParse(SharedHello, line === null ? null : parseJson(line));
    if (!hello.success) return void socket.destroy();
    const { server } = hello.output;
    const refusal = refusalOf(hello.output, this.#options, this.#counts.get(server) ?? 0);
    if (refusal !== null) {
      log.event("info", "shared.refused", { server, because: refusal.because });
      return say(socket, refusal);
    }
    const leaveAsks = asks.add(hello.output.asks);
    this.#count(server, 1);
    socket.once("close", () => {
      leaveAsks();
      this.#count(server, -1);
    });
    await this.#attach(socket, server);
  }

  async close(): Promise<void> {
    this.#unsubscribe();
    await Promise.all([...this.#attached].map(({ client }) => client.close()));
    for (const socket of this.#sockets) socket.destroy();
  }

  async #attach(socket: Socket, server: string): Promise<void> {
    const { pool, timers, log } = this.#options;
    const left = new AbortController();
    socket.once("close", () => left.abort(new Error("the client has gone")));
    say(socket, { answer: "wait" });
    let client: SharedClient | null = null;
    const caller: Caller = {
      kind: "attached",
      forms: { ask: (question: UpstreamQuestion) => client?.ask(question) ?? Promise.resolve({ action: "cancel" }) },
      sampler: {
        sample: ({ params, signal }) => client?.sample(params, signal) ?? Promise.reject(new Error("The client has not begun yet.")),
      },
    };
    const release = pool.hold(server);
    socket.once("close", release);
    const facts = await factsOf(pool, server, { signal: left.signal, caller });
    if (typeof facts === "string") return say(socket, refused("unreachable", facts));
    if (socket.destroyed) return;
    say(socket, { answer: "ok" });
    const transport = new OpenSocketTransport(socket, { timers, unread: "hold" });
    client = serveSharedClient(transport, { server, facts, pool, timers, caller });
    const attached = { server, facts, client };
    this.#attached.add(attached);
    const held = pool.held(server)?.catalog;
    if (held !== undefined) this.#catalogs.set(server, held);
    log.event("info", "shared.attached", { server });
    socket.once("close", () => {
      this.#attached.delete(attached);
      void attached.client.close();
      log.event("info", "shared.detached", { server });
    });
  }

  #heard(event: PoolEvent): void {
    const concerned = [...this.#attached].filter(({ server }) => server === event.server);
    if (concerned.length === 0) return;
    if (event.t === "log") for (const { client } of concerned) client.logged(event);
    if (event.t === "catalog") {
      const changed = changedLists(this.#catalogs.get(event.server), event.held.catalog);
      this.#catalogs.set(event.server, event.held.catalog);
      for (const { client } of concerned) client.changed(changed);
    }
    // What a client was told of the server at its beginning must stay true.
    if (event.t === "state") for (const { client, facts } of concerned) if (!isStill(facts, event.state)) client.retire();
  }

  #count(server: string, by: 1 | -1): void {
    const now = (this.#counts.get(server) ?? 0) + by;
    if (now > 0) this.#counts.set(server, now);
    else this.#counts.delete(server);
  }
}

/** A sentence: why there are none. */
async function factsOf(
  pool: UpstreamPool,
  server: string,
  how: { readonly signal: AbortSignal; readonly caller: Caller },
): Promise<SharedFacts | string> {
  try {
    const used = await pool.use(server, how, ({ client, facts }) => {
      const { era, serverInfo, capabilities } = facts;
      return Promise.resolve({ era, serverInfo, capabilities, instructions: client.getInstructions() ?? null });
    });
    return used.ok ? used.value : used.error.message;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function isStill(facts: SharedFacts, state: Extract<PoolEvent, { readonly t: "state" }>["state"]): boolean {
  if (state.at !== "connected") return false;
  return state.facts.era === facts.era && JSON.stringify(state.facts.capabilities) === JSON.stringify(facts.capabilities);
}

/** Pure. What was not known before has not changed for whoever lists it from now on. */
function changedLists(before: UpstreamCatalog | undefined, now: UpstreamCatalog): readonly SharedList[] {
  if (before === undefined) return [];
  return (["tools", "resources", "prompts"] as const).filter((list) => JSON.stringify(before[list]) !== JSON.stringify(now[list]));
}

type Sharer = Pick<SharedUpstreamsOptions, "cwd" | "env" | "home"> & { readonly pool: Pick<UpstreamPool, "state" | "definition"> };

/** Why this server is not shared with whoever asks; null: it is. */
function refusalOf(hello: SharedHello, sharer: Sharer, clients: number): SharedRefusal | null {
  const { pool, env, home } = sharer;
  const { server } = hello;
  if (hello.version !== SHARED_VERSION) return refused("version", "It is of another version: restart it after an update.");
  const definition = pool.definition(server);
  if (definition === null) return refused("unknown", "It has no usable server of this name.");
  const { at } = pool.state(server);
  if (at === "disabled") return refused("disabled", "It is disabled there.");
  if (definition.transport.kind !== "stdio") return refused("not-shareable", "It is no process there.");
  const isSame = hashOf(definition, { env, home }) === hello.configHash && hello.ofProject === (definition.projectText !== null);
  if (!isSame) return refused("other-definition", "It is configured differently there.");
  const directory = directoryOf(definition, sharer);
  if (directory !== hello.directory) return refused("other-directory", "It runs in another directory there.");
  if (at === "untrusted") return refused("not-allowed", "Nobody has allowed it there yet: it comes from a project's own files.");
  return clients >= MAX_CLIENTS ? refused("busy", `${MAX_CLIENTS} clients use it already.`) : null;
}

function directoryOf({ transport }: ServerDefinition, sharer: Sharer): string | null {
  if (transport.kind !== "stdio") return null;
  try {
    return realDirectory(workingDirectory(transport, sharer));
  } catch {
    return null;
  }
}

function refused(because: SharedRefusal["because"], message: string): SharedRefusal {
  return { answer: "refused", because, message };
}

function say(socket: Socket, answer: SharedAnswer): void {
  if (socket.destroyed) return;
  const line = `${JSON.stringify(answer)}\n`;
  if (answer.answer === "refused") socket.end(line, () => socket.destroy());
  else socket.write(line);
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    // Stays: an accept that fails for want of file descriptors is told here, too, and would otherwise end the process.
    server.on("error", reject);
    server.listen(path, resolve);
  });
}
