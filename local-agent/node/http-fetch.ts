/** How requests reach an HTTP upstream: its trusted roots, headers made per request, bounded answers, no surprise on a redirect. */
import type { FetchLike } from "@modelcontextprotocol/client";
import { Agent, fetch as undiciFetch } from "undici";
import type { RequestHeadersCommand } from "../adapter/config/server-definition.ts";
import { isJsonObject, parseJson } from "../../shared/json.ts";
import { type AnyResponse, boundedResponse, type StreamEnd } from "./bounded-response.ts";
import type { ValueHost } from "./configured-values.ts";
import { requestHeaders } from "./request-headers.ts";

export interface UpstreamFetchOptions {
  readonly command: RequestHeadersCommand | null;
  /** PEM text: the only roots trusted. Null: the system's. */
  readonly roots: string | null;
  readonly host: ValueHost;
}

export interface UpstreamFetch {
  readonly fetch: FetchLike;
  /** Set by the transport: the event stream that answered this body is over. */
  onStreamEnd?: (sent: string, end: StreamEnd) => void;
  /** The bearer token that a response answers to; null: there was none. */
  readonly tokenOf: (response: Response) => string | null;
  close(): Promise<void>;
}

const CONNECT_MS = 10_000;

/**
 * The SDK above keeps redirects within one origin. Requests have deadlines of their own, and a person may think long over what a
 * server asks, so the sockets' ones (five minutes of silence) are off.
 */
export function upstreamFetch(options: UpstreamFetchOptions): UpstreamFetch {
  const { roots } = options;
  const dispatcher = new Agent({
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: CONNECT_MS, ...(roots !== null && { ca: roots }) },
  });
  const tokens = new WeakMap<Response, string | null>();
  const upstream: UpstreamFetch = {
    close: () => dispatcher.destroy(),
    tokenOf: (response) => tokens.get(response) ?? null,
    fetch: async (url, init = {}) => {
      const body = typeof init.body === "string" ? init.body : null;
      const headers = await headersOf(url, init, body, options);
      const { method = "GET", redirect = "manual", signal = null } = init;
      const response = await undiciFetch(url, { method, body, headers: [...headers], dispatcher, redirect, signal });
      if (options.command !== null && isRedirect(response)) {
        await response.body?.cancel();
        throw new Error(`The server answered with a redirect (${response.status}), which is not followed while "requestHeadersCommand" is set.`);
      }
      if (response.status === 202 && isHandshake(body)) upstream.onStreamEnd?.(body ?? "", { error: NO_ANSWER, isResumable: false });
      const bounded = boundedResponse(response, (end) => upstream.onStreamEnd?.(body ?? "", end));
      tokens.set(bounded, bearerOf(headers));
      return bounded;
    },
  };
  return upstream;
}

async function headersOf(url: string | URL, init: RequestInit, body: string | null, { command, host }: UpstreamFetchOptions): Promise<Headers> {
  const headers = new Headers(init.headers);
  if (command === null) return headers;
  const request = { method: init.method ?? "GET", url: String(url), body: body ?? "", signal: init.signal ?? new AbortController().signal };
  for (const [name, value] of await requestHeaders(command, request, host)) headers.set(name, value);
  return headers;
}

const NO_ANSWER = new Error("the server accepted the first request without an answer (202)");

/** Before there is a session nothing else could bring the answer later. */
function isHandshake(body: string | null): boolean {
  const message = body === null ? null : parseJson(body);
  return isJsonObject(message) && (message["method"] === "initialize" || message["method"] === "server/discover");
}

function bearerOf(headers: Headers): string | null {
  return /^Bearer (.+)$/.exec(headers.get("authorization") ?? "")?.[1] ?? null;
}

function isRedirect({ status, headers }: AnyResponse): boolean {
  return status >= 300 && status < 400 && headers.get("location") !== null;
}
