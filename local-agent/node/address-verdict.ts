/**
 * What an address is, told from a failure and from what it answers to three questions. Pure. Says no more than the answers show: a 202
 * or a bare 401 leaves open whether MCP is spoken there.
 */
import type { TransportFailure } from "../adapter/ports.ts";

/** One answer of the address. */
export interface ProbeAnswer {
  readonly asked: "discover" | "initialize" | "stream";
  readonly status: number;
  /** Without parameters, in lower case; empty: none. */
  readonly mediaType: string;
  /** The body is a JSON-RPC message. */
  readonly isRpc: boolean;
  /** It says in some wording that the revision is not supported. */
  readonly saysUnsupported: boolean;
  readonly retryAfter: string | null;
}

/** After an answer like this the older question is worth asking. */
export function isWorthAskingOn({ status, saysUnsupported }: ProbeAnswer): boolean {
  return [400, 401, 404, 405, 406, 415].includes(status) || saysUnsupported;
}

/** The verdict over all answers, in the order they came; null: nothing better to say than the failure itself. */
export function verdictOf(answers: readonly ProbeAnswer[], address: string): TransportFailure | null {
  if (answers.some(({ isRpc, status }) => isRpc && status !== 503)) return null;
  const last = answers.at(-1);
  if (last === undefined) return null;
  const down = answers.find(({ status }) => UNAVAILABLE.has(status));
  if (down !== undefined) return unavailable(down.status, address, down.retryAfter);
  if (answers.some(({ mediaType, status }) => mediaType === "text/event-stream" && status < 300)) {
    return {
      kind: "failed",
      message: `${address} answers with an event stream to GET, as servers of the older SSE transport do; set "type": "sse".`,
    };
  }
  const login = answers.find(({ status }) => status === 401 || status === 403);
  if (login !== undefined) {
    return { kind: "needs-auth", message: `${address} answers ${login.status}: it wants a login. Whether it speaks MCP cannot be told before that.` };
  }
  const page = answers.find(({ mediaType }) => mediaType === "text/html" || mediaType === "application/xhtml+xml");
  if (page !== undefined) {
    return {
      kind: "not-mcp",
      message: `${address} returned HTML (${page.status}): this URL does not speak MCP. Check its path; many end in /mcp or /sse.`,
    };
  }
  const accepted = answers.find(({ status }) => status === 202);
  if (accepted !== undefined) {
    return {
      kind: "failed",
      message: `${address} answered 202 without content, which leaves open whether it speaks MCP: perhaps it answers elsewhere. Check the URL's path and "type".`,
    };
  }
  if (answers.every(({ status }) => status === 404 || status === 410)) {
    return { kind: "not-mcp", message: `There is nothing at ${address} (${last.status}). Check the URL's path; many end in /mcp or /sse.` };
  }
  if (answers.every(({ status }) => status < 500)) {
    return {
      kind: "not-mcp",
      message: `${address} answered ${last.status}${last.mediaType === "" ? "" : ` (${last.mediaType})`}, but nothing of MCP. Check the URL.`,
    };
  }
  return { kind: "failed", message: `${address} answered ${last.status}: the server itself failed.` };
}

/** 502 and 504 come from whatever stands before the server: it may be starting. */
const UNAVAILABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

export function isUnavailable(status: number): boolean {
  return UNAVAILABLE.has(status);
}

export function unavailable(status: number, address: string, retryAfter: string | null): TransportFailure {
  const when = retryAfter !== null && /^\d{1,6}$/.test(retryAfter) ? ` It asks to be left alone for ${retryAfter} seconds.` : "";
  return {
    kind: "unavailable",
    message: `${address} is temporarily unavailable (${status}).${when} What is known of its tools stays; try again later.`,
  };
}

export interface NetworkPlace {
  readonly address: string;
  readonly host: string;
  readonly platform: NodeJS.Platform;
}

/** What a failure of the network means, by the system's code; null: not known. */
export function networkVerdict(code: string, { address, host, platform }: NetworkPlace): TransportFailure | null {
  const isLocal = /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.)|\.local$/.test(host);
  if ((code === "EHOSTUNREACH" || code === "ENETUNREACH") && platform === "darwin" && isLocal) {
    return {
      kind: "failed",
      message: `${address} cannot be reached (${code}). On macOS the program may lack the permission for the local network: System Settings, Privacy & Security, Local Network.`,
    };
  }
  if (code === "ECONNREFUSED") return { kind: "failed", message: `Nobody listens at ${address}. Start the server, or check host and port.` };
  if (code === "ENOTFOUND" || code === "EAI_AGAIN")
    return { kind: "failed", message: `The host of ${address} is not known (${code}). Check its name and the network.` };
  if (code === "UND_ERR_CONNECT_TIMEOUT" || code === "ETIMEDOUT")
    return { kind: "failed", message: `${address} did not answer in time. Check host, port and firewall.` };
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/.test(code)) {
    return {
      kind: "failed",
      message: `The certificate of ${address} is not trusted (${code}). For a private authority set "caFile" to its PEM file.`,
    };
  }
  return null;
}
