/** The SDK clients that people's programs are built on, behind one face. */
import { Client, StreamableHTTPClientTransport, type CallToolResult, type Transport } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Endpoint } from "./agent-requests.ts";
import { MODERN } from "./surface-under-test.ts";

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (report: { readonly progress: number; readonly message?: string | undefined }) => void;
  readonly timeout?: number;
}

export interface SdkClient extends AsyncDisposable {
  readonly version: string | undefined;
  listTools(): Promise<string[]>;
  call(name: string, args: Record<string, unknown>, options?: CallOptions): Promise<CallToolResult>;
  close(): Promise<void>;
}

export const SDK_CLIENTS = {
  "SDK v2, modern": (at: Endpoint) => connectV2(httpTransport(at), "modern"),
  "SDK v2, either era": (at: Endpoint) => connectV2(httpTransport(at), "auto"),
  "SDK v2, legacy": (at: Endpoint) => connectV2(httpTransport(at), "legacy"),
  "SDK v1": connectV1,
} as const;

function httpTransport({ url, token }: Endpoint): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } });
}

export async function connectV2(transport: Transport, era: "modern" | "auto" | "legacy"): Promise<SdkClient> {
  const mode = era === "modern" ? { pin: MODERN } : era;
  const client = new Client({ name: "v2", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(transport);
  const close = () => client.close();
  return {
    version: client.getNegotiatedProtocolVersion(),
    listTools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    call: (name, args, options = {}) => client.callTool({ name, arguments: args }, options),
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function connectV1({ url, token }: Endpoint): Promise<SdkClient> {
  const client = new ClientV1({ name: "v1", version: "1" });
  const transport = new TransportV1(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } });
  await client.connect(transport);
  const close = () => client.close();
  return {
    version: transport.protocolVersion,
    listTools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    call: (name, args, options = {}) => client.callTool({ name, arguments: args }, undefined, options) as Promise<CallToolResult>,
    close,
    [Symbol.asyncDispose]: close,
  };
}
