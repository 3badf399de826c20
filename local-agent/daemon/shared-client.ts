/**
 * One process that uses a server of ours over its own connection to us: an SDK server whose every request goes to the pooled connection.
 * Ids, progress and cancellation are the two SDK ends' business; the era is the server's own, so nothing is translated.
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  LOG_LEVEL_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ElicitResult,
  type Implementation,
  type JSONRPCRequest,
  type LoggingLevel,
  type Result,
  type ServerCapabilities,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Client, CreateMessageResult } from "@modelcontextprotocol/client";
import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import type { Timers } from "../../shared/ports.ts";
import type { Caller, UpstreamQuestion } from "../adapter/ports.ts";
import type { PoolEvent, UpstreamFacts, UpstreamPool } from "../adapter/upstream/upstream-pool.ts";
import { linkSignals } from "../mcp/linked-signal.ts";
import { progressTo } from "../mcp/pass-through/reports.ts";
import type { OpenSocketTransport } from "../node/open-socket-transport.ts";

export interface SharedFacts {
  readonly era: UpstreamFacts["era"];
  readonly serverInfo: Implementation | null;
  readonly capabilities: ServerCapabilities;
  readonly instructions: string | null;
}

export interface SharedClientParts {
  readonly server: string;
  readonly facts: SharedFacts;
  readonly pool: Pick<UpstreamPool, "use">;
  readonly timers: Timers;
  /** In whose name its requests are made. */
  readonly caller: Caller;
}

export type SharedList = "tools" | "resources" | "prompts";

export interface SharedClient {
  changed(lists: readonly SharedList[]): void;
  logged(event: Extract<PoolEvent, { readonly t: "log" }>): void;
  /** Puts a question to its person. Never rejects. */
  ask(question: UpstreamQuestion): Promise<ElicitResult>;
  /** Rejects with why there is no answer. */
  sample(params: object, signal: AbortSignal): Promise<CreateMessageResult>;
  /** Ends it when what runs has been answered. */
  retire(): void;
  close(): Promise<void>;
}

const FORWARDED: ReadonlySet<string> = new Set([
  "tools/list",
  "tools/call",
  "prompts/list",
  "prompts/get",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "completion/complete",
]);

/** [SH22] One client leaves the server to others. */
const MAX_IN_FLIGHT = 32;
const MAX_LISTENERS = 16;
/** A person may have to think. */
const ANSWER_MS = 30 * 60_000;
const LEVELS: readonly LoggingLevel[] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/** Serves until the connection ends. */
export function serveSharedClient(transport: OpenSocketTransport, parts: SharedClientParts): SharedClient {
  return new Served(transport, parts);
}

class Served implements SharedClient {
  readonly #transport: OpenSocketTransport;
  readonly #parts: SharedClientParts;
  readonly #gone = new AbortController();
  #server: Server | null = null;
  #inFlight = 0;
  #retired = false;
  /** Changes that it was not told of yet. */
  readonly #changed = new Set<SharedList>();
  /** null: it wants to hear nothing. */
  #level: LoggingLevel | null;

  constructor(transport: OpenSocketTransport, parts: SharedClientParts) {
    this.#transport = transport;
    this.#parts = parts;
    const { era } = parts.facts;
    this.#level = era === "legacy" ? "debug" : null;
    transport.onwritable = () => this.#tellChanges();
    // A server of one era answers the other as such a server does: the client tries the other one then.
    if (era === "modern") {
      serveStdio(() => this.#create(), { transport, legacy: "reject", maxSubscriptions: MAX_LISTENERS });
    } else {
      void this.#create()
        .connect(transport)
        .catch(() => transport.close());
    }
  }

  changed(lists: readonly SharedList[]): void {
    const { capabilities } = this.#parts.facts;
    for (const list of lists) if (capabilities[list]?.listChanged === true) this.#changed.add(list);
    this.#tellChanges();
  }

  logged({ level, logger, data }: Parameters<SharedClient["logged"]>[0]): void {
    if (this.#level === null || LEVELS.indexOf(level) < LEVELS.indexOf(this.#level)) return;
    this.#tell("notifications/message", { level, ...(logger !== null && { logger }), data });
  }

  async ask({ params, signal }: UpstreamQuestion): Promise<ElicitResult> {
    const modes = this.#server?.getClientCapabilities()?.elicitation;
    const isUrl = params.mode === "url";
    if (modes === undefined || (isUrl && modes.url === undefined)) return { action: "cancel" };
    try {
      return (await this.#request("elicitation/create", params, signal)) as unknown as ElicitResult;
    } catch {
      return { action: "cancel" };
    }
  }

  async sample(params: object, signal: AbortSignal): Promise<CreateMessageResult> {
    if (this.#server?.getClientCapabilities()?.sampling === undefined) throw new Error("The client whose call runs has no model to ask.");
    return (await this.#request("sampling/createMessage", params, signal)) as unknown as CreateMessageResult;
  }

  retire(): void {
    this.#retired = true;
    if (this.#inFlight === 0) this.#leave();
  }

  async close(): Promise<void> {
    this.#gone.abort(new Error("the client has gone"));
    await this.#transport.close();
  }

  #create(): Server {
    const { server: name, facts } = this.#parts;
    const capabilities = offered(facts);
    const server = new Server(facts.serverInfo ?? { name, version: "0" }, {
      capabilities,
      ...(facts.instructions !== null && { instructions: facts.instructions }),
    });
    server.fallbackRequestHandler = (request, context) => this.#forward(request, context);
    if (capabilities.logging !== undefined) {
      server.setRequestHandler("logging/setLevel", ({ params }) => {
        this.#level = params.level;
        return {};
      });
    }
    this.#server = server;
    return server;
  }

  async #forward(request: JSONRPCRequest, context: ServerContext): Promise<Result> {
    const { method } = request;
    if (!FORWARDED.has(method)) throw new ProtocolError(ProtocolErrorCode.MethodNotFound, "Method not found");
    if (this.#inFlight >= MAX_IN_FLIGHT) {
      throw new ProtocolError(ProtocolErrorCode.InternalError, `At most ${MAX_IN_FLIGHT} requests at a time are shared: wait for an answer.`);
    }
    this.#inFlight++;
    try {
      return await this.#pass(method, this.#paramsOf(request, context), context);
    } finally {
      this.#inFlight--;
      if (this.#retired && this.#inFlight === 0) this.#leave();
    }
  }

  async #pass(method: string, params: JsonObject, context: ServerContext): Promise<Result> {
    const { pool, server, caller, facts } = this.#parts;
    const ends = linkSignals(context.mcpReq.signal, this.#gone.signal);
    const report = progressTo({ context, writable: () => this.#transport.isWritable });
    const wantsProgress = context.mcpReq._meta?.progressToken !== undefined;
    try {
      const outcome = await pool.use(server, { signal: ends.signal, caller }, (upstream) => {
        if (upstream.facts.era !== facts.era)
          throw new ProtocolError(ProtocolErrorCode.InternalError, `"${server}" speaks another revision now: attach again.`);
        const options = upstream.requestOptions(wantsProgress ? (progress) => report(progress as unknown as JsonObject) : undefined);
        return requestOf(upstream.client, method, params, options);
      });
      if (outcome.ok) return outcome.value;
      throw new ProtocolError(ProtocolErrorCode.InternalError, outcome.error.message);
    } finally {
      ends.unlink();
    }
  }

  /** Its token is the SDK's here; what a modern client says of itself with each request stays its own. */
  #paramsOf(request: JSONRPCRequest, { mcpReq }: ServerContext): JsonObject {
    const { _meta, ...params } = (request.params ?? {}) as JsonObject;
    const { progressToken: _token, ...meta } = isJsonObject(_meta) ? _meta : {};
    const said = this.#parts.facts.era === "modern" ? this.#saidBy({ ...mcpReq.envelope }) : {};
    const state = mcpReq.requestState();
    const whole = { ...meta, ...said };
    return {
      ...params,
      ...(Object.keys(whole).length > 0 && { _meta: whole }),
      ...(mcpReq.inputResponses !== undefined && { inputResponses: mcpReq.inputResponses as unknown as JsonObject }),
      ...(typeof state === "string" && { requestState: state }),
    };
  }

  #saidBy(envelope: Readonly<Record<string, unknown>>): JsonObject {
    const level = envelope[LOG_LEVEL_META_KEY];
    this.#level = typeof level === "string" ? (level as LoggingLevel) : null;
    return {
      [CLIENT_CAPABILITIES_META_KEY]: (envelope[CLIENT_CAPABILITIES_META_KEY] ?? {}) as JsonObject,
      ...(this.#level !== null && { [LOG_LEVEL_META_KEY]: this.#level }),
    };
  }

  async #request(method: "elicitation/create" | "sampling/createMessage", params: object, signal: AbortSignal): Promise<Result> {
    const server = this.#server;
    if (server === null || this.#gone.signal.aborted) throw new Error("The client whose call runs has gone.");
    const { _meta, ...rest } = params as Record<string, unknown>;
    return await server.request({ method, params: rest } as { method: "elicitation/create"; params: never }, { signal, timeout: ANSWER_MS });
  }

  #tellChanges(): void {
    if (!this.#transport.isWritable) return;
    for (const list of this.#changed) this.#tell(`notifications/${list}/list_changed`, {});
    this.#changed.clear();
  }

  /** [SH23] A client that does not read misses what is only news. */
  #tell(method: string, params: object): void {
    if (!this.#transport.isWritable) return;
    this.#server?.notification({ method, params: { ...params } }).catch(() => undefined);
  }

  /** The last answer is not written yet when what made it is done. */
  #leave(): void {
    this.#parts.timers.after(0, () => void this.close());
  }
}

async function requestOf(client: Pick<Client, "request">, method: string, params: JsonObject, options: object): Promise<Result> {
  return (await client.request({ method: method as "tools/list", params }, { ...options, allowInputRequired: true })) as Result;
}

/** What is forwarded of what the server can do. Subscriptions to single resources and tasks are not. */
function offered({ era, capabilities }: SharedFacts): ServerCapabilities {
  const { tools, prompts, resources, completions, logging } = capabilities;
  const listed = (list: { readonly listChanged?: boolean | undefined }): { listChanged?: boolean } =>
    list.listChanged === true ? { listChanged: true } : {};
  return {
    ...(tools !== undefined && { tools: listed(tools) }),
    ...(prompts !== undefined && { prompts: listed(prompts) }),
    ...(resources !== undefined && { resources: listed(resources) }),
    ...(completions !== undefined && { completions: {} }),
    ...(era === "legacy" && logging !== undefined && { logging: {} }),
  };
}
