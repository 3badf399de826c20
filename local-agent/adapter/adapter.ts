/** The adapter: the configured MCP servers behind one small tool. The daemon and the Pi extension drive it (docs/architecture.md). */
import type { GetPromptResult } from "@modelcontextprotocol/client";
import type { JsonObject } from "../../shared/json.ts";
import type { Result } from "../../shared/result.ts";
import type { ToolContent } from "../../shared/tool.ts";
import type { CatalogEntry, UpstreamPrompt } from "./catalog/upstream-catalog.ts";
import type { DirectTools, UpstreamConfig } from "./config/server-definition.ts";
import type { Caller } from "./ports.ts";
import type { ServerPassage } from "./server-passage.ts";
import type { UpstreamPool } from "./upstream/upstream-pool.ts";

/** A tool as a model is shown it. Its bytes depend on the configuration only, so that a provider's prompt cache stays valid. */
export interface OfferedTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly annotations: {
    readonly readOnlyHint?: boolean;
    readonly destructiveHint?: boolean;
    readonly idempotentHint?: boolean;
    readonly openWorldHint?: boolean;
  };
  readonly promptSnippet: string;
}

/** A tool of an upstream that is offered by its own name. */
export interface DirectTool extends OfferedTool {
  readonly entry: CatalogEntry;
  /** False: registered, but shown only after a search found it. */
  readonly shown: boolean;
}

/** Stands for all tools of one server. */
export interface NamespaceTool extends OfferedTool {
  readonly server: string;
}

export interface AdapterCall {
  readonly args: JsonObject;
  /** Unique per call. */
  readonly callId: string;
  readonly caller: Caller;
  readonly signal: AbortSignal;
  /** A line on what the upstream says of its progress. */
  readonly onProgress: (message: string) => void;
}

/**
 * What a call gives: content for the model, and details for the host (Pi keeps them with the message). `details.error` is a code of
 * docs/spec/upstream-calls.md; `isError` is set for what the model must see as a failed call.
 */
export interface AdapterResult {
  readonly content: readonly ToolContent[];
  readonly details: JsonObject;
  readonly isError: boolean;
}

/** A prompt of an upstream as a slash command. */
export interface PromptCommand {
  /** `mcp__<server>__<prompt>`. */
  readonly command: string;
  readonly server: string;
  readonly prompt: UpstreamPrompt;
}

export type AdapterEvent =
  /** Status, tools or prompts may have changed. */
  | { readonly t: "status" }
  | { readonly t: "tools" }
  | { readonly t: "prompts" }
  | { readonly t: "notice"; readonly level: "info" | "warning"; readonly text: string };

export interface Adapter {
  readonly config: UpstreamConfig;
  readonly pool: UpstreamPool;
  /** For clients that see a server as it is. */
  readonly passage: ServerPassage;
  /** Every configured tool and resource tool, filtered, by the names they are shown under. */
  entries(): readonly CatalogEntry[];
  /** Null with `disableProxyTool` once every direct tool is known, and when nothing is configured. */
  proxyTool(): OfferedTool | null;
  scriptTool(): OfferedTool | null;
  directTools(): readonly DirectTool[];
  /**
   * Takes the place of what is configured for the server, until the adapter ends. False: `MCP_DIRECT_TOOLS` decides, and nothing is
   * changed by it.
   */
  setDirectTools(server: string, directTools: DirectTools): boolean;
  /** One for each server whose tools are known and not all direct; empty where the settings do not want them. No host has to offer them. */
  namespaceTools(): readonly NamespaceTool[];
  /** The tool `mcp`. Never rejects. */
  mcp(call: AdapterCall): Promise<AdapterResult>;
  /** The tool `mcpScript`. Never rejects. */
  script(call: AdapterCall): Promise<AdapterResult>;
  /** A direct tool by its shown name. Never rejects. */
  direct(name: string, call: AdapterCall): Promise<AdapterResult>;
  /** A namespace tool by its name. Never rejects. */
  namespace(name: string, call: AdapterCall): Promise<AdapterResult>;
  promptCommands(): readonly PromptCommand[];
  /** Fetches a prompt; the error is a sentence for the person. */
  prompt(command: string, args: string, call: Omit<AdapterCall, "args">): Promise<Result<GetPromptResult, string>>;
  subscribe(listener: (event: AdapterEvent) => void): () => void;
  /** Ends every connection, process and file of it. */
  close(): Promise<void>;
}
