/**
 * A server that is connected: its connection, what it was last heard to offer, the uses of it in flight, its questions.
 *
 * Invariants: a use is told to end before its connection is closed; a retired connection is closed when its last use ends.
 */
import { ProtocolError, SdkError, SdkErrorCode, type Client } from "@modelcontextprotocol/client";
import { err, ok, type Result } from "../../../shared/result.ts";
import type { UpstreamCatalog } from "../catalog/upstream-catalog.ts";
import type { ServerDefinition } from "../config/server-definition.ts";
import type { AdapterPorts, Caller } from "../ports.ts";
import { CONNECT_STEP_MS, explainFailure, openConnection, type OpenFailure, type UpstreamConnection } from "./connection.ts";
import { createDeadlines, type Deadlines } from "./deadlines.ts";
import { failureText } from "./failure-text.ts";
import { createListWatch, type ListWatch } from "./list-watch.ts";
import { listCatalog } from "./listing.ts";
import { evidenceOf, type Era, type Evidence } from "./negotiation.ts";
import { createQuestions, type Questions } from "./questions.ts";
import { createResourceWatch } from "./resource-watch.ts";
import { createRequests } from "./rounds.ts";
import type { ChangedResources, ListenState, UpstreamFacts, UseOptions, UsedUpstream } from "./upstream-pool.ts";
import { createUseScope, REQUEST_MS } from "./use-scope.ts";

export type LivePorts = Pick<AdapterPorts, "clock" | "timers" | "log" | "transports" | "forms" | "sampler">;

export interface LiveUpstream {
  readonly facts: UpstreamFacts;
  readonly since: number;
  readonly closed: Promise<void>;
  catalog(): UpstreamCatalog;
  listening(): ListenState;
  /** null: none is known to have changed since it was read over it. */
  changedResources(): ChangedResources | null;
  /** Whether a request over it failed because the server has forgotten the session (session-loss.ts). */
  isLostSession(error: unknown): boolean;
  /** What a request's failure over it says (negotiation.ts). */
  evidenceOf(error: unknown): Evidence;
  inFlight(): number;
  /** Retired or ended: a use that has not begun yet belongs on another connection. */
  isOver(): boolean;
  /** The last request over it that ended had no answer, not even an error. */
  isDoubtful(): boolean;
  lastUsedAt(): number;
  /** Rejects with whatever `use` threw. */
  run<T>(options: UseOptions, use: (upstream: UsedUpstream) => Promise<T>): Promise<T>;
  /** Lists anew, or joins a listing that runs. Rejects with the SDK's error. */
  refresh(): Promise<UpstreamCatalog>;
  /** Closes it once nothing is in flight. */
  retire(): void;
  /** Ends it with everything in flight. Never rejects. */
  close(): Promise<void>;
}

interface LiveOptions {
  readonly definition: ServerDefinition;
  readonly ports: LivePorts;
  readonly elicitation: boolean;
  readonly sampling: boolean;
  readonly knownEra: Era | undefined;
  readonly previous: UpstreamCatalog | null;
  /** For whom it is connected; null: for nobody, at the start or to keep it alive. */
  readonly opener: Caller | null;
  readonly signal: AbortSignal;
  readonly onCatalog: (catalog: UpstreamCatalog) => void;
  readonly onListening: () => void;
  /** Sets further handlers. */
  readonly prepare: (client: Client) => void;
}

/** The whole of a connect: negotiation in several ways and a listing of many pages. */
const CONNECT_MS = 300_000;

/** Method not found, invalid params (unknown tools included), header mismatch. */
const DENIALS: ReadonlySet<number> = new Set([-32601, -32602, -32020]);

/** Connects and lists. Never rejects; a connection whose tools cannot be listed is none. */
export async function openLiveUpstream(options: LiveOptions): Promise<Result<LiveUpstream, OpenFailure>> {
  const { definition, ports } = options;
  const deadlines = createDeadlines(ports.timers);
  const questions = createQuestions({
    server: definition.name,
    ports,
    elicitation: options.elicitation,
    sampling: options.sampling,
    pause: () => deadlines.pause(),
  });
  const changes: Changes = { ofLists: () => undefined, ofResource: () => undefined };
  const opener = options.opener === null ? undefined : questions.enter(options.opener);
  const whole = new AbortController();
  const deadline = deadlines.start(CONNECT_MS, () => whole.abort(new Error("connecting took too long")));
  const follow = (): void => whole.abort(options.signal.reason);
  options.signal.addEventListener("abort", follow, { once: true });
  if (options.signal.aborted) follow();
  try {
    const opened = await openConnection(definition, ports, {
      capabilities: questions.capabilities,
      ...(options.knownEra === undefined ? {} : { knownEra: options.knownEra }),
      signal: whole.signal,
      prepare: (client) => {
        questions.prepare(client);
        for (const list of ["tools", "resources", "prompts"] as const) {
          client.setNotificationHandler(`notifications/${list}/list_changed`, () => changes.ofLists());
        }
        client.setNotificationHandler("notifications/resources/updated", ({ params }) => changes.ofResource(params.uri));
        options.prepare(client);
      },
    });
    if (!opened.ok) return whole.signal.aborted && !options.signal.aborted ? err(tookTooLong(definition.name)) : opened;
    return await listed(options, opened.value, { deadlines, questions, changes, signal: whole.signal });
  } catch (error) {
    // A port that throws all the same must not leave the server "connecting" for ever.
    return err({ kind: "failed", message: failureText(error, "") });
  } finally {
    deadline.cancel();
    opener?.leave();
    options.signal.removeEventListener("abort", follow);
  }
}

/** Who is told of what the server tells unasked; nobody before it is listed. */
interface Changes {
  ofLists: () => void;
  ofResource: (uri: string) => void;
}

interface Parts {
  readonly deadlines: Deadlines;
  readonly questions: Questions;
  readonly changes: Changes;
  readonly signal: AbortSignal;
}

async function listed(options: LiveOptions, connection: UpstreamConnection, parts: Parts): Promise<Result<LiveUpstream, OpenFailure>> {
  const { definition, ports } = options;
  let hasEnded = false;
  void connection.closed.then(() => (hasEnded = true));
  try {
    const timeoutMs = definition.requestTimeoutMs ?? CONNECT_STEP_MS;
    const catalog = await list(options, connection, parts.deadlines, { signal: parts.signal, timeoutMs, previous: options.previous });
    // Resources and prompts need not be listed. What ended over them and counted as connected would be started again at once, and again.
    if (hasEnded) throw new SdkError(SdkErrorCode.ConnectionClosed, "Connection closed");
    return ok(liveOver(options, connection, parts, catalog));
  } catch (error) {
    await connection.close();
    if (options.signal.aborted) return err({ kind: "aborted", message: `Connecting to "${definition.name}" was cancelled.` });
    if (parts.signal.aborted) return err(tookTooLong(definition.name));
    return err(await explainFailure(definition, ports, { error, stderrTail: connection.stderrTail() }, options.signal));
  }
}

function tookTooLong(server: string): OpenFailure {
  return { kind: "failed", message: `"${server}" was not ready ${CONNECT_MS / 60_000} minutes after connecting to it began.` };
}

async function list(
  options: LiveOptions,
  connection: UpstreamConnection,
  deadlines: Deadlines,
  how: { readonly signal: AbortSignal; readonly timeoutMs: number; readonly previous: UpstreamCatalog | null },
): Promise<UpstreamCatalog> {
  const { definition, ports } = options;
  const scope = createUseScope(connection, deadlines, { signals: [how.signal], timeoutMs: how.timeoutMs });
  try {
    return await listCatalog({
      client: connection.client,
      facts: connection.facts,
      instructions: connection.instructions,
      requestOptions: (onProgress) => scope.upstream.requestOptions(onProgress),
      previous: how.previous,
      withResources: definition.exposeResources,
      now: ports.clock.now(),
      log: ports.log,
      server: definition.name,
    });
  } finally {
    scope.end();
  }
}

function liveOver(options: LiveOptions, connection: UpstreamConnection, parts: Parts, first: UpstreamCatalog): LiveUpstream {
  const { definition, ports } = options;
  const ended = new AbortController();
  let inFlight = 0;
  let lastUsedAt = ports.clock.now();
  let retired = false;
  let doubtful = false;

  const lists = createLists(options, connection, { deadlines: parts.deadlines, signal: ended.signal, first });
  const { watch, resources, unwatch } = listenTo(options, connection, parts.changes, lists.refresh);

  const close = async (): Promise<void> => {
    unwatch();
    ended.abort(new SdkError(SdkErrorCode.ConnectionClosed, `The connection to "${definition.name}" was ended.`));
    await connection.close();
  };
  void connection.closed.then(close);

  return {
    facts: connection.facts,
    since: ports.clock.now(),
    closed: connection.closed,
    catalog: lists.catalog,
    listening: () => watch.listening(),
    changedResources: () => resources.changed(),
    isLostSession: (error) => connection.hasLostSession(error),
    evidenceOf,
    inFlight: () => inFlight,
    isOver: () => retired || ended.signal.aborted,
    isDoubtful: () => doubtful,
    lastUsedAt: () => lastUsedAt,
    async run(use, work) {
      const asked = parts.questions.enter(use.caller);
      const requests = createRequests(connection.client, { asked, timers: ports.timers });
      const signals = [use.signal, ended.signal];
      const scope = createUseScope(connection, parts.deadlines, { signals, timeoutMs: definition.requestTimeoutMs });
      inFlight++;
      try {
        const result = await work({
          ...scope.upstream,
          ...requests,
          readResource: (uri, limits) => resources.read(uri, (more) => requests.readResource(uri, { ...limits, ...more })),
          doubtList: () => watch.changed(),
        });
        if (doubtful) watch.changed();
        doubtful = false;
        return result;
      } catch (error) {
        const answered = error instanceof ProtocolError;
        if (deniesWhatItListed(error) || (answered && doubtful)) watch.changed();
        // Behind the same address there may be another server by the time it answers again.
        doubtful = !answered && (doubtful || !use.signal.aborted);
        throw withLastWords(error, definition.name, connection);
      } finally {
        scope.end();
        asked.leave();
        inFlight--;
        lastUsedAt = ports.clock.now();
        if (retired && inFlight === 0) void close();
      }
    },
    refresh: lists.refresh,
    retire() {
      retired = true;
      unwatch();
      if (inFlight === 0) void close();
    },
    close,
  };
}

/** Hears from now on what the server tells unasked, and lists anew when that is due. */
function listenTo(
  { definition, ports, onListening }: LiveOptions,
  { client, facts }: UpstreamConnection,
  changes: Changes,
  refresh: () => Promise<unknown>,
) {
  const watch: ListWatch = createListWatch({
    timers: ports.timers,
    relist: async () => {
      await refresh().catch(() => ports.log.event("warn", "upstream.list-failed", { server: definition.name, list: "changed" }));
    },
    onListening,
  });
  const resources = createResourceWatch({ client, facts, timers: ports.timers });
  changes.ofLists = () => watch.changed();
  changes.ofResource = (uri) => resources.updated(uri);
  watch.start(client, facts);
  const unwatch = (): void => {
    watch.stop();
    resources.stop();
  };
  return { watch, resources, unwatch };
}

/** What the server offers now, and one listing at a time to renew it. */
function createLists(
  options: LiveOptions,
  connection: UpstreamConnection,
  parts: { readonly deadlines: Deadlines; readonly signal: AbortSignal; readonly first: UpstreamCatalog },
) {
  const timeoutMs = options.definition.requestTimeoutMs ?? REQUEST_MS;
  let catalog = parts.first;
  let refreshing: Promise<UpstreamCatalog> | undefined;

  const refreshNow = async (): Promise<UpstreamCatalog> => {
    try {
      if (connection.facts.capabilities.tools === undefined) await answers(connection, timeoutMs);
      catalog = await list(options, connection, parts.deadlines, { signal: parts.signal, timeoutMs, previous: catalog });
      options.onCatalog(catalog);
      return catalog;
    } finally {
      refreshing = undefined;
    }
  };

  return { catalog: () => catalog, refresh: () => (refreshing ??= refreshNow()) };
}

/** For a server without tools: the cheapest request its revision has. */
async function answers({ client, facts }: UpstreamConnection, timeout: number): Promise<void> {
  await (facts.era === "legacy" ? client.ping({ timeout }) : client.discover({ timeout }));
}

/** The server does not know what it listed, or takes it in another shape: its list has changed, and nothing told so. */
function deniesWhatItListed(error: unknown): boolean {
  return error instanceof ProtocolError && DENIALS.has(error.code);
}

/** A process that dies during a call says why on its error stream; its transport knows how it ended, or why it was given up. */
function withLastWords(error: unknown, server: string, connection: UpstreamConnection): unknown {
  if (!(error instanceof SdkError) || error.code !== SdkErrorCode.ConnectionClosed) return error;
  const fault = connection.facts.wire === "stdio" ? connection.fault() : null;
  const why = fault === null ? failureText(error, connection.stderrTail()) : failureText(fault, "");
  const message = `The server "${server}" ended during the request: ${why}`;
  return new SdkError(error.code, message, undefined, { cause: error });
}
