/**
 * Servers that a running agent of this account has connected to already, in place of processes of our own. Whatever cannot be shared is
 * started here, as without sharing. Rules: docs/spec/shared-upstreams.md.
 */
import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import type { Socket } from "node:net";
import * as v from "valibot";
import { parseJson } from "../../shared/json.ts";
import type { Timers } from "../../shared/ports.ts";
import { err, ok } from "../../shared/result.ts";
import { visibleLine } from "../../shared/visible-text.ts";
import { configHash } from "../adapter/catalog/config-hash.ts";
import type { ServerDefinition } from "../adapter/config/server-definition.ts";
import type { Environment, OpenedTransport, TransportFactory } from "../adapter/ports.ts";
import { OpenSocketTransport } from "./open-socket-transport.ts";
import { workingDirectory } from "./open-stdio.ts";
import { SHARED_LIMITS, SHARED_VERSION, SharedAnswer, type SharedAsks, type SharedHello, type SharedRefusal } from "./shared-protocol.ts";
import { connectShared, findSharedPlaces, sharedDirectory, type SharedPlace } from "./shared-sockets.ts";
import { readSocketLine } from "./socket-line.ts";

export interface SharedTransportsOptions {
  /** The agents' state directory (`findDirectories`). */
  readonly stateDir: string;
  /** As the inner transports have them. */
  readonly cwd: string;
  readonly env: Environment;
  readonly home: string;
  readonly timers: Timers;
  /** What this process can be asked for a server. */
  readonly asks: () => SharedAsks;
  /** Told once for each reason when a server is started here all the same. */
  readonly onUnshared: (notice: string) => void;
}

/** Shares stdio servers; all others are the inner factory's. */
export function sharedTransports(inner: TransportFactory, options: SharedTransportsOptions): TransportFactory {
  /** What is shared now: how an own process of the same definition ended earlier explains nothing of it. */
  const attached = new WeakSet<ServerDefinition>();
  const told = new Set<string>();
  const tell = (notice: string): void => {
    if (told.has(notice)) return;
    told.add(notice);
    options.onUnshared(notice);
  };
  return {
    async open(definition, openOptions) {
      const { signal } = openOptions;
      attached.delete(definition);
      const hello = helloFor(definition, options);
      if (hello === null) return inner.open(definition, openOptions);
      const found = await attach(hello, options, signal);
      if (found.at === "attached") {
        attached.add(definition);
        return ok(openedOver(found.socket, options.timers));
      }
      if (signal.aborted) return err({ kind: "failed", message: `Connecting to "${definition.name}" was cancelled.` });
      tell(noticeOf(definition.name, found.refusals));
      return inner.open(definition, openOptions);
    },
    explain: (definition, error, signal) => (attached.has(definition) ? Promise.resolve(null) : inner.explain(definition, error, signal)),
    renewCredentials: (definition) => inner.renewCredentials(definition),
  };
}

/** null: it is none that can be shared, or one that cannot be used as it is, which the inner factory says better. */
function helloFor(definition: ServerDefinition, options: SharedTransportsOptions): SharedHello | null {
  const { transport, name: server } = definition;
  if (transport.kind !== "stdio") return null;
  try {
    const directory = realDirectory(workingDirectory(transport, options));
    return {
      shared: "attach",
      version: SHARED_VERSION,
      server,
      configHash: hashOf(definition, options),
      directory,
      ofProject: definition.projectText !== null,
      asks: options.asks(),
    };
  } catch {
    return null;
  }
}

/** What both sides compare. */
export function hashOf(definition: ServerDefinition, { env, home }: { readonly env: Environment; readonly home: string }): string {
  return configHash(definition, { env, home, sha256: (text) => createHash("sha256").update(text).digest("hex") });
}

/** The same for every name of a directory; one that does not exist is taken by its name. */
export function realDirectory(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

type Found = { readonly at: "attached"; readonly socket: Socket } | { readonly at: "none"; readonly refusals: readonly SharedRefusal[] };

/** Asks one agent after the other. */
async function attach(hello: SharedHello, { stateDir, timers }: SharedTransportsOptions, signal: AbortSignal): Promise<Found> {
  const refusals: SharedRefusal[] = [];
  for (const place of findSharedPlaces(sharedDirectory(stateDir))) {
    const answered = await askOne(place, hello, timers, signal);
    if (answered?.at === "attached") return answered;
    if (answered !== null) refusals.push(...answered.refusals);
    if (signal.aborted) break;
  }
  return { at: "none", refusals };
}

/** null: nobody answers there. */
async function askOne(place: SharedPlace, hello: SharedHello, timers: Timers, signal: AbortSignal): Promise<Found | null> {
  const socket = await connectShared(place, timers, signal);
  if (socket === null) return null;
  const end = (): void => void socket.destroy();
  signal.addEventListener("abort", end, { once: true });
  try {
    socket.write(`${JSON.stringify(hello)}\n`);
    let answer = await readAnswer(socket, timers, SHARED_LIMITS.firstLineMs);
    if (answer?.answer === "wait") answer = await readAnswer(socket, timers, SHARED_LIMITS.connectMs);
    if (answer?.answer === "ok" && !socket.destroyed) return { at: "attached", socket };
    socket.destroy();
    return answer?.answer === "refused" ? { at: "none", refusals: [answer] } : null;
  } finally {
    signal.removeEventListener("abort", end);
  }
}

async function readAnswer(socket: Socket, timers: Timers, deadlineMs: number): Promise<SharedAnswer | null> {
  const line = await readSocketLine(socket, { maxBytes: SHARED_LIMITS.lineBytes, deadlineMs, timers });
  const read = v.safeParse(SharedAnswer, line === null ? null : parseJson(line));
  return read.success ? read.output : null;
}

function openedOver(socket: Socket, timers: Timers): OpenedTransport {
  const transport = new OpenSocketTransport(socket, { timers, unread: "ignore" });
  return {
    transport,
    wire: "socket",
    stderrTail: () => (transport.wasEndedByPeer ? ENDED : ""),
    close: () => transport.close(),
  };
}

/** Stands where the last words of a process stand. */
const ENDED = "pimcp: the shared connection was ended; the next call attaches again, or starts the server here";

/** The refusal of an agent that knows the server says more than that of one that does not. */
function noticeOf(server: string, refusals: readonly SharedRefusal[]): string {
  const [first] = refusals.toSorted((one, other) => Number(one.because === "unknown") - Number(other.because === "unknown"));
  if (first === undefined) return "No running pimcp of this account shares MCP servers: they run in this session.";
  return `The MCP server "${server}" runs in this session, because the running pimcp does not share it: ${visibleLine(first.message)}`;
}
