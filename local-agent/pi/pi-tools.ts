/** The adapter's tools as tools of a Pi session, kept in step with what the upstreams offer. */
import type { ExtensionAPI, ToolDefinition } from "@earendil-works/pi-coding-agent";
import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import { visibleLine } from "../../shared/visible-text.ts";
import type { Adapter, AdapterCall, AdapterResult, OfferedTool } from "../adapter/adapter.ts";
import { PI_TOOLS } from "../adapter/catalog/direct-selection.ts";
import type { AdapterSettings } from "../adapter/config/server-definition.ts";
import type { HostTool } from "../adapter/proxy/host-tools.ts";
import { StartTimeout } from "./session-adapter.ts";
import { createToolNames } from "./tool-names.ts";
import { toolRenderers } from "./tool-rendering.ts";

export interface PiTools {
  /** Registers what is new or changed and hides what is gone. Changes nothing where nothing changed, so that prompt caches stay valid. */
  sync(adapter: Adapter): void;
  /** [PI80] What `mcp` is called: Pi keeps the first tool of a name, and another extension of the session may have had it. */
  readonly proxyName: () => string;
  /** [PI13] The adapter could not be made: `mcp` is there all the same, says why, and tries again at each use. */
  offerRetry(cause: string): void;
  /** Whether Pi has a tool by this name that is not of this adapter. */
  readonly isNative: (name: string) => boolean;
  /** [PI74] What Pi's model can call besides this adapter's tools. */
  readonly hostTools: () => readonly HostTool[];
}

type Run = (adapter: Adapter, call: AdapterCall) => Promise<AdapterResult>;

/** When the model is shown a tool: from its registration on, once a search found it, or where a person or a subagent names it. */
type Shown = "always" | "when found" | "when named";

interface Registered {
  /** What it looks like; null: hidden since. */
  readonly looks: string | null;
  readonly shown: Shown;
}

/** @param adapter the one of now: tools outlive the adapter they were registered for */
export function createPiTools(pi: ExtensionAPI, adapter: () => Promise<Adapter>): PiTools {
  const registered = new Map<string, Registered>();
  const names = createToolNames({ isOwn: (name) => registered.has(name), others: () => otherTools(pi) });

  function register(tool: OfferedTool, { settings, shown, run }: { settings: Rendering; shown: Shown; run: Run }): void {
    const looks = JSON.stringify([tool, settings, shown]);
    if (registered.get(tool.name)?.looks === looks) return;
    registered.set(tool.name, { looks, shown });
    pi.registerTool({
      ...definition(tool, (call) => perform(run, call)),
      ...toolRenderers(tool.name, settings),
      ...(shown !== "always" && { defaultActive: false }),
    });
  }

  async function perform(run: Run, call: AdapterCall): Promise<AdapterResult> {
    let current: Adapter;
    try {
      current = await adapter();
    } catch (error) {
      return unavailable(error);
    }
    const result = await run(current, call);
    activate(result.details["activated"]);
    return result;
  }

  /** [PI52] Tools that are shown only once a search found them. */
  function activate(found: unknown): void {
    if (!Array.isArray(found)) return;
    const active = pi.getActiveTools();
    const more = found.filter((name: unknown) => typeof name === "string" && registered.get(name)?.shown === "when found" && !active.includes(name));
    if (more.length > 0) pi.setActiveTools([...active, ...more]);
  }

  function hide(name: string): void {
    registered.set(name, { looks: null, shown: "always" });
    pi.registerTool({ ...definition(gone(name), notThere), exposure: "hidden" });
  }

  function hostTools(): readonly HostTool[] {
    return otherTools(pi).filter(({ name, isActive }) => isActive && !registered.has(name));
  }

  function isNative(name: string): boolean {
    const looks = registered.get(name)?.looks;
    return PI_TOOLS.has(name) || (typeof looks !== "string" && looks !== null && otherTools(pi).some((tool) => tool.name === name));
  }

  return {
    isNative,
    hostTools,
    proxyName: () => names.free(PROXY),
    sync(now) {
      const { settings } = now.config;
      const wanted = new Set<string>();
      const offer = (tool: OfferedTool | null, run: Run, shown: Shown = "always"): void => {
        if (tool === null || wanted.has(tool.name)) return;
        wanted.add(tool.name);
        register(tool, { settings: renderingOf(settings), shown, run });
      };
      offer(names.named(now.proxyTool()), (current, call) => current.mcp(call));
      offer(names.named(now.scriptTool()), (current, call) => current.script(call));
      for (const tool of now.directTools()) {
        if (!isNative(tool.name)) offer(tool, (current, call) => current.direct(tool.name, call), tool.shown ? "always" : "when found");
      }
      // [PI65] Each is as much again for the model as `mcp`, which reaches the same tools.
      for (const tool of now.namespaceTools()) {
        if (!isNative(tool.name)) offer(tool, (current, call) => current.namespace(tool.name, call), "when named");
      }
      for (const [name, { looks }] of registered) if (looks !== null && !wanted.has(name)) hide(name);
    },
    offerRetry(cause) {
      register(names.named(retryTool(cause)), { settings: DEFAULT_RENDERING, shown: "always", run: (current, call) => current.mcp(call) });
    },
  };
}

const PROXY = "mcp";

type Rendering = Pick<AdapterSettings, "toolResultRendering" | "collapsedResultLines">;
const DEFAULT_RENDERING: Rendering = { toolResultRendering: "boxed", collapsedResultLines: 3 };

function renderingOf({ toolResultRendering, collapsedResultLines }: AdapterSettings): Rendering {
  return { toolResultRendering, collapsedResultLines };
}

/** Nobody can say before the session has begun; then only the names every Pi has are taken. */
function otherTools(pi: ExtensionAPI): readonly (HostTool & { readonly isActive: boolean })[] {
  try {
    const active = new Set(pi.getActiveTools());
    return pi.getAllTools().map(({ name, description }) => ({ name, description, isActive: active.has(name) }));
  } catch {
    return [];
  }
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

function unavailable(error: unknown): AdapterResult {
  const cause = error instanceof Error ? error.message : String(error);
  const text = `The MCP servers are not available: ${cause}. The next call tries again.`;
  return { content: [{ type: "text", text }], details: { error: error instanceof StartTimeout ? "init_timeout" : "init_failed" }, isError: true };
}

function retryTool(cause: string): OfferedTool {
  return {
    name: "mcp",
    title: "MCP",
    description: `Uses the MCP servers of this workstation. They could not be started: ${visibleLine(cause, 1000)}. Each call tries again; {} tells how they stand.`,
    inputSchema: { type: "object", properties: {}, additionalProperties: true },
    annotations: {},
    promptSnippet: "Find and call tools of the MCP servers on this workstation",
  };
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
