/** From an HTTP definition to a transport, and, when that did not work, to what the address is. */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { type Transport, SdkHttpError, SseError, UnauthorizedError } from "@modelcontextprotocol/client";
import type { HttpServer } from "../adapter/config/server-definition.ts";
import type { TransportFailure } from "../adapter/ports.ts";
import { shownAddress } from "../adapter/upstream/shown-address.ts";
import { probeAddress } from "./address-probe.ts";
import { isUnavailable, networkVerdict, unavailable, verdictOf } from "./address-verdict.ts";
import type { BearerSource } from "./bearer-tokens.ts";
import { addressOf, isSendable, pathOf, secretTable, UnusableValue, type ValueHost } from "./configured-values.ts";
import { upstreamFetch } from "./http-fetch.ts";
import { httpTransport } from "./http-transport.ts";
import { readAtMost } from "./read-at-most.ts";

/** All public authorities together are a quarter of it. */
const MAX_ROOTS_BYTES = 1024 * 1024;

export interface HttpRequestOptions {
  readonly server: HttpServer;
  /** Made once per definition: it remembers tokens. Throws `UnusableValue`. */
  readonly bearer: (url: URL) => BearerSource | null;
  readonly host: ValueHost;
  readonly signal: AbortSignal;
}

/** Throws `UnusableValue`; nothing was sent then. */
export async function openHttp(options: HttpRequestOptions, wire: "streamable-http" | "sse"): Promise<Transport> {
  const { url, headers, bearer, roots } = await resolveAddress(options);
  // Asked once before anything is opened: without a token there is nothing to try.
  await bearer?.token();
  const upstream = upstreamFetch({ command: options.server.requestHeadersCommand, roots, host: options.host });
  return httpTransport({ url, wire, headers, bearer, upstream, timers: options.host.timers });
}

/** Null: what happened says as much as can be said. Never rejects. */
export async function explainHttp(options: HttpRequestOptions, error: unknown): Promise<TransportFailure | null> {
  try {
    const url = addressOf(options.server.url, options.server.literal, options.host);
    const address = shownAddress(url.href);
    const status = statusOf(error);
    if (error instanceof UnauthorizedError || status === 401) return refusedLogin(address, options.bearer(url) !== null);
    if (status !== null && isUnavailable(status)) return unavailable(status, address, null);
    const place = { address, host: url.hostname, platform: options.host.platform };
    const known = networkVerdict(networkCode(error), place);
    if (known !== null || options.signal.aborted) return known;
    return await probe(options, address);
  } catch {
    return null; // The address does not even answer now; the first failure stands.
  }
}

async function probe(options: HttpRequestOptions, address: string): Promise<TransportFailure | null> {
  const { url, headers, bearer, roots } = await resolveAddress(options);
  const token = await bearer?.token();
  const upstream = upstreamFetch({ command: options.server.requestHeadersCommand, roots, host: options.host });
  try {
    const sent = { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) };
    return verdictOf(await probeAddress({ url, headers: sent, fetch: upstream.fetch, signal: options.signal }), address);
  } finally {
    await upstream.close();
  }
}

async function resolveAddress({ server, bearer, host, signal }: HttpRequestOptions) {
  const url = addressOf(server.url, server.literal, host);
  const headers = server.literal ? { ...server.headers } : await secretTable(server.headers, "headers", host, signal);
  assertSendable(headers);
  return { url, headers, bearer: bearer(url), roots: await trustedRoots(server, url, host) };
}

/** Better now, by name, than with the first request, by value. */
function assertSendable(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!isSendable(name, value)) {
      throw new UnusableValue(
        `The header ${JSON.stringify(name.slice(0, 60))} cannot be sent: its name or value has characters HTTP does not allow.`,
      );
    }
  }
}

async function trustedRoots({ caFile, literal }: HttpServer, url: URL, host: ValueHost): Promise<string | null> {
  if (caFile === null) return null;
  if (url.protocol !== "https:") throw new UnusableValue(`"caFile" means nothing to an address that is not https.`);
  const path = resolve(host.cwd, literal ? caFile : pathOf(caFile, host));
  const text = await readRoots(path).catch((error: unknown) => {
    throw new UnusableValue(`"caFile" cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  });
  if (text === null) throw new UnusableValue(`"caFile" must be a regular file of ${MAX_ROOTS_BYTES} bytes at most: ${path}`);
  if (!text.includes("-----BEGIN CERTIFICATE-----")) throw new UnusableValue(`"caFile" must be a PEM file of certificates: ${path}`);
  return text;
}

/** Null: it is no regular file, or too large. Rejects with what the system says. */
async function readRoots(path: string): Promise<string | null> {
  // Without waiting: a pipe in its place would hold up the connection past every deadline.
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const bytes = (await file.stat()).isFile() ? await readAtMost(file, MAX_ROOTS_BYTES) : null;
    return bytes?.toString("utf8") ?? null;
  } finally {
    await file.close();
  }
}

function refusedLogin(address: string, hadToken: boolean): TransportFailure {
  const message = hadToken
    ? `${address} refused the bearer token (401). Set a new one.`
    : `${address} wants a login (401). Logins in a browser (OAuth) are not supported yet; set "bearerTokenEnv", "bearerToken" or "headers".`;
  return { kind: "needs-auth", message };
}

function statusOf(error: unknown): number | null {
  if (error instanceof SdkHttpError) return error.status;
  return error instanceof SseError ? (error.code ?? null) : null;
}

/** The system's code, from however deep: `fetch failed` says nothing. */
function networkCode(error: unknown): string {
  let current = error;
  for (let depth = 0; depth < 6 && current instanceof Error; depth += 1) {
    if ("code" in current && typeof current.code === "string" && /^(?:E[A-Z]|UND_|CERT|SELF|DEPTH|UNABLE|ERR_TLS)/.test(current.code))
      return current.code;
    current = current instanceof AggregateError ? current.errors[0] : current.cause;
  }
  return "";
}
