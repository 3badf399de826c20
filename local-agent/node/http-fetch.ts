/** How requests reach an HTTP upstream: its trusted roots, headers made per request, bounded answers, no surprise on a redirect. */
import type { FetchLike } from "@modelcontextprotocol/client";
import { Agent, fetch as undiciFetch } from "undici";
import type { RequestHeadersCommand } from "../adapter/config/server-definition.ts";
import { type AnyResponse, boundedResponse } from "./bounded-response.ts";
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
  close(): Promise<void>;
}

const CONNECT_MS = 10_000;

/**
 * The SDK above keeps redirects within one origin. Requests have deadlines of their own, and a person may think long over what a
 * server asks, so the sockets' ones (five minutes of silence) are off.
 */
export function upstreamFetch({ command, roots, host }: UpstreamFetchOptions): UpstreamFetch {
  const dispatcher = new Agent({
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: CONNECT_MS, ...(roots !== null && { ca: roots }) },
  });
  return {
    close: () => dispatcher.destroy(),
    fetch: async (url, init = {}) => {
      const { method = "GET", signal } = init;
      const body = typeof init.body === "string" ? init.body : null;
      const headers = new Headers(init.headers);
      if (command !== null) {
        const request = { method, url: String(url), body: body ?? "", signal: signal ?? new AbortController().signal };
        for (const [name, value] of await requestHeaders(command, request, host)) headers.set(name, value);
      }
      const redirect = init.redirect ?? "manual";
      const response = await undiciFetch(url, { method, body, headers: [...headers], dispatcher, redirect, signal: signal ?? null });
      if (command !== null && isRedirect(response)) {
        await response.body?.cancel();
        throw new Error(`The server answered with a redirect (${response.status}), which is not followed while "requestHeadersCommand" is set.`);
      }
      return boundedResponse(response);
    },
  };
}

function isRedirect({ status, headers }: AnyResponse): boolean {
  return status >= 300 && status < 400 && headers.get("location") !== null;
}
