/**
 * One request of a session as a fresh SDK server serves it: the server is told who its client is by an `initialize` of ours, and what
 * it asks the client on the answer's stream is found again when the client's answer arrives as a request of its own.
 */
import { randomUUID } from "node:crypto";
import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  WebStandardStreamableHTTPServerTransport,
  type JSONRPCMessage,
  type RequestId,
  type TransportSendOptions,
} from "@modelcontextprotocol/server";
import type { JsonValue } from "../../../shared/json.ts";
import type { Session } from "./sessions.ts";

/** Questions that clients of sessions have not answered yet, by the id they were sent with. */
export interface OpenQuestions {
  add(session: Session, deliver: (answer: JSONRPCMessage) => void): { readonly id: string; forget(): void };
  /** `answer` is a JSON-RPC response; false: nobody waits for it. */
  deliver(session: Session, answer: JsonValue): boolean;
}

export function createOpenQuestions(): OpenQuestions {
  const open = new Map<string, { readonly session: string; readonly deliver: (answer: JSONRPCMessage) => void }>();
  return {
    add({ key }, deliver) {
      const id = randomUUID();
      open.set(id, { session: key, deliver });
      return { id, forget: () => void open.delete(id) };
    },
    deliver(session, answer) {
      const message = answer as unknown as JSONRPCMessage;
      if (!isJSONRPCResultResponse(message) && !isJSONRPCErrorResponse(message)) return false;
      const asked = open.get(String(message.id));
      if (asked === undefined || asked.session !== session.key) return false;
      open.delete(String(message.id));
      asked.deliver(message);
      return true;
    },
  };
}

export class SessionTransport extends WebStandardStreamableHTTPServerTransport {
  readonly #session: Session;
  readonly #questions: OpenQuestions;
  readonly #opening = { id: randomUUID(), ...Promise.withResolvers<void>() };
  /** By the server's own number of the question. */
  readonly #asked = new Map<RequestId, { readonly id: string; forget(): void }>();

  constructor(session: Session, questions: OpenQuestions, options: { readonly enableJsonResponse: boolean }) {
    super({ ...options, keepAliveMs: 0 });
    this.#session = session;
    this.#questions = questions;
  }

  /** Once, after the server is connected. */
  async introduce(): Promise<void> {
    const { version, capabilities } = this.#session;
    const params = { protocolVersion: version, capabilities: { ...capabilities }, clientInfo: { name: "session", version: "1" } };
    this.onmessage?.({ jsonrpc: "2.0", id: this.#opening.id, method: "initialize", params });
    await this.#opening.promise;
  }

  override async send(message: JSONRPCMessage, options?: TransportSendOptions & { relatedRequestId?: RequestId }): Promise<void> {
    if ("id" in message && message.id === this.#opening.id) return this.#opening.resolve();
    await super.send(this.#renamed(message), options);
  }

  override async close(): Promise<void> {
    for (const asked of this.#asked.values()) asked.forget();
    this.#asked.clear();
    await super.close();
  }

  /** Each request has a server that counts from 0; within a session a question needs a name that no other has. */
  #renamed(message: JSONRPCMessage): JSONRPCMessage {
    if (isJSONRPCRequest(message)) {
      const { id } = message;
      const asked = this.#questions.add(this.#session, (answer) => {
        this.#asked.delete(id);
        this.onmessage?.({ ...answer, id });
      });
      this.#asked.set(id, asked);
      return { ...message, id: asked.id };
    }
    if (!isJSONRPCNotification(message) || message.method !== "notifications/cancelled") return message;
    const asked = this.#asked.get(message.params?.["requestId"] as RequestId);
    if (asked === undefined) return message;
    asked.forget();
    return { ...message, params: { ...message.params, requestId: asked.id } };
  }
}
