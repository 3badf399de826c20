/** What the adapter costs: tokens of its tools, a call beside the SDK's client alone, and a start with twenty known servers. */
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { Server } from "@modelcontextprotocol/server";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import type { OfferedTool } from "../../local-agent/adapter/adapter.ts";
import { mcpTool } from "../../local-agent/adapter/proxy/mcp-tool.ts";
import { SCRIPT_TOOL } from "../../local-agent/adapter/script/script-tool.ts";
import { TEN_SERVERS } from "../fixtures/adapter/ten-servers.ts";
import { type PlayedServer, playedAdapter, remote } from "../support/adapter-under-test.ts";
import { memoryMetadataStore } from "../support/memory-metadata-store.ts";
import { median, medians } from "./measure.ts";

export interface AdapterCosts {
  readonly tokens: ReadonlyMap<string, number>;
  /** Median milliseconds of one call of a tool that does nothing. */
  readonly callMs: ReadonlyMap<string, number>;
  /** Median milliseconds from nothing to the first answer of `mcp`, with 20 servers and 2,000 tools kept from an earlier run. */
  readonly startMs: number;
}

export async function measureAdapter(): Promise<AdapterCosts> {
  const tokens = new Map([
    ["mcp, ten servers", tokensOf(mcpTool(TEN_SERVERS))],
    ["mcp, no server", tokensOf(mcpTool([]))],
    ["mcpScript", tokensOf(SCRIPT_TOOL)],
  ]);
  const metadata = memoryMetadataStore();
  const servers = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`server${n}`, playedServer()]));
  const under = await playedAdapter(servers, { metadata });
  for (const server of Object.keys(servers)) await under.mcp({ connect: server });
  const client = await plainClient();
  const args = { q: "x" };
  const caller = remote("grant:1");
  const callMs = await medians(
    [
      { name: "SDK client", once: async () => void (await client.callTool({ name: "tool50", arguments: args })) },
      { name: "through mcp", once: async () => void (await under.mcp({ tool: "server3_tool50", args }, { caller })) },
    ],
    5,
    200,
  );
  await client.close();
  await under.adapter.close();
  const starts: number[] = [];
  for (let n = 0; n < 9; n += 1) {
    const begun = performance.now();
    const started = await playedAdapter(servers, { metadata });
    await started.mcp({});
    starts.push(performance.now() - begun);
    await started.adapter.close();
  }
  return { tokens, callMs, startMs: median(starts) };
}

function tokensOf({ name, description, inputSchema }: OfferedTool): number {
  return encode(JSON.stringify({ name, description, inputSchema })).length;
}

const TOOLS = Object.fromEntries(
  Array.from({ length: 100 }, (_, n) => {
    const properties = { q: { type: "string" }, n: { type: "integer" }, list: { type: "array", items: { type: "string" } } };
    return [`tool${n}`, { description: `Does thing ${n}.`, inputSchema: { type: "object" as const, properties, required: ["q"] } }];
  }),
);

function playedServer(): PlayedServer {
  return { tools: TOOLS, instructions: "Say what you need." };
}

async function plainClient(): Promise<Client> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const server = new Server({ name: "plain", version: "1.0.0" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => ({ tools: Object.entries(TOOLS).map(([name, tool]) => ({ name, ...tool })) }));
  server.setRequestHandler("tools/call", ({ params }) => ({ content: [{ type: "text", text: `ran ${params.name}` }] }));
  await server.connect(far);
  const client = new Client({ name: "bench", version: "1.0.0" });
  await client.connect(near);
  await client.listTools();
  return client;
}
