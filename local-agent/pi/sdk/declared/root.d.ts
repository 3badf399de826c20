/** What `import … from "pi-relay"` gives to programs that embed Pi, and to other extensions. A test holds it to the code. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { McpConfig, MetadataCache } from "./types.js";

export * from "./types.js";

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

/** The tool that stands for a whole server. */
export declare function namespaceProxyName(server: string): string;

/**
 * References as names of registered tools, each once, in their order; a sentence for each that means none. What is no `mcp:` reference is
 * a name already.
 * @param cache of `pi-relay/metadata-cache`; null: nothing is known yet
 * @param directTools as `MCP_DIRECT_TOOLS` has it, in parts; without it, what the configuration says
 */
export declare function resolveMcpToolReferences(
  references: readonly string[],
  config: McpConfig | null,
  cache: MetadataCache | null,
  directTools?: readonly string[],
): { readonly names: readonly string[]; readonly diagnostics: readonly string[] };
