/** What `import … from "pi-relay/types"` gives. A test holds these declarations to the code. */

/** Channel of `pi.events` with an `McpStatusSnapshot` at the start, at each change, and an empty one when the session ends. */
export declare const MCP_STATUS_EVENT: "pi-mcp-adapter/status/v1";

export type McpServerStatus = "connected" | "cached" | "failed" | "needs-auth" | "not-connected" | "disabled";

export interface McpServerSnapshot {
  readonly name: string;
  readonly status: McpServerStatus;
  /** With those that read a resource. */
  readonly toolCount: number;
  readonly directToolCount: number;
  readonly disabled: boolean;
  /** Left out while nothing is known of them. */
  readonly resourceCount?: number;
  /** Only while a failure keeps it from being tried again. */
  readonly failedAgoSeconds?: number;
  readonly listenState: "active" | "dropped" | "re-establishing" | "legacy" | "not-listening" | "disconnected";
  readonly catalogStale?: boolean;
}

export interface McpStatusSnapshot {
  readonly version: 1;
  readonly servers: readonly McpServerSnapshot[];
  readonly totalTools: number;
  readonly totalResources: number;
  readonly connectedCount: number;
  readonly disabledCount: number;
}

/** Channel of `pi.events` with an `McpToolApprovalRequest` before each call: whoever claims it first decides. */
export declare const MCP_TOOL_APPROVAL_REQUEST_EVENT: "pi-mcp-adapter:tool-approval-request";

export type McpToolApprovalAnswer = "allow_once" | "allow_for_session" | "deny" | "abstain";

export interface McpToolApprovalRequest {
  readonly requestId: string;
  readonly serverName: string;
  readonly originalToolName: string;
  readonly prefixedToolName: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly origin: "proxy" | "direct" | "script" | "resource";
  readonly signal?: AbortSignal;
  /** Takes the decision over. Only during the event, and only the first time. Anything but an answer is a denial. */
  claim(decide: () => McpToolApprovalAnswer | Promise<McpToolApprovalAnswer>): void;
}

/** An entry of `mcpServers`; docs/configuration.md has all its fields. */
export interface ServerEntry {
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly socket?: string;
  readonly disabled?: boolean;
  readonly [field: string]: unknown;
}

/** As `mcp.json` has it. */
export interface McpConfig {
  readonly mcpServers: Readonly<Record<string, ServerEntry>>;
  readonly settings?: Readonly<Record<string, unknown>>;
}

/** One server's part of `mcp-cache.json`. Times in milliseconds, `cachedAt` since the epoch. */
export interface ServerCacheEntry {
  readonly configHash: string;
  /** `name` is the server's own name of the tool. */
  readonly tools: readonly {
    readonly name: string;
    readonly description?: string;
    readonly inputSchema?: object;
    readonly [field: string]: unknown;
  }[];
  readonly resources?: readonly { readonly uri: string; readonly name: string; readonly [field: string]: unknown }[];
  readonly prompts?: readonly { readonly name: string; readonly [field: string]: unknown }[];
  readonly instructions?: string;
  readonly ttlMs?: number;
  readonly cachedAt: number;
}

export interface MetadataCache {
  readonly version: 1;
  readonly servers: Readonly<Record<string, ServerCacheEntry>>;
}
