/** Requests of raw clients of both eras to a running agent's URL, and their answers. */
import { MODERN, reply, toolCall, type Message, type RpcAnswer } from "./surface-under-test.ts";
import { post } from "./mcp-post.ts";

type Era = "legacy" | "modern";

export interface Endpoint {
  readonly url: string;
  readonly token: string;
}

export interface SendOptions {
  readonly era?: Era;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
  readonly via?: typeof fetch;
}

const ENVELOPE = { "io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {} };

/** Posts one message; resolves at the answer's head. */
export function send({ url, token }: Endpoint, message: Message, { era = "legacy", headers = {}, signal, via }: SendOptions = {}): Promise<Response> {
  const body = { jsonrpc: "2.0", ...message };
  const more = { ...(signal !== undefined && { signal }), ...(via !== undefined && { via }) };
  if (era === "legacy") return post(url, body, { token, headers, ...more });
  const params = message.params ?? {};
  const name = params["name"];
  return post(
    url,
    { ...body, params: { ...params, _meta: { ...ENVELOPE, ...(params["_meta"] as object | undefined) } } },
    {
      token,
      headers: { "mcp-protocol-version": MODERN, "mcp-method": message.method, ...(typeof name === "string" && { "mcp-name": name }), ...headers },
      ...more,
    },
  );
}

export interface CallResult {
  readonly content: readonly { readonly type: string; readonly text?: string; readonly data?: string; readonly mimeType?: string }[];
  readonly isError?: boolean;
  readonly structuredContent?: Record<string, unknown>;
}

let ids = 0;

/** One tool call, its answer read to the end. Throws what a JSON-RPC error says. */
export async function callTool(
  at: Endpoint,
  name: string,
  args: Record<string, unknown>,
  options: SendOptions & { readonly id?: unknown } = {},
): Promise<CallResult> {
  ids += 1;
  const answer = await ask(at, toolCall(options.id ?? ids, name, args), options);
  return answer.result as unknown as CallResult;
}

/** The response of a request; throws what a JSON-RPC error says. */
export async function ask(at: Endpoint, message: Message, options: SendOptions = {}): Promise<RpcAnswer> {
  const answer = await reply(await send(at, message, options));
  if (answer.error !== undefined) throw new Error(`${answer.error.code}: ${answer.error.message}`);
  return answer;
}

export function bash(at: Endpoint, command: string, options: SendOptions & { readonly id?: unknown } = {}): Promise<CallResult> {
  return callTool(at, "bash", { command }, options);
}

export function said(result: CallResult): string {
  return result.content.map((part) => part.text ?? `[${part.mimeType}]`).join("\n");
}
