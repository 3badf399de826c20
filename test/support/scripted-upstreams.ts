/**
 * Upstream servers that a test plays, message by message, behind a transport factory. For what no decent server does; decent ones are
 * the executables in test/fixtures/upstreams.
 */
import { InMemoryTransport, type JSONRPCMessage, SdkHttpError, SdkErrorCode } from "@modelcontextprotocol/client";
import type { OpenedTransport, TransportFactory, TransportFailure } from "../../local-agent/adapter/ports.ts";
import { err, ok } from "../../shared/result.ts";
import { abortOf } from "./abort-of.ts";

/** An answer that never comes. */
export const NEVER: unique symbol = Symbol("never");

interface ScriptedTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: { readonly type: "object"; readonly [key: string]: unknown };
}

type Params = Readonly<Record<string, unknown>>;

/** One connection, from the server's side. */
export interface ScriptedPeer {
  readonly wire: "streamable-http" | "sse";
  /** 1 for the server's first connection. */
  readonly number: number;
  readonly received: { readonly method: string; readonly params: Params; readonly id?: string | number }[];
  readonly open: boolean;
  notify(method: string, params?: Params): void;
  /** A request of the server's own; resolves with the client's answer, an error included. */
  request(method: string, params: Params): Promise<unknown>;
  /** The process dies. */
  die(): void;
}

/** What a method answers: a result, {@link NEVER}, or a throw (`RpcError`, or any error as the transport's own). */
type Answer = (params: Params, peer: ScriptedPeer, id: string | number) => unknown;

export interface Script {
  tools: ScriptedTool[];
  methods: Record<string, Answer>;
  capabilities: Record<string, unknown>;
  /** Answers `server/discover` and speaks 2026-07-28. */
  modern: boolean;
  instructions?: string;
  sessionId?: string | undefined;
  stderr: string;
  /** Set: no transport can be made. */
  failure: TransportFailure | null;
  explains: TransportFailure | null;
  renews: boolean;
  /** How long making a transport takes; resolved by the test. */
  opening: Promise<void> | null;
}

export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export function httpError(status: number, text = ""): SdkHttpError {
  return new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, `Error POSTing to endpoint: ${text}`, { status, text });
}

export class ScriptedUpstreams implements TransportFactory {
  readonly peers = new Map<string, ScriptedPeer[]>();
  readonly #scripts = new Map<string, Script>();

  /** The server's script; later connections see what the test changes in it. */
  script(name: string): Script {
    const script = this.#scripts.get(name) ?? {
      tools: [echoTool],
      methods: {},
      capabilities: { tools: { listChanged: true } },
      modern: false,
      stderr: "",
      failure: null,
      explains: null,
      renews: false,
      opening: null,
    };
    this.#scripts.set(name, script);
    return script;
  }

  /** The connections that were made to the server, in their order. */
  of(name: string): ScriptedPeer[] {
    return this.peers.get(name) ?? [];
  }

  /** How many of its connections are open. */
  living(name: string): number {
    return this.of(name).filter((peer) => peer.open).length;
  }

  async open(definition: { readonly name: string }, options: { readonly signal: AbortSignal; readonly wire: "streamable-http" | "sse" }) {
    const script = this.script(definition.name);
    const opening = await Promise.race([script.opening, abortOf(options.signal)]);
    if (opening === "aborted") return err({ kind: "failed", message: "The connection was cancelled." } as const);
    if (script.failure !== null) return err(script.failure);
    const [near, far] = InMemoryTransport.createLinkedPair();
    const peer = new Peer(script, far, options.wire, this.of(definition.name).length + 1);
    this.peers.set(definition.name, [...this.of(definition.name), peer]);
    const send = near.send.bind(near);
    near.send = async (message, sendOptions) => {
      await peer.refuse(message);
      // As over HTTP: the answer to `initialize` brings the session's id.
      if (script.sessionId !== undefined && "method" in message && message.method === "initialize") near.sessionId = script.sessionId;
      await send(message, sendOptions);
    };
    const opened: OpenedTransport = {
      transport: near,
      wire: "stdio",
      stderrTail: () => script.stderr,
      close: () => near.close(),
    };
    return ok(opened);
  }

  explain(definition: { readonly name: string }): Promise<TransportFailure | null> {
    return Promise.resolve(this.script(definition.name).explains);
  }

  renewCredentials(definition: { readonly name: string }): Promise<boolean> {
    return Promise.resolve(this.script(definition.name).renews);
  }
}

const echoTool: ScriptedTool = { name: "echo", description: "Says it again.", inputSchema: { type: "object" } };

class Peer implements ScriptedPeer {
  readonly wire: "streamable-http" | "sse";
  readonly number: number;
  readonly received: { method: string; params: Params; id?: string | number }[] = [];
  open = true;
  readonly #script: Script;
  readonly #far: InMemoryTransport;
  readonly #asked = new Map<string | number, (answer: unknown) => void>();
  readonly #answers = new Map<string | number, unknown>();

  constructor(script: Script, far: InMemoryTransport, wire: "streamable-http" | "sse", number: number) {
    this.#script = script;
    this.#far = far;
    this.wire = wire;
    this.number = number;
    far.onmessage = (message) => void this.#receive(message);
    far.onclose = () => (this.open = false);
    void far.start();
  }

  notify(method: string, params: Params = {}): void {
    this.#far.send({ jsonrpc: "2.0", method, params }).catch(() => undefined);
  }

  request(method: string, params: Params): Promise<unknown> {
    const id = `asked-${this.#asked.size + 1}`;
    const answer = new Promise((resolve) => this.#asked.set(id, resolve));
    this.#far.send({ jsonrpc: "2.0", id, method, params }).catch(() => undefined);
    return answer;
  }

  die(): void {
    void this.#far.close();
  }

  /** Errors that are no answers come from the transport itself, as those of HTTP do. */
  async refuse(message: JSONRPCMessage): Promise<void> {
    if (!("method" in message)) return;
    const params: Params = message.params ?? {};
    const id = "id" in message ? message.id : undefined;
    this.received.push({ method: message.method, params, ...(id === undefined ? {} : { id }) });
    if (id === undefined) return;
    const answer = this.#script.methods[message.method] ?? STANDARD[message.method];
    try {
      this.#answers.set(id, answer === undefined ? new RpcError(-32601, "Method not found") : await answer(params, this, id));
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      this.#answers.set(id, error);
    }
  }

  async #receive(message: JSONRPCMessage): Promise<void> {
    if (!("id" in message) || message.id === undefined) return;
    if (!("method" in message)) {
      this.#asked.get(message.id)?.("result" in message ? message.result : message.error);
      return;
    }
    let answer = await this.#answers.get(message.id);
    this.#answers.delete(message.id);
    if (answer === NEVER) return;
    if (answer === undefined) answer = standardResult(message.method, this.#script);
    const error = answer instanceof RpcError ? { code: answer.code, message: answer.message, data: answer.data } : undefined;
    const result = this.#script.modern && typeof answer === "object" ? { resultType: "complete", ...answer } : answer;
    const sent = error === undefined ? { jsonrpc: "2.0", id: message.id, result } : { jsonrpc: "2.0", id: message.id, error };
    await this.#far.send(sent as JSONRPCMessage).catch(() => undefined);
  }
}

/** Methods that are answered out of the script; `undefined` stands for that answer. */
const STANDARD: Readonly<Record<string, Answer>> = {
  initialize: () => undefined,
  "server/discover": () => undefined,
  "tools/list": () => undefined,
  "tools/call": () => undefined,
  ping: () => ({}),
};

function standardResult(method: string, script: Script): unknown {
  const { instructions, capabilities } = script;
  const told = instructions === undefined ? {} : { instructions };
  if (method === "server/discover") {
    if (!script.modern) return new RpcError(-32601, "Method not found");
    return { supportedVersions: ["2026-07-28"], capabilities, ttlMs: 0, cacheScope: "private", ...told };
  }
  if (method === "initialize") {
    if (script.modern) return new RpcError(-32022, "Unsupported protocol version", { supported: ["2026-07-28"] });
    return { protocolVersion: "2025-11-25", capabilities, serverInfo: { name: "scripted", version: "1" }, ...told };
  }
  if (method === "tools/list") return { tools: script.tools, ...(script.modern ? { ttlMs: 60_000, cacheScope: "private" } : {}) };
  return { content: [{ type: "text", text: "done" }] };
}
