/** What `import … from "pi-relay"` gives to programs that embed Pi, and to other extensions. A test holds it to the code. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export interface McpAdapterOptions {
  /** The whole configuration, as `mcp.json` has it: nothing is read from files then. Copied; never changed. */
  readonly config?: object;
  /** In place of the file in Pi's directory; goes before `--mcp-config`. */
  readonly configPath?: string;
}

/** An extension for Pi's SDK. Each one has its own servers: several in one process do not see each other. */
export declare function createMcpAdapter(options?: McpAdapterOptions): (pi: ExtensionAPI) => void;

/** The extension over the usual files. */
declare const extension: (pi: ExtensionAPI) => void;
export default extension;

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

export interface McpReference {
  readonly raw: string;
  readonly server?: string;
  readonly tool?: string;
}

/** `mcp:server` or `mcp:server/tool`. Neither part: it is no such reference, or an empty one. */
export declare function parseMcpReference(raw: string): McpReference;

/** The server whose prefix the name bears, the longest if several do. Undefined: none, two with the same one, or without prefixes. */
export declare function resolveServerFromToolName(
  toolName: string,
  serverNames: readonly string[],
  prefix: "server" | "short" | "none" | "mcp",
): string | undefined;
