/** Asks an address that could not be connected to what it is. Three requests at most, five seconds each; healthy servers are never asked. */
import type { FetchLike } from "@modelcontextprotocol/client";
import { isJsonObject, parseJson } from "../../shared/json.ts";
import { isWorthAskingOn, type ProbeAnswer } from "./address-verdict.ts";

const QUESTION_MS = 5000;
const MODERN = "2026-07-28";
const LEGACY = "2025-06-18";
const CLIENT = { name: "pimcp-probe", version: "1.0.0" };
/** A body is only looked into, never kept. */
const MAX_LOOK = 4096;

export interface ProbeTarget {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: FetchLike;
  readonly signal: AbortSignal;
}

/** What was answered, in order. Rejects when the network fails or `signal` aborts. */
export async function probeAddress(target: ProbeTarget): Promise<readonly ProbeAnswer[]> {
  const discover = await ask(target, "discover");
  if (!isWorthAskingOn(discover)) return [discover];
  const initialize = await ask(target, "initialize");
  if (initialize.isRpc || !isWorthAskingOn(initialize)) return [discover, initialize];
  return [discover, initialize, await ask(target, "stream")];
}

async function ask({ url, headers, fetch, signal }: ProbeTarget, asked: ProbeAnswer["asked"]): Promise<ProbeAnswer> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(QUESTION_MS)]);
  const response = await fetch(url, {
    ...(asked === "stream"
      ? { method: "GET", headers: { ...headers, accept: "text/event-stream" } }
      : { method: "POST", headers: { ...headers, ...postHeaders(asked) }, body: JSON.stringify(question(asked)) }),
    redirect: "manual",
    signal: deadline,
  });
  const mediaType = (response.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  const text = mediaType === "text/event-stream" && asked === "stream" ? "" : await beginning(response);
  await response.body?.cancel().catch(() => {});
  return {
    asked,
    status: response.status,
    mediaType,
    isRpc: isRpc(text),
    saysUnsupported: /unsupported|not supported/i.test(text),
    retryAfter: response.headers.get("retry-after"),
  };
}

function postHeaders(asked: "discover" | "initialize"): Record<string, string> {
  return {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...(asked === "discover" && { "mcp-protocol-version": MODERN, "mcp-method": "server/discover" }),
  };
}

function question(asked: "discover" | "initialize"): object {
  if (asked === "initialize") {
    return { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: LEGACY, capabilities: {}, clientInfo: CLIENT } };
  }
  const meta = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  return { jsonrpc: "2.0", id: 1, method: "server/discover", params: { _meta: meta } };
}

/** Reads no further than needed, also of a stream that goes on. */
async function beginning(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  const decoder = new TextDecoder();
  let text = "";
  try {
    while (text.length < MAX_LOOK) {
      const { value, done } = await reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
      if (/\n\r?\n$/.test(text) && isRpc(text)) break;
    }
  } catch {
    // What came is what there is to look at.
  }
  await reader.cancel().catch(() => {});
  return text;
}

/** A JSON-RPC message, plain or as the first event of a stream. One that was cut shows by its first member. */
function isRpc(text: string): boolean {
  const data = /^data: ?(.+)$/m.exec(text)?.[1] ?? text;
  const parsed = parseJson(data);
  return isJsonObject(parsed) ? parsed["jsonrpc"] === "2.0" : data.length >= MAX_LOOK && /"jsonrpc"\s*:\s*"2\.0"/.test(data.slice(0, MAX_LOOK));
}
