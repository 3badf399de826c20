/**
 * The Pi extension: the MCP servers of this machine behind one small tool, in the place of Pi's own MCP support, which gives way to
 * whoever registers `/mcp`. Programs that embed Pi import it through sdk/root.ts.
 */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { JsonObject } from "../../shared/json.ts";
import { installExtension } from "./install-extension.ts";

export interface McpAdapterOptions {
  /** The whole configuration, as `mcp.json` has it: nothing is read from files then. Copied; never changed. */
  readonly config?: object;
  /** In place of the file in Pi's directory; goes before `--mcp-config`. */
  readonly configPath?: string;
}

/** An extension for Pi's SDK. Each one has its own servers: several in one process do not see each other. */
export function createMcpAdapter(options: McpAdapterOptions = {}): (pi: ExtensionAPI) => void {
  const config = options.config === undefined ? null : (structuredClone(options.config) as JsonObject);
  return (pi) => installExtension(pi, { config: structuredClone(config), configPath: options.configPath ?? null });
}

export default createMcpAdapter();
