/** The configured MCP servers as tools of this agent: `mcp`, `mcpScript`, and what is offered by its own name (docs/spec/upstream-calls.md). */
import { ok } from "../../shared/result.ts";
import type { ToolCall, ToolDescriptor, ToolOutcome } from "../../shared/tool.ts";
import type { Adapter, AdapterCall, AdapterResult, OfferedTool } from "../adapter/adapter.ts";
import { asGiven, prepareCall } from "./prepared-call.ts";
import type { CallScope, ScopedTools } from "./tool-call.ts";

/** [CL90] The same tools and, after them, those of the upstreams. A name that is taken is never shadowed: its upstream tool is called through `mcp`. */
export function withUpstreamTools(tools: ScopedTools, adapter: Adapter, reserved: ReadonlySet<string>): ScopedTools {
  const runs = (): ReadonlyMap<string, UpstreamRun> => upstreamRuns(adapter, new Set([...reserved, ...tools.list().map(({ name }) => name)]));
  const source: ScopedTools = {
    list: () => [...tools.list(), ...[...runs().values()].map(({ tool }) => describe(tool))],
    silence: (name) => tools.silence?.(name),
    async call(call, scope) {
      const found = runs().get(call.name);
      return found === undefined ? tools.call(call, scope) : outcomeOf(await found.run(adapterCall(call, scope)));
    },
    prepare: async (call, scope) => (runs().has(call.name) ? ok(asGiven(source, call, scope)) : prepareCall(tools, call, scope)),
  };
  return source;
}

interface UpstreamRun {
  readonly tool: OfferedTool;
  readonly run: (call: AdapterCall) => Promise<AdapterResult>;
}

function upstreamRuns(adapter: Adapter, taken: ReadonlySet<string>): ReadonlyMap<string, UpstreamRun> {
  const found = new Map<string, UpstreamRun>();
  const offer = (tool: OfferedTool | null, run: UpstreamRun["run"]): void => {
    if (tool !== null && !found.has(tool.name)) found.set(tool.name, { tool, run });
  };
  offer(adapter.proxyTool(), (call) => adapter.mcp(call));
  offer(adapter.scriptTool(), (call) => adapter.script(call));
  for (const tool of adapter.directTools()) {
    if (tool.shown && !taken.has(tool.name)) offer(tool, (call) => adapter.direct(tool.name, call));
  }
  return found;
}

function adapterCall({ args, callId, onProgress }: ToolCall, { principal, probe, signal }: CallScope): AdapterCall {
  return {
    args,
    callId,
    caller: { kind: "remote", principalId: principal.id, client: principal.name, probe },
    signal,
    onProgress: (message) => onProgress({ delta: `${message}\n` }),
  };
}

/** What MCP assumes of a tool that says nothing about itself (2026-07-28 schema, `ToolAnnotations`). */
const UNSAID = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true };

function describe({ name, title, description, inputSchema, annotations, promptSnippet }: OfferedTool): ToolDescriptor {
  return { name, title, description, inputSchema, annotations: { ...UNSAID, ...annotations }, promptSnippet };
}

/** The details are for the host the adapter runs in; all that a client has to know is in the content. */
function outcomeOf({ content, isError }: AdapterResult): ToolOutcome {
  return { content, isError };
}
