/** A POST to `/mcp` as a client sends it, and its answer read to the end or as far as it gets. */
import { TOKEN } from "./deposits.ts";

export interface PostOptions {
  readonly token?: string | null;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
  /** For an address that plain `fetch` does not reach. */
  readonly via?: typeof fetch;
}

export function post(url: string, body: unknown, options: PostOptions = {}): Promise<Response> {
  const token = options.token === undefined ? TOKEN : options.token;
  return (options.via ?? fetch)(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...options.headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
}

export const call = (id: unknown, name = "echo", args: object = {}) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: args },
});
