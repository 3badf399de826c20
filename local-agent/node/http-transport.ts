/** The SDK's two HTTP transports over our own fetch, with an end that is told to the server and waits for nobody. */
import {
  type AuthProvider,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import type { Timers } from "../../shared/ports.ts";
import type { BearerSource } from "./bearer-tokens.ts";
import { answerBrokenStreams } from "./broken-streams.ts";
import type { UpstreamFetch } from "./http-fetch.ts";

export interface HttpAddress {
  readonly url: URL;
  readonly wire: "streamable-http" | "sse";
  readonly headers: Readonly<Record<string, string>>;
  readonly bearer: BearerSource | null;
  readonly upstream: UpstreamFetch;
  readonly timers: Timers;
}

/** An event stream that never says where to post to would be waited for without end. */
const START_MS = 30_000;
const GOODBYE_MS = 2000;

export function httpTransport(address: HttpAddress): Transport {
  return address.wire === "sse" ? sseTransport(address) : streamableTransport(address);
}

function streamableTransport({ url, headers, bearer, upstream, timers }: HttpAddress): Transport {
  const transport = new StreamableHTTPClientTransport(url, {
    fetch: upstream.fetch,
    requestInit: { headers: { ...headers } },
    ...(bearer !== null && { authProvider: bearerProvider(bearer, upstream) }),
  });
  answerBrokenStreams(transport, upstream, timers);
  const close = transport.close.bind(transport);
  let closing: Promise<void> | null = null;
  const end = async (): Promise<void> => {
    const { sessionId } = transport;
    await close();
    if (sessionId !== undefined) await withDeadline(sayGoodbye(sessionId), GOODBYE_MS, timers);
    await upstream.close();
  };
  /** Streamable HTTP, session management: a client that needs its session no longer says so. Whatever is answered is fine. */
  const sayGoodbye = async (sessionId: string): Promise<void> => {
    const token = await bearer?.token();
    const version = transport.protocolVersion;
    const response = await upstream.fetch(url, {
      method: "DELETE",
      headers: {
        ...headers,
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(version !== undefined && { "mcp-protocol-version": version }),
        "mcp-session-id": sessionId,
      },
    });
    await response.body?.cancel();
  };
  transport.close = () => (closing ??= end());
  return transport;
}

function sseTransport({ url, headers, bearer, upstream, timers }: HttpAddress): Transport {
  const transport = new SSEClientTransport(url, {
    fetch: upstream.fetch,
    requestInit: { headers: { ...headers } },
    ...(bearer !== null && { authProvider: bearerProvider(bearer, upstream) }),
  });
  const start = transport.start.bind(transport);
  const close = transport.close.bind(transport);
  const ended = Promise.withResolvers<never>();
  ended.promise.catch(() => {});
  let closing: Promise<void> | null = null;
  transport.start = async () => {
    const cancel = timers.after(START_MS, () =>
      ended.reject(new Error(`The event stream did not say where to post to within ${START_MS / 1000} seconds.`)),
    );
    try {
      await Promise.race([start(), ended.promise]);
    } finally {
      cancel();
    }
  };
  /** The session ends with its stream: what was asked in it is never answered, and over another one it would have to begin anew. */
  upstream.onStreamEnd = (sent) => {
    if (sent !== "") return;
    ended.reject(new Error("The event stream ended before it said where to post to."));
    void transport.close();
  };
  const end = async (): Promise<void> => {
    // A failed start closes the transport itself, and has more to say: it goes first.
    timers.after(0, () => ended.reject(new Error("The transport was closed.")));
    await close();
    await upstream.close();
  };
  transport.close = () => (closing ??= end());
  return transport;
}

/** The SDK asks for the token with every request, and after a 401 once more. */
function bearerProvider(bearer: BearerSource, { tokenOf }: UpstreamFetch): AuthProvider {
  return {
    token: () => bearer.token(),
    onUnauthorized: async ({ response }) => {
      if (bearer.renew(tokenOf(response))) return;
      await response.body?.cancel();
      throw new UnauthorizedError("The server refused the bearer token (401).");
    },
  };
}

async function withDeadline(work: Promise<void>, deadlineMs: number, timers: Timers): Promise<void> {
  let cancel = (): void => {};
  const deadline = new Promise<void>((resolve) => (cancel = timers.after(deadlineMs, resolve)));
  await Promise.race([work.catch(() => {}), deadline]);
  cancel();
}
