/**
 * One connection to one upstream: transport, negotiation, end. Knows nothing of catalogs, lifecycles or other connections.
 *
 * Invariant: whatever was started for an attempt is ended before the next one begins and before this gives up.
 */
import { Client, type ClientCapabilities, type ConnectOptions, type Implementation } from "@modelcontextprotocol/client";
import { err, ok, type Result } from "../../../shared/result.ts";
import type { ProtocolChoice, ServerDefinition } from "../config/server-definition.ts";
import type { AdapterPorts, OpenedTransport, TransportFailure } from "../ports.ts";
import { failureText } from "./failure-text.ts";
import { evidenceOf, firstAttempt, nextAttempt, type Attempt, type Era } from "./negotiation.ts";
import { TolerantTransport } from "./tolerant-transport.ts";
import { isLostSession } from "./session-loss.ts";
import type { UpstreamFacts } from "./upstream-pool.ts";

type ConnectionPorts = Pick<AdapterPorts, "transports" | "log">;

export interface OpenOptions {
  /** What is declared to the server. */
  readonly capabilities: ClientCapabilities;
  /** Absent: `pi-mcp-<server>`. */
  readonly clientInfo?: Implementation;
  /** Absent: the definition's. */
  readonly protocolVersion?: ProtocolChoice;
  /** What the server spoke under this definition the last time; spares a question. */
  readonly knownEra?: Era;
  /** Deadline of each step of the handshake. Absent: the definition's, or three minutes (a person may have to consent meanwhile). */
  readonly stepTimeoutMs?: number;
  readonly signal: AbortSignal;
  /**
   * Sets the handlers of a client before it is connected (`setRequestHandler`, `fallbackRequestHandler`, `fallbackNotificationHandler`…).
   * Runs once for every attempt; only the last client is the connection's.
   */
  readonly prepare: (client: Client) => void;
}

/** A connection that works. It belongs to whoever opened it. */
export interface UpstreamConnection {
  readonly client: Client;
  readonly facts: UpstreamFacts;
  /** The server's own guidance. */
  readonly instructions: string | null;
  /** Whether an error says that the server has lost the session it kept for this connection. */
  hasLostSession(error: unknown): boolean;
  stderrTail(): string;
  /** The last fault of its transport: where that has ended by itself, why. Null: there was none. */
  fault(): Error | null;
  /** Resolves when the connection has ended, by whichever side. Never rejects. */
  readonly closed: Promise<void>;
  /** Ends it with everything that was started for it. May be called again. Never rejects. */
  close(): Promise<void>;
}

export interface OpenFailure {
  readonly kind: TransportFailure["kind"] | "aborted";
  /** A sentence, at most 1,000 characters. */
  readonly message: string;
}

/** A consent page of the server's may stand between the handshake and its answer: half a minute would cut it. */
export const CONNECT_STEP_MS = 180_000;

/** Some silent servers are old ones; that much patience is the protocol's ordinary one. */
const PROBE_MS = 60_000;

/**
 * Opens a connection in the ways its definition allows, one after the other, as long as a failure gives evidence that another way is
 * right (negotiation.ts). Never rejects.
 */
export async function openConnection(
  definition: ServerDefinition,
  ports: ConnectionPorts,
  options: OpenOptions,
): Promise<Result<UpstreamConnection, OpenFailure>> {
  try {
    return await openInTurn(definition, ports, options);
  } catch (error) {
    return err({ kind: options.signal.aborted ? "aborted" : "failed", message: failureText(error, "") });
  }
}

async function openInTurn(
  definition: ServerDefinition,
  ports: ConnectionPorts,
  options: OpenOptions,
): Promise<Result<UpstreamConnection, OpenFailure>> {
  const choice = options.protocolVersion ?? definition.protocolVersion;
  let attempt = firstAttempt(definition, choice, options.knownEra);
  let renewed = false;
  for (;;) {
    const tried = await tryOnce(definition, ports, options, attempt);
    if (tried.ok) return tried;
    if (options.signal.aborted) return err({ kind: "aborted", message: `Connecting to "${definition.name}" was cancelled.` });
    if (tried.error.at === "open") return err(tried.error.failure);
    const { error, stderrTail } = tried.error;
    const evidence = evidenceOf(error);
    if (evidence === "unauthorized" && !renewed && (await ports.transports.renewCredentials(definition))) {
      renewed = true;
      continue;
    }
    const next = nextAttempt(definition, choice, attempt, evidence);
    if (next === null) return err(await explainFailure(definition, ports, { error, stderrTail }, options.signal));
    ports.log.event("debug", "upstream.renegotiated", { server: definition.name, evidence, wire: next.wire });
    attempt = next;
  }
}

type AttemptFailure =
  | { readonly at: "open"; readonly failure: TransportFailure }
  | { readonly at: "connect"; readonly error: unknown; readonly stderrTail: string };

async function tryOnce(
  definition: ServerDefinition,
  ports: ConnectionPorts,
  options: OpenOptions,
  attempt: Attempt,
): Promise<Result<UpstreamConnection, AttemptFailure>> {
  const { signal } = options;
  if (signal.aborted) return err({ at: "connect", error: signal.reason, stderrTail: "" });
  const opened = await ports.transports.open(definition, { signal, wire: attempt.wire });
  if (!opened.ok) return err({ at: "open", failure: opened.error });
  const { value: transport } = opened;
  // Making one may take a while, and a signal that has aborted is not heard any more.
  if (signal.aborted) {
    await transport.close();
    return err({ at: "connect", error: signal.reason, stderrTail: "" });
  }
  const client = clientFor(definition, options, attempt);
  const ended = Promise.withResolvers<void>();
  // The era's probe takes no signal; an ended transport ends it too.
  const end = (): void => void transport.close();
  signal.addEventListener("abort", end, { once: true });
  try {
    options.prepare(client);
    client.onclose = () => ended.resolve();
    const fault = keepFault(client);
    await client.connect(new TolerantTransport(transport.transport), connectOptions(definition, options));
    signal.throwIfAborted();
    return ok(connectionOver(client, transport, { closed: ended.promise, fault }));
  } catch (error) {
    await client.close().catch(() => undefined);
    await transport.close();
    return err({ at: "connect", error, stderrTail: transport.stderrTail() });
  } finally {
    signal.removeEventListener("abort", end);
  }
}

function clientFor(definition: ServerDefinition, options: OpenOptions, attempt: Attempt): Client {
  const info = options.clientInfo ?? { name: `pi-mcp-${definition.name}`, version: "1.0.0" };
  const timeoutMs = definition.requestTimeoutMs ?? PROBE_MS;
  return new Client(info, {
    capabilities: options.capabilities,
    versionNegotiation: { mode: attempt.mode, probe: { timeoutMs } },
    // A result that asks for input is for whoever made the request (`allowInputRequired`): handlers do not learn which one it was.
    inputRequired: { autoFulfill: false },
  });
}

function connectOptions(definition: ServerDefinition, options: OpenOptions): ConnectOptions {
  const timeout = options.stepTimeoutMs ?? definition.requestTimeoutMs ?? CONNECT_STEP_MS;
  return { signal: options.signal, timeout };
}

function keepFault(client: Client): () => Error | null {
  let last: Error | null = null;
  const told = client.onerror;
  client.onerror = (error) => {
    last = error;
    told?.(error);
  };
  return () => last;
}

function connectionOver(client: Client, opened: OpenedTransport, watched: Pick<UpstreamConnection, "closed" | "fault">): UpstreamConnection {
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await client.close().catch(() => undefined);
    await opened.close();
  };
  const { transport } = opened;
  return {
    client,
    facts: {
      era: client.getProtocolEra() ?? "legacy",
      protocolVersion: client.getNegotiatedProtocolVersion() ?? "",
      wire: opened.wire,
      serverInfo: client.getServerVersion() ?? null,
      capabilities: client.getServerCapabilities() ?? {},
    },
    instructions: client.getInstructions() ?? null,
    hasLostSession: (error) => isLostSession(error, transport.sessionId !== undefined),
    stderrTail: () => opened.stderrTail(),
    ...watched,
    close: () => (closing ??= close()),
  };
}

/** Why a connection does not work. The address is asked once what it is, where that says more than a transport's error. Never rejects. */
export async function explainFailure(
  definition: ServerDefinition,
  ports: ConnectionPorts,
  failed: { readonly error: unknown; readonly stderrTail: string },
  signal: AbortSignal,
): Promise<OpenFailure> {
  const better = await ports.transports.explain(definition, failed.error, signal);
  if (better !== null) return { kind: better.kind, message: better.message };
  const kind = evidenceOf(failed.error) === "unauthorized" ? "needs-auth" : "failed";
  return { kind, message: failureText(failed.error, failed.stderrTail) };
}
