/**
 * An upstream server as the files configure it, after merging: every field checked, every default filled in, nothing expanded.
 * `${NAME}`, `~` and `!command` values are still text here; they are resolved when a connection is made (expansion.ts).
 */
import type { JsonObject, JsonValue } from "../../../shared/json.ts";

export type Lifecycle = "lazy" | "eager" | "keep-alive" | "lazy-keep-alive";
export type ProtocolChoice = "legacy" | "auto" | "2026-07-28";
export type ToolPrefix = "server" | "short" | "none" | "mcp";
/** A list names original tool names; `"search"`: registered, but shown only after a search found it. */
export type DirectTools = boolean | "search" | readonly string[];
/** `true`: every call of the server; a list: globs over the tool's names. */
export type ApproveTools = boolean | readonly string[];

export interface StdioServer {
  readonly kind: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | null;
  /** False: the child sees the platform's default environment and `env` only. */
  readonly inheritEnv: boolean;
  /** Of an Agent Plugin: what `${PLUGIN_ROOT}` and `${PLUGIN_DATA}` stand for; every other value is literal. */
  readonly plugin: { readonly root: string; readonly data: string } | null;
}

/** A program asked for the headers of every single request. */
export interface RequestHeadersCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

export interface HttpServer {
  readonly kind: "http";
  readonly url: string;
  /** `any`: Streamable HTTP, and SSE when that is definitely refused; the others are spoken without a fallback. */
  readonly speaks: "any" | "streamable-http" | "sse";
  readonly headers: Readonly<Record<string, string>>;
  /** `none`: no OAuth, whatever the server answers. `unset`: decided by what else is configured. */
  readonly auth: "bearer" | "oauth" | "none" | "unset";
  readonly bearerToken: string | null;
  readonly bearerTokenEnv: string | null;
  /** The token is kept by the operating system's credential store, bound to the URL. */
  readonly bearerTokenStore: boolean;
  readonly requestHeadersCommand: RequestHeadersCommand | null;
  /** PEM file that replaces the trusted roots for this server. */
  readonly caFile: string | null;
  /** As configured; for the OAuth client. */
  readonly oauth: JsonObject | false | null;
  /** Of an Agent Plugin: nothing is expanded, no command is run. */
  readonly literal: boolean;
}

/** Newline-delimited JSON-RPC over a Unix stream that somebody else serves. */
interface SocketServer {
  readonly kind: "socket";
  readonly path: string;
}

export type ServerTransport = StdioServer | HttpServer | SocketServer;

export interface ServerDefinition {
  readonly name: string;
  readonly transport: ServerTransport;
  /** The merged entry exactly as the files say it: what the metadata cache's hash is made of. */
  readonly entry: JsonObject;
  readonly lifecycle: Lifecycle;
  /** null: never disconnected for being idle. */
  readonly idleTimeoutMs: number | null;
  /** null: the SDK's own. */
  readonly requestTimeoutMs: number | null;
  readonly protocolVersion: ProtocolChoice;
  readonly exposeResources: boolean;
  readonly directTools: DirectTools;
  readonly toolPrefix: ToolPrefix;
  /** null: all. Names or globs (`*`, `?`). */
  readonly includeTools: readonly string[] | null;
  readonly excludeTools: readonly string[];
  /** Extra words a tool is found by. Keys are names or globs. */
  readonly searchKeywords: Readonly<Record<string, readonly string[]>>;
  readonly approveTools: ApproveTools;
  readonly debug: boolean;
  readonly trace: boolean;
  /** Which file set each field of `entry`, by the field's name. */
  readonly origins: Readonly<Record<string, ConfigOrigin>>;
  /**
   * Canonical text of everything a project's own file could use to have a program run or an address opened; null: no project file
   * touched this server. Whoever must be asked before it runs is asked about exactly this text.
   */
  readonly projectText: string | null;
}

export type LayerKind = "host" | "plugin" | "user" | "agent-dir" | "project" | "import" | "memory";

export interface ConfigOrigin {
  readonly layer: LayerKind;
  /** Absolute path of the file; for `memory` a name. */
  readonly file: string;
}

export type ConfiguredServer =
  | { readonly state: "enabled" | "disabled"; readonly name: string; readonly definition: ServerDefinition }
  /** `problem` says in one sentence what is wrong with the entry and what was expected. */
  | { readonly state: "invalid"; readonly name: string; readonly problem: string; readonly origins: Readonly<Record<string, ConfigOrigin>> };

export interface OutputGuardSettings {
  readonly maxBytes: number;
  readonly maxLines: number;
  readonly detailsMaxBytes: number;
}

/** The files' `settings`, checked, with defaults. Per-server overrides are in the definitions already. */
export interface AdapterSettings {
  readonly toolPrefix: ToolPrefix;
  readonly directTools: DirectTools;
  readonly freezeDirectTools: boolean;
  readonly disableProxyTool: boolean;
  readonly namespaceProxyTools: boolean;
  readonly strictDirectToolArguments: boolean;
  readonly directToolResultDetails: "lean" | "bounded";
  readonly warnOnLargeDirectTools: boolean;
  readonly scriptMode: boolean;
  readonly approveTools: ApproveTools;
  readonly sampling: boolean | null;
  readonly samplingAutoApprove: boolean;
  readonly elicitation: boolean | null;
  readonly autoAuth: boolean;
  /** null: off. */
  readonly outputGuard: OutputGuardSettings | null;
  readonly trace: { readonly enabled: boolean; readonly file: string | null; readonly maxBytes: number; readonly maxEvents: number };
  readonly showStatusIcon: boolean;
  readonly mcpFooterStatus: "full" | "compact" | "off";
  readonly toolResultRendering: "compact" | "boxed";
  readonly collapsedResultLines: number;
  readonly notifyOnStartupConnect: boolean;
  readonly hostConfigDiscovery: "off" | "prompt" | "on";
}

export interface ConfigWarning {
  readonly file: string;
  readonly server: string | null;
  readonly message: string;
}

/** One place that was looked at, for `pimcp config` and `/mcp`. */
export interface ConfigSourceReport {
  readonly origin: ConfigOrigin;
  readonly found: boolean;
  readonly servers: readonly string[];
}

export interface UpstreamConfig {
  /** In the order they are shown: first mention first. */
  readonly servers: ReadonlyMap<string, ConfiguredServer>;
  readonly settings: AdapterSettings;
  /** Which file set each setting that a file sets, as it is written there. */
  readonly givenSettings?: Readonly<Record<string, { readonly value: JsonValue; readonly origin: ConfigOrigin }>>;
  /** As `ServerDefinition.projectText`, for the project files' `settings`; null: they set none. */
  readonly projectSettingsText: string | null;
  readonly warnings: readonly ConfigWarning[];
  readonly sources: readonly ConfigSourceReport[];
}
