/** How a played client talks to the MCP endpoint once it has a token. */
import type { SessionHabits } from "../fixtures/clients/profile.ts";
import { send, type SendOptions } from "./agent-requests.ts";
import { post } from "./mcp-post.ts";
import { reply, toolCall, type Message, type RpcAnswer } from "./surface-under-test.ts";

/** The token was refused. */
export class Unauthorized extends Error {}

export class ClientSession {
  readonly #habits: SessionHabits;
  readonly #url: string;
  readonly #via: typeof fetch;
  #headers: Record<string, string> = {};
  #isOpen = false;
  #ids = 0;

  constructor(habits: SessionHabits, url: string, via: typeof fetch) {
    this.#habits = habits;
    this.#url = url;
    this.#via = via;
  }

  async listTools(token: string): Promise<string[]> {
    const { tools } = await this.#request(token, (id) => ({ id, method: "tools/list" }));
    return (tools as { name: string }[]).map(({ name }) => name);
  }

  async callTool(token: string, name: string, args: Record<string, unknown>): Promise<unknown> {
    const progress = this.#habits.progressToken ? "p1" : undefined;
    return this.#request(token, (id) => toolCall(id, name, args, progress));
  }

  async #request(token: string, message: (id: number) => Message): Promise<Record<string, unknown>> {
    if (!this.#isOpen || this.#habits.initializes === "every call") await this.#open(token);
    return this.#ask(token, message(++this.#ids), this.#habits.era === "modern" ? { era: "modern" } : { headers: this.#headers });
  }

  async #open(token: string): Promise<void> {
    const { era, probes, postsToBase, opensStream } = this.#habits;
    if (postsToBase && !this.#isOpen) await this.#postToBase(token);
    if (era === "modern" || probes) await this.#ask(token, { id: ++this.#ids, method: "server/discover" }, { era: "modern" });
    if (era === "legacy") await this.#initialize(token);
    if (opensStream && !this.#isOpen) await this.#openStream(token);
    this.#isOpen = true;
  }

  async #initialize(token: string): Promise<void> {
    const { version, keepsSession } = this.#habits;
    const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: "played", version: "1" } };
    const response = await this.#send(token, { id: ++this.#ids, method: "initialize", params }, {});
    const session = response.headers.get("mcp-session-id");
    const { protocolVersion } = resultOf(await reply(response));
    this.#headers = { "mcp-protocol-version": String(protocolVersion), ...(keepsSession && session !== null && { "mcp-session-id": session }) };
    const told = await this.#send(token, { method: "notifications/initialized" }, { headers: this.#headers });
    if (told.status !== 202) throw new Error(`a notification was answered ${told.status}`);
  }

  /** Without a stream it goes on; any other refusal reads as a broken server. */
  async #openStream(token: string): Promise<void> {
    const headers = { accept: "text/event-stream", authorization: `Bearer ${token}`, ...this.#headers };
    const answer = await this.#via(this.#url, { headers });
    await answer.body?.cancel();
    if (answer.status === 405) return;
    if (!answer.ok || answer.headers.get("content-type")?.startsWith("text/event-stream") !== true) {
      throw new Error(`the stream was answered ${answer.status}`);
    }
  }

  /** It goes on with the endpoint after a refusal; a page or a redirect it would take for an answer. */
  async #postToBase(token: string): Promise<void> {
    const answer = await post(new URL("/", this.#url).href, { jsonrpc: "2.0", id: 0, method: "ping" }, { token, via: this.#via });
    const isJson = answer.headers.get("content-type")?.startsWith("application/json") === true;
    await answer.body?.cancel();
    const isRefusal = answer.status >= 400 && answer.status < 500;
    if (!isRefusal && !(answer.ok && isJson)) throw new Error(`a POST to the origin was answered ${answer.status}`);
  }

  async #ask(token: string, message: Message, options: SendOptions): Promise<Record<string, unknown>> {
    return resultOf(await reply(await this.#send(token, message, options)));
  }

  async #send(token: string, message: Message, options: SendOptions): Promise<Response> {
    const response = await send({ url: this.#url, token }, message, { ...options, via: this.#via });
    if (response.status === 401) {
      await response.body?.cancel();
      throw new Unauthorized(response.headers.get("www-authenticate") ?? "");
    }
    return response;
  }
}

function resultOf(answer: RpcAnswer): Record<string, unknown> {
  if (answer.result === undefined) throw new Error(`answered with an error: ${JSON.stringify(answer.error)}`);
  return answer.result;
}
