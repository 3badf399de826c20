/** A server of a few tools in a test's own words, as an upstream in this process. */
import { Server, type CallToolResult, type ServerCapabilities, type ServerContext, type Tool } from "@modelcontextprotocol/server";
import type { UpstreamFixture } from "./passage-under-test.ts";
import type { Speaks } from "./passing-surface.ts";

export type SmallRun = (args: Readonly<Record<string, unknown>>, context: ServerContext, server: Server) => unknown;

export interface SmallTool extends Partial<Tool> {
  readonly run?: SmallRun;
}

export interface SmallUpstream {
  readonly tools: Readonly<Record<string, SmallTool>>;
  readonly capabilities?: ServerCapabilities;
  readonly instructions?: string;
  /** Beside the tools. */
  readonly more?: (server: Server) => void;
}

export function smallUpstream(speaks: Speaks, { tools, capabilities, instructions, more }: SmallUpstream): UpstreamFixture {
  return {
    speaks,
    build() {
      const server = new Server(
        { name: "small", version: "1" },
        { capabilities: { tools: {}, ...capabilities }, ...(instructions !== undefined && { instructions }) },
      );
      server.setRequestHandler("tools/list", () => ({
        tools: Object.entries(tools).map(([name, { run: _run, ...listed }]) => ({ name, inputSchema: { type: "object" as const }, ...listed })),
      }));
      server.setRequestHandler("tools/call", async ({ params }, context) => {
        const run = tools[params.name]?.run ?? (() => said(params.name));
        return (await run(params.arguments ?? {}, context, server)) as CallToolResult;
      });
      more?.(server);
      return server;
    },
  };
}

export function said(text: string): CallToolResult {
  return { content: [{ type: "text", text }] };
}
