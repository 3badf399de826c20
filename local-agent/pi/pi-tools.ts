/** The adapter's tools as tools of a Pi session, kept in step with what the upstreams offer. */
import type { ExtensionAPI, ToolDefinition } from "@earendil-works/pi-coding-agent";
import type { JsonObject } from "../../shared/json.ts";
import { isJsonObject } from "../../shared/json.ts";
import type { Adapter, AdapterCall, AdapterResult, OfferedTool } from "../adapter/adapter.ts";

/** Pi's own tools, which no upstream may stand in for. */
const NATIVE: ReadonlySet<string> = new Set(["read", "bash", "powershell", "edit", "write", "grep", "find", "ls"]);

export interface PiTools {
  /** Registers what is new or changed and hides what is gone. Changes nothing where nothing changed, so that prompt caches stay valid. */
  sync(adapter: Adapter): void;
  /** Hides everything. */
  withdraw(): void;
}

export function createPiTools(pi: ExtensionAPI, taken: () => ReadonlySet<string>): PiTools {
  /** What each registered tool looked like, by name; null: hidden since. */
  const registered = new Map<string, string | null>();

  function register(tool: OfferedTool, more: Partial<ToolDefinition>, run: (call: AdapterCall) => Promise<AdapterResult>): void {
    const looks = JSON.stringify([tool, more]);
    if (registered.get(tool.name) === looks) return;
    registered.set(tool.name, looks);
    pi.registerTool({ ...definition(tool, run), ...more });
  }

  function hide(name: string): void {
    registered.set(name, null);
    pi.registerTool({ ...definition(gone(name), notThere), exposure: "hidden" });
  }

  return {
    sync(adapter) {
      const wanted = new Set<string>();
      const offer = (tool: OfferedTool | null, more: Partial<ToolDefinition>, run: (call: AdapterCall) => Promise<AdapterResult>): void => {
        if (tool === null || wanted.has(tool.name)) return;
        wanted.add(tool.name);
        register(tool, more, run);
      };
      offer(adapter.proxyTool(), {}, (call) => adapter.mcp(call));
      offer(adapter.scriptTool(), {}, (call) => adapter.script(call));
      const others = taken();
      for (const tool of adapter.directTools()) {
        const isOurs = typeof registered.get(tool.name) === "string";
        if (NATIVE.has(tool.name) || (others.has(tool.name) && !isOurs)) continue;
        offer(tool, tool.shown ? {} : { defaultActive: false }, (call) => adapter.direct(tool.name, call));
      }
      for (const [name, looks] of registered) if (looks !== null && !wanted.has(name)) hide(name);
    },
    withdraw() {
      for (const [name, looks] of registered) if (looks !== null) hide(name);
    },
  };
}

function definition(tool: OfferedTool, run: (call: AdapterCall) => Promise<AdapterResult>): ToolDefinition {
  return {
    name: tool.name,
    label: tool.title,
    description: tool.description,
    promptSnippet: tool.promptSnippet,
    parameters: tool.inputSchema,
    annotations: tool.annotations,
    async execute(callId, params, signal, onUpdate) {
      const { content, details, isError } = await run({
        args: argumentsOf(params),
        callId,
        caller: { kind: "pi" },
        signal: signal ?? new AbortController().signal,
        onProgress: (message) => onUpdate?.({ content: [{ type: "text", text: message }], details: {} }),
      });
      return { content: content.map((part) => ({ ...part })), details, isError };
    },
  };
}

function argumentsOf(params: unknown): JsonObject {
  return isJsonObject(params) ? params : {};
}

function gone(name: string): OfferedTool {
  return {
    name,
    title: name,
    description: "No longer offered.",
    inputSchema: { type: "object", properties: {} },
    annotations: {},
    promptSnippet: "",
  };
}

function notThere(): Promise<AdapterResult> {
  return Promise.resolve({ content: [{ type: "text", text: "This tool is no longer offered." }], details: {}, isError: true });
}
