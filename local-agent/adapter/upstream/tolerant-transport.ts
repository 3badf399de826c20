/**
 * A transport that forgives what servers of the 2026-07-28 revision leave out of their lists. The cache hints are mandatory there, and
 * the SDK refuses a whole list for want of one; one that is missing means "stale at once" (server/utilities/caching), and an item that
 * is none costs itself only. Everything else passes as it is.
 */
import {
  isSpecType,
  PROTOCOL_VERSION_META_KEY,
  type JSONRPCMessage,
  type MessageExtraInfo,
  type Transport,
  type TransportSendOptions,
} from "@modelcontextprotocol/client";

type Deliver = NonNullable<Transport["onmessage"]>;

/** Results that carry cache hints, and where their items are. */
const HINTED: Readonly<Record<string, { readonly list: string; readonly isItem: (item: unknown) => boolean } | null>> = {
  "tools/list": { list: "tools", isItem: isSpecType.Tool },
  "resources/list": { list: "resources", isItem: isSpecType.Resource },
  "resources/templates/list": { list: "resourceTemplates", isItem: isSpecType.ResourceTemplate },
  "prompts/list": { list: "prompts", isItem: isSpecType.Prompt },
  "resources/read": null,
  "server/discover": null,
};

/** Requests whose answers are awaited; one that is never answered is forgotten. */
const MAX_PENDING = 1000;

export class TolerantTransport implements Transport {
  readonly #inner: Transport;
  /** Methods by the id of their request. */
  readonly #pending = new Map<string | number, string>();
  #deliver: Deliver | undefined;

  constructor(inner: Transport) {
    this.#inner = inner;
  }

  start(): Promise<void> {
    return this.#inner.start();
  }

  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if ("method" in message && "id" in message && message.method in HINTED && isModern(message.params)) {
      this.#pending.set(message.id, message.method);
      const [oldest] = this.#pending.keys();
      if (this.#pending.size > MAX_PENDING && oldest !== undefined) this.#pending.delete(oldest);
    }
    return this.#inner.send(message, options);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  setSupportedProtocolVersions(versions: string[]): void {
    this.#inner.setSupportedProtocolVersions?.(versions);
  }

  get hasPerRequestStream(): boolean {
    return this.#inner.hasPerRequestStream === true;
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  get onclose(): (() => void) | undefined {
    return this.#inner.onclose;
  }

  set onclose(run: (() => void) | undefined) {
    this.#inner.onclose = run;
  }

  get onerror(): ((error: Error) => void) | undefined {
    return this.#inner.onerror;
  }

  set onerror(run: ((error: Error) => void) | undefined) {
    this.#inner.onerror = run;
  }

  get onmessage(): Deliver | undefined {
    return this.#deliver;
  }

  set onmessage(deliver: Deliver | undefined) {
    this.#deliver = deliver;
    this.#inner.onmessage = deliver === undefined ? undefined : (message, extra) => this.#receive(deliver, message, extra);
  }

  #receive(deliver: Deliver, message: JSONRPCMessage, extra: MessageExtraInfo | undefined): void {
    const id = "id" in message && !("method" in message) ? message.id : undefined;
    const method = id === undefined ? undefined : this.#pending.get(id);
    if (id === undefined || method === undefined) return deliver(message, extra);
    this.#pending.delete(id);
    deliver("result" in message ? { ...message, result: completed(method, message.result) } : message, extra);
  }
}

function completed(method: string, result: Readonly<Record<string, unknown>>): Record<string, unknown> {
  // A server that asks for input or hands out a task gives no list yet.
  if (typeof result !== "object" || (result["resultType"] !== undefined && result["resultType"] !== "complete")) return result;
  const { ttlMs, cacheScope } = result;
  const items = HINTED[method];
  const found = items === null || items === undefined ? undefined : result[items.list];
  return {
    ...result,
    ...(items && Array.isArray(found) ? { [items.list]: found.filter((item) => items.isItem(item)) } : {}),
    ttlMs: typeof ttlMs === "number" && Number.isFinite(ttlMs) && ttlMs >= 0 ? ttlMs : 0,
    cacheScope: cacheScope === "public" ? "public" : "private",
  };
}

function isModern(params: unknown): boolean {
  const meta = typeof params === "object" && params !== null && "_meta" in params ? params._meta : undefined;
  return typeof meta === "object" && meta !== null && PROTOCOL_VERSION_META_KEY in meta;
}
