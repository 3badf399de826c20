/** One tool for all tools of a server, for hosts that offer such. */
import type { AdapterCall, AdapterResult, NamespaceTool } from "../adapter.ts";
import { answerProblem } from "./modes/answer.ts";
import { callMode } from "./modes/call.ts";
import type { ProxyParts } from "./proxy-parts.ts";
import { quoted } from "./proxy-parts.ts";
import { readRequest } from "./proxy-request.ts";

/** [CL89] Its bytes depend on the server's name only. */
export function namespaceTool(name: string, server: string): NamespaceTool {
  return {
    name,
    server,
    title: server,
    description: `Calls a tool of the MCP server ${quoted(server)}. mcp({server: ${JSON.stringify(server)}}) lists them, mcp({describe: "tool"}) shows one's parameters.`,
    inputSchema: {
      type: "object",
      properties: {
        tool: { type: "string", description: "Tool to call" },
        args: { anyOf: [{ type: "object" }, { type: "string" }], description: "Its arguments, also as JSON text" },
      },
      required: ["tool"],
    },
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    promptSnippet: `Call a tool of the MCP server ${quoted(server)}`,
  };
}

export async function callNamespace(name: string, call: AdapterCall, parts: ProxyParts, tools: readonly NamespaceTool[]): Promise<AdapterResult> {
  const server = tools.find((tool) => tool.name === name)?.server;
  const details = { mode: "call" };
  if (server === undefined) {
    const message = `${quoted(name)} is not offered any more. mcp({search: "what you need"}) finds what is.`;
    return answerProblem(parts.presenter, { code: "tool_not_found", message }, details);
  }
  const { tool, args, ...others } = call.args;
  const read = readRequest({ ...others, tool: tool ?? null, args: args ?? null, server });
  if (!read.ok) return answerProblem(parts.presenter, read.error, details);
  if (read.value.mode === "call") return callMode(read.value, parts, call);
  return answerProblem(parts.presenter, { code: "invalid_request", message: `"tool" must name a tool of ${quoted(server)}.` }, details);
}
