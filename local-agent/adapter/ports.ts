/**
 * Everything the adapter may ask of the outside world. Nothing else in `adapter/` touches it: no Node module, no timer, no clock, no
 * randomness, no console. `local-agent/node` has Node's implementations; the daemon and the Pi extension choose among them.
 */
import type { ElicitRequestFormParams, ElicitRequestURLParams, ElicitResult, Transport } from "@modelcontextprotocol/client";
import type { CreateMessageRequestParams, CreateMessageResult } from "@modelcontextprotocol/client";
import type { JsonObject, JsonValue } from "../../shared/json.ts";
import type { Clock, Log, Timers } from "../../shared/ports.ts";
import type { Result } from "../../shared/result.ts";
import type { UpstreamCatalog } from "./catalog/upstream-catalog.ts";
import type { ServerDefinition, UpstreamConfig } from "./config/server-definition.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface AdapterPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Hex SHA-256 of the UTF-8 text. */
  readonly sha256: (text: string) => string;
  /** Unique and unguessable. */
  readonly newId: () => string;
  readonly env: Environment;
  /** Absolute home directory, for `~`. */
  readonly home: string;
  readonly config: ConfigSource;
  readonly transports: TransportFactory;
  readonly metadata: MetadataStore;
  readonly trust: ProjectTrust;
  readonly approver: Approver;
  readonly forms: PersonForms;
  readonly sampler: Sampler;
  readonly output: OutputFiles;
  readonly scripts: ScriptRunner;
}

export interface ConfigSource {
  /** Reads and merges every layer. Never rejects: what cannot be read is a warning in the result. */
  load(): Promise<UpstreamConfig>;
}

/** Why a transport could not be made or did not work, in a sentence for the model and the person. */
export interface TransportFailure {
  /**
   * `needs-auth`: the server asks for a login. `unavailable`: it says so itself (503). `not-mcp`: what answers does not speak MCP.
   * `config`: nothing was tried, because the definition cannot be used as it is.
   */
  readonly kind: "needs-auth" | "unavailable" | "not-mcp" | "config" | "failed";
  readonly message: string;
}

/** A transport that is not started yet; it belongs to whoever opened it. */
export interface OpenedTransport {
  readonly transport: Transport;
  readonly wire: "stdio" | "streamable-http" | "sse" | "socket";
  /** The last lines a child wrote to its error stream, at most 8 KiB; empty for others. */
  stderrTail(): string;
  /** Ends everything that was started for it, children of children included. Resolves when it is gone; never rejects. */
  close(): Promise<void>;
}

export interface TransportFactory {
  /**
   * Resolves what the definition leaves open (variables, commands, tokens, the npx binary) and makes a transport for it. Opens nothing
   * yet but what resolving needs.
   * @param wire which HTTP transport to make; other kinds have one
   */
  open(
    definition: ServerDefinition,
    options: { readonly signal: AbortSignal; readonly wire: "streamable-http" | "sse" },
  ): Promise<Result<OpenedTransport, TransportFailure>>;
  /** After a failed connection only: asks the address once what it is. Null when there is nothing better to say. */
  explain(definition: ServerDefinition, error: unknown, signal: AbortSignal): Promise<TransportFailure | null>;
  /** A bearer token was refused (401): forgets what was remembered of it. True when a new one can be had. */
  renewCredentials(definition: ServerDefinition): Promise<boolean>;
}

/** What is kept of catalogs between runs, by server name and definition hash. Never rejects: a store that fails keeps nothing. */
export interface MetadataStore {
  read(): Promise<ReadonlyMap<string, StoredCatalog>>;
  /** Merges this one server into what is kept, also by other processes meanwhile. */
  write(server: string, entry: StoredCatalog): Promise<void>;
}

export interface StoredCatalog {
  readonly configHash: string;
  readonly catalog: UpstreamCatalog;
}

/** Whether what a project's own files configure may be used. A remote client may have written those files. */
export interface ProjectTrust {
  /** What was decided already, without asking anybody. */
  known(subject: TrustSubject): "allowed" | "denied" | "unasked";
  /** Asks the person, or waits for the question that is open. False: no, nobody can be asked, or aborted. Never rejects. */
  ask(subject: TrustSubject, signal: AbortSignal): Promise<boolean>;
}

export interface TrustSubject {
  /** The server's name; null: the project's settings. */
  readonly server: string | null;
  /** Canonical text of what is to be used; a change of it is a new question. */
  readonly text: string;
  readonly files: readonly string[];
}

export type CallOrigin = "proxy" | "direct" | "script" | "resource";

/** Who a call is made for. */
export type Caller =
  | { readonly kind: "remote"; readonly principalId: string; readonly client: string; readonly probe: () => void }
  /** The model of the Pi session that the adapter runs in. */
  | { readonly kind: "pi" }
  /** Another process that uses a connection of this adapter; it answers itself what is asked during its requests. */
  | { readonly kind: "attached"; readonly forms: Pick<PersonForms, "ask">; readonly sampler: Pick<Sampler, "sample"> };

export interface UpstreamApprovalRequest {
  readonly requestId: string;
  readonly callId: string;
  readonly server: string;
  readonly original: string;
  readonly displayed: string;
  /** Exactly what is sent if it is allowed. */
  readonly args: JsonObject;
  readonly origin: CallOrigin;
  readonly caller: Caller;
  /** Whether the configuration asks for it; a broker is asked in any case. */
  readonly required: boolean;
  /** Whether the person allowed this very call, or its whole server, earlier in this session. */
  readonly remembered: boolean;
  /** Hex SHA-256 of the tool's definition and of the canonical arguments: what an allowance that is kept longer is bound to. */
  readonly definitionHash: string;
  readonly argsHash: string;
  readonly signal: AbortSignal;
}

export type UpstreamApproval =
  | { readonly decision: "allow"; readonly remember: "no" | "call" | "server" }
  /** `nobody`: there is no one to ask. `text` is told to the model. */
  | { readonly decision: "deny"; readonly because: "person" | "nobody" | "broker"; readonly text: string };

/** Must resolve, never reject: no answer before the signal aborts is a denial. */
export interface Approver {
  /** False: a call that needs nobody's leave is not even shown to it. */
  readonly wantsEveryCall: boolean;
  ask(request: UpstreamApprovalRequest): Promise<UpstreamApproval>;
}

export interface UpstreamQuestion {
  readonly server: string;
  readonly params: ElicitRequestFormParams | ElicitRequestURLParams;
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

/** Puts an upstream's questions to the person (MCP elicitation). */
export interface PersonForms {
  /** What may be declared to an upstream: asked once per connection. */
  readonly modes: { readonly form: boolean; readonly url: boolean };
  /** Never rejects; an aborted question is `cancel`. */
  ask(question: UpstreamQuestion): Promise<ElicitResult>;
}

/** Lets an upstream ask a model (MCP sampling). */
export interface Sampler {
  readonly available: boolean;
  /** Rejects with a sentence that says why not. */
  sample(request: {
    readonly server: string;
    readonly params: CreateMessageRequestParams;
    /** During whose request the server asks. */
    readonly caller: Caller;
    readonly signal: AbortSignal;
  }): Promise<CreateMessageResult>;
}

/** Private files for what is too large for a model's context. They end with the adapter. */
export interface OutputFiles {
  /** The path of a new 0600 file with this text. Rejects with a sentence when it cannot be kept. */
  keepText(text: string, name: "output" | "mcp-result"): Promise<string>;
  /** The path of a new 0600 file with these bytes (base64). Rejects beyond the session's bounds. */
  keepBinary(base64: string): Promise<{ readonly path: string; readonly bytes: number }>;
  close(): Promise<void>;
}

/** Runs a model's JavaScript in a place of its own, with `request` as its only way out. */
export interface ScriptRunner {
  /**
   * Resolves when the script has ended in whatever way; never rejects.
   * @param run.timeoutMs the script is ended then, endless loops included
   * @param run.request serves `tools.*` of the script; never rejects
   */
  run(run: {
    readonly code: string;
    /** Whose it is: one caller's scripts may not take every place. */
    readonly owner: string;
    readonly timeoutMs: number;
    readonly signal: AbortSignal;
    readonly request: (operation: string, payload: JsonValue) => Promise<JsonValue>;
  }): Promise<ScriptEnd>;
}

export interface ScriptEnd {
  /** Emitted values and console lines in their order. */
  readonly output: readonly ScriptOutput[];
  readonly end:
    | { readonly how: "returned"; readonly value: JsonValue | undefined }
    | { readonly how: "threw"; readonly message: string }
    | { readonly how: "timeout" | "memory" | "cancelled" };
}

export type ScriptOutput =
  | { readonly from: "emit"; readonly value: JsonValue }
  | { readonly from: "console"; readonly level: string; readonly text: string };
