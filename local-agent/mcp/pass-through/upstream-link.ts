/**
 * An open connection as pass-through uses it: requests as they are, questions and changes of the upstream to whoever uses it now.
 *
 * A message of an upstream that says not which request it belongs to (a log line, a legacy upstream's question) is given to the use
 * that began last. All uses of a connection are one client's, so it never reaches another.
 */
import type {
  CallToolResult,
  Client,
  ClientContext,
  LoggingLevel,
  McpSubscription,
  Progress,
  SubscriptionFilter,
} from "@modelcontextprotocol/client";
// Of the server's package, so that an agent that exposes nothing does not load the client's: only the code of an error is read.
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { JsonObject } from "../../../shared/json.ts";
import type { Timers } from "../../../shared/ports.ts";
import { linkSignals } from "../linked-signal.ts";
import type { Era } from "../protocol-server.ts";
import type { Listed } from "./listed.ts";
import type { PassageConnection } from "./passage.ts";

export interface PassedRequest {
  readonly method: "tools/call" | "prompts/get" | "resources/read" | "completion/complete" | "resources/subscribe" | "resources/unsubscribe";
  readonly params: JsonObject;
}

export interface LinkRequestOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Of a tool that is called: which of its arguments go into headers as well (MCP 2026-07-28 basic/transports). */
  readonly inputSchema?: JsonObject | undefined;
}

/** A question of a legacy upstream. */
export interface UpstreamQuestion {
  readonly method: string;
  readonly params: JsonObject;
}

/** One use of a connection: what may come meanwhile beside the answer. */
export interface LinkUse {
  /** Absent: nothing can be asked meanwhile. What it throws is the upstream's answer. */
  readonly onQuestion?: (question: UpstreamQuestion, signal: AbortSignal) => Promise<JsonObject>;
  /** Absent: nobody wants to hear it. */
  readonly onLog?: (params: JsonObject) => void;
}

export type Change =
  | { readonly kind: "tools" | "prompts" | "resources" }
  | { readonly kind: "resource"; readonly uri: string }
  /** A legacy client's visit to an address is over, as the upstream saw it. */
  | { readonly kind: "visited"; readonly elicitationId: string };

export interface UpstreamLink {
  readonly upstream: string;
  readonly era: Era;
  readonly capabilities: PassageConnection["facts"]["capabilities"];
  readonly instructions: string | null;
  /** Resolves when changes of its lists will be heard of, or it is known that they cannot be. */
  readonly listening: Promise<void>;
  /** The level it was asked for last. */
  level: LoggingLevel | null;
  /** What it listed last, kept by listed.ts. */
  readonly listed: Partial<Listed>;
  /** Errors of the upstream are thrown as they came; `input_required` is a result. */
  request(request: PassedRequest, options: LinkRequestOptions): Promise<JsonObject>;
  /** A page of a list. */
  list(method: string, cursor: string | undefined, options: LinkRequestOptions): Promise<JsonObject>;
  setLevel(level: LoggingLevel, options: LinkRequestOptions): Promise<void>;
  /** Asks to hear of a resource; the returned function ends that. Rejects when the upstream refuses. */
  subscribe(uri: string, options: LinkRequestOptions): Promise<() => void>;
  begin(use: LinkUse): () => void;
  /** Whether a request failed because the upstream forgot the session: it was not run, and a new connection may run it. */
  isLost(error: unknown): boolean;
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

const LIST_CHANGES: readonly (readonly [string, Change])[] = [
  ["notifications/tools/list_changed", { kind: "tools" }],
  ["notifications/prompts/list_changed", { kind: "prompts" }],
  ["notifications/resources/list_changed", { kind: "resources" }],
];
/** Before a stream of changes that the upstream ended is opened again. */
const RELISTEN_MS = 5000;
const ACKNOWLEDGE_MS = 10_000;
/** Some upstreams ask as soon as they are connected; the request they were connected for begins a moment later. */
const UNASKED_MS = 5000;

/** Each is kept until it is answered, and is written to a client that may not read. */
const MAX_QUESTIONS = 64;

export interface LinkPorts {
  readonly timers: Timers;
  readonly onChange: (change: Change) => void;
}

/** `prepare` is for the client before it connects; `link` for the connection then. */
export function createLinkParts(upstream: string, ports: LinkPorts) {
  const uses = new Set<LinkUse>();
  const newest = (wants: keyof LinkUse): LinkUse | undefined => [...uses].findLast((use) => use[wants] !== undefined);
  const listed: { -readonly [K in keyof Listed]?: Listed[K] } = {};
  const asking = createAsking(() => newest("onQuestion"), ports.timers);
  const changed = (change: Change): void => {
    if (change.kind === "tools" || change.kind === "prompts") delete listed[change.kind];
    if (change.kind === "resources") for (const kind of ["resources", "templates"] as const) delete listed[kind];
    ports.onChange(change);
  };
  const prepare = (client: Client): void => {
    client.fallbackRequestHandler = ({ method, params = {} }, context: ClientContext) =>
      asking.ask({ method, params: params as JsonObject }, context.mcpReq.signal);
    client.setNotificationHandler("notifications/message", ({ params }) => newest("onLog")?.onLog?.(params as JsonObject));
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => changed({ kind: "resource", uri: params.uri }));
    client.setNotificationHandler("notifications/elicitation/complete", ({ params }) =>
      changed({ kind: "visited", elicitationId: params.elicitationId }),
    );
    for (const [method, change] of LIST_CHANGES) client.setNotificationHandler(method as "notifications/tools/list_changed", () => changed(change));
  };
  const link = (connection: PassageConnection): UpstreamLink => {
    const { client, facts, instructions, closed } = connection;
    answerAfterNotices(client);
    const over = new AbortController();
    void closed.then(() => over.abort());
    const kept = { over: over.signal, timers: ports.timers };
    const listening = facts.era === "modern" ? listenForLists(client, facts.capabilities, { ...kept, onBack: () => {} }) : Promise.resolve();
    return {
      upstream,
      era: facts.era,
      capabilities: facts.capabilities,
      instructions,
      level: null,
      listening,
      listed,
      request: (request, options) => send(client, request, options),
      list: async (method, cursor, options) =>
        (await client.request(
          { method: method as "tools/list", params: { ...(cursor !== undefined && { cursor }) } },
          sdkOptions(options),
        )) as unknown as JsonObject,
      setLevel: async (level, options) => void (await client.setLoggingLevel(level, sdkOptions(options))),
      subscribe: (uri, options) =>
        facts.era === "modern"
          ? subscribeModern(client, uri, options, { ...kept, onBack: () => changed({ kind: "resource", uri }) })
          : subscribeLegacy(client, uri, options),
      begin(use) {
        uses.add(use);
        asking.began(use);
        return () => void uses.delete(use);
      },
      isLost: (error) => connection.hasLostSession(error),
      closed,
      close: () => connection.close(),
    };
  };
  return { prepare, link };
}

/** Hands questions to the use that may be asked, or to the next one that may. */
function createAsking(newest: () => LinkUse | undefined, timers: Timers) {
  const waiting = new Set<(use: LinkUse) => void>();
  let open = 0;
  const nextAskable = async (): Promise<LinkUse | undefined> => {
    const { promise, resolve } = Promise.withResolvers<LinkUse | undefined>();
    waiting.add(resolve);
    const stop = timers.after(UNASKED_MS, () => resolve(undefined));
    return promise.finally(() => {
      stop();
      waiting.delete(resolve);
    });
  };
  const handOn = async (question: UpstreamQuestion, withdrawn: AbortSignal): Promise<JsonObject> => {
    const use = newest() ?? (await nextAskable());
    if (use?.onQuestion === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidRequest, "No call is running that this question could belong to.");
    return { ...(await use.onQuestion(question, withdrawn)) };
  };
  return {
    async ask(question: UpstreamQuestion, withdrawn: AbortSignal): Promise<JsonObject> {
      if (open >= MAX_QUESTIONS) throw new ProtocolError(ProtocolErrorCode.InvalidRequest, "Too many questions wait for an answer already.");
      open += 1;
      return handOn(question, withdrawn).finally(() => (open -= 1));
    },
    began(use: LinkUse): void {
      if (use.onQuestion !== undefined) for (const resolve of waiting) resolve(use);
    },
  };
}

/**
 * The SDK takes a notification a moment later than a response, so the last progress before an answer, if both come in one piece,
 * finds nobody any more. Here an answer waits for what came before it.
 */
function answerAfterNotices({ transport }: Client): void {
  const receive = transport?.onmessage;
  if (transport === undefined || receive === undefined) return;
  transport.onmessage = (message, extra) => {
    if ("method" in message) receive(message, extra);
    else setImmediate(receive, message, extra);
  };
}

function sdkOptions({ signal, timeoutMs, onProgress }: LinkRequestOptions) {
  return {
    signal,
    timeout: timeoutMs,
    allowInputRequired: true,
    // The time is over however much progress is reported.
    ...(onProgress !== undefined && { onprogress: onProgress }),
  };
}

async function send(client: Client, { method, params }: PassedRequest, options: LinkRequestOptions): Promise<JsonObject> {
  if (method !== "tools/call") return (await client.request({ method, params: { ...params } }, sdkOptions(options))) as unknown as JsonObject;
  // Without an output schema the SDK checks no result: whether it fits is between the upstream and its client.
  const toolDefinition = {
    name: typeof params["name"] === "string" ? params["name"] : "",
    inputSchema: { type: "object" as const, ...options.inputSchema },
  };
  const result: CallToolResult = await client.callTool(params as unknown as { name: string }, { ...sdkOptions(options), toolDefinition });
  return result as unknown as JsonObject;
}

interface StreamPorts {
  readonly over: AbortSignal;
  readonly timers: Timers;
  /** It stands again: what was to be told meanwhile was not. */
  readonly onBack: () => void;
}

async function subscribeLegacy(client: Client, uri: string, options: LinkRequestOptions): Promise<() => void> {
  await client.request({ method: "resources/subscribe", params: { uri } }, sdkOptions(options));
  return () => void client.request({ method: "resources/unsubscribe", params: { uri } }, { timeout: options.timeoutMs }).catch(() => undefined);
}

async function subscribeModern(client: Client, uri: string, { timeoutMs }: LinkRequestOptions, ports: StreamPorts): Promise<() => void> {
  const ends = linkSignals(ports.over);
  const { open } = keptOpen(() => client.listen({ resourceSubscriptions: [uri] }, { signal: ends.signal, timeout: timeoutMs }), {
    ...ports,
    over: ends.signal,
  });
  const stop = (): void => ends.abort(new Error("unsubscribed"));
  await open().catch((error: unknown) => {
    stop();
    throw error;
  });
  return stop;
}

/** A modern upstream tells of changes only who asks. Resolves after the first attempt. */
async function listenForLists(client: Client, capabilities: PassageConnection["facts"]["capabilities"], ports: StreamPorts): Promise<void> {
  const filter: SubscriptionFilter = {
    ...(capabilities.tools?.listChanged === true && { toolsListChanged: true }),
    ...(capabilities.prompts?.listChanged === true && { promptsListChanged: true }),
    ...(capabilities.resources?.listChanged === true && { resourcesListChanged: true }),
  };
  if (Object.keys(filter).length === 0) return;
  const { open, again } = keptOpen(() => client.listen(filter, { signal: ports.over, timeout: ACKNOWLEDGE_MS }), ports);
  // It is asked again; what is listed meanwhile is kept for a moment only.
  await open().catch(again);
}

/** A stream that is opened again when the upstream ends it. `open` rejects as the first attempt does; `again` is for the next one. */
function keptOpen(listen: () => Promise<McpSubscription>, { over, timers, onBack }: StreamPorts) {
  const open = async (): Promise<void> => {
    const { closed } = await listen();
    void closed.then((how) => {
      if (how !== "local") again();
    });
  };
  const again = (): void => {
    if (over.aborted) return;
    const cancel = timers.after(RELISTEN_MS, () => {
      over.removeEventListener("abort", cancel);
      void open().then(onBack, again);
    });
    over.addEventListener("abort", cancel, { once: true });
  };
  return { open, again };
}
