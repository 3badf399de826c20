/** The connections to all configured upstreams: one per server, made when needed, watched, ended when idle. */
import type {
  CallToolRequestOptions,
  CallToolRequestParams,
  CallToolResult,
  Client,
  GetPromptRequestParams,
  GetPromptResult,
  Implementation,
  LoggingLevel,
  Progress,
  ReadResourceResult,
  ServerCapabilities,
} from "@modelcontextprotocol/client";
import type { Result } from "../../../shared/result.ts";
import type { HeldCatalog, UpstreamCatalog } from "../catalog/upstream-catalog.ts";
import type { ServerDefinition } from "../config/server-definition.ts";
import type { Caller } from "../ports.ts";

/** Where a server stands. Times in milliseconds since the epoch. */
export type UpstreamState =
  | { readonly at: "disabled" }
  | { readonly at: "invalid"; readonly problem: string }
  /** Brought by a project file, and nobody allowed it yet (or somebody refused). */
  | { readonly at: "untrusted"; readonly denied: boolean }
  | { readonly at: "idle" }
  | { readonly at: "connecting" }
  /** `unanswered`: the last request over it that ended had no answer; over HTTP nothing else shows that a server is gone. */
  | {
      readonly at: "connected";
      readonly facts: UpstreamFacts;
      readonly since: number;
      readonly listening: ListenState;
      readonly unanswered?: true;
      /** Absent: none is known to have changed. */
      readonly changedResources?: ChangedResources;
    }
  /** Not tried again before `retryAt`, unless asked to. */
  | { readonly at: "failed"; readonly failedAt: number; readonly retryAt: number; readonly cause: string }
  | { readonly at: "needs-auth"; readonly failedAt: number; readonly cause: string };

/** How list changes of a connected server are heard of. */
export type ListenState = "active" | "dropped" | "re-establishing" | "legacy" | "not-listening";

/** URIs of resources that changed since they were last read over this connection, the last read first; never more than are watched. */
export interface ChangedResources {
  /** The server told so. */
  readonly certain: readonly string[];
  /** It could not be heard for a while. */
  readonly possible: readonly string[];
}

export interface UpstreamFacts {
  readonly era: "legacy" | "modern";
  readonly protocolVersion: string;
  readonly wire: "stdio" | "streamable-http" | "sse" | "socket";
  readonly serverInfo: Implementation | null;
  readonly capabilities: ServerCapabilities;
}

/** Why a request could not be made at all. The codes are those a call's result carries (docs/spec/upstream-calls.md). */
export interface ConnectFailure {
  readonly code:
    | "server_not_found"
    | "server_disabled"
    | "server_backoff"
    | "server_untrusted"
    | "auth_required"
    | "connect_failed"
    | "aborted"
    | "invalid_server";
  /** A sentence: what was tried, what came, what to do. */
  readonly message: string;
}

export interface UseOptions {
  readonly signal: AbortSignal;
  /** Whose request it is: an upstream's questions meanwhile are put to the person in its name. */
  readonly caller: Caller;
  /** Try although the server failed a moment ago. */
  readonly ignoreBackoff?: boolean;
}

/** For the SDK's request options. */
export interface RequestLimits {
  readonly signal: AbortSignal;
  readonly timeout: number;
  readonly onprogress?: (progress: Progress) => void;
}

/**
 * What one use of a connection may do. Errors of the SDK client are thrown as they are. What the server asks before it answers
 * `callTool`, `getPrompt` or `readResource` is asked of this use's caller.
 */
export interface UsedUpstream {
  /** Answers no questions: a request that brings some fails, unless it lets them through (`allowInputRequired`). */
  readonly client: Omit<Client, "callTool" | "getPrompt" | "readResource">;
  readonly facts: UpstreamFacts;
  /**
   * The signal ends the request with the use or at the definition's limit, which progress begins anew; the SDK's own `timeout` never
   * comes.
   */
  requestOptions(onProgress?: (progress: Progress) => void): RequestLimits;
  callTool(params: CallToolRequestParams, options: RequestLimits & Pick<CallToolRequestOptions, "toolDefinition">): Promise<CallToolResult>;
  getPrompt(params: GetPromptRequestParams, options: RequestLimits): Promise<GetPromptResult>;
  /** Reads it and, where the server tells of changes, watches it from then on (docs/spec/upstream-connections.md UP79). */
  readResource(uri: string, options: RequestLimits): Promise<ReadResourceResult>;
  /** The server does not seem to offer what it listed any more: it is listed anew by itself. */
  doubtList(): void;
}

export type PoolEvent =
  | { readonly t: "state"; readonly server: string; readonly state: UpstreamState }
  | { readonly t: "catalog"; readonly server: string; readonly held: HeldCatalog }
  | { readonly t: "log"; readonly server: string; readonly level: LoggingLevel; readonly logger: string | null; readonly data: unknown };

export interface UpstreamPool {
  state(server: string): UpstreamState;
  /** What is known of the server's tools, resources and prompts, connected or not; null: nothing yet. */
  held(server: string): HeldCatalog | null;
  /** Servers that are being connected to right now, for a search that found nothing. */
  connecting(): readonly string[];
  /** Connects what is to be connected at the start (eager, keep-alive; every server when nothing is cached at all). Resolves at once. */
  start(): void;
  /**
   * Connects if needed and lists anew what the server offers. `replace`: also over a connection that stands; the new one is built first
   * and takes the old one's place only when it works.
   */
  connect(server: string, options: UseOptions & { readonly replace?: boolean }): Promise<Result<UpstreamCatalog, ConnectFailure>>;
  /**
   * Runs `use` over the server's connection, made now if there is none. A session the server has lost is built anew once and `use`
   * runs again. Rejects with whatever `use` threw; an end of the connection meanwhile is such an error.
   */
  use<T>(server: string, options: UseOptions, use: (upstream: UsedUpstream) => Promise<T>): Promise<Result<T, ConnectFailure>>;
  /**
   * From now on the server is not disconnected for being idle; the returned function ends that, and may be called again. Connects to
   * nothing.
   */
  hold(server: string): () => void;
  /** Lists again what keep-alive servers offer, if that is older than a moment; for a host about to start a turn. Bounded in time. */
  refreshKeptAlive(signal: AbortSignal): Promise<void>;
  /** Ends one server's connection; later uses connect again. */
  disconnect(server: string): Promise<void>;
  /** The returned function ends the subscription. Listeners must not throw. */
  subscribe(listener: (event: PoolEvent) => void): () => void;
  definition(server: string): ServerDefinition | null;
  /** In the configuration's order, disabled and invalid ones included. */
  servers(): readonly string[];
  /** Ends every connection and process. Uses that run are aborted. */
  close(): Promise<void>;
}
