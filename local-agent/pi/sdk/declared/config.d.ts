/** What `import … from "pi-relay/config"` gives. */
import type { McpConfig } from "./types.js";

/**
 * The files that count for a directory, merged: nothing is started, and no variable or command in them is expanded. A project's settings
 * are left out, because nobody was asked about them; whoever runs what a project's servers say has to ask.
 * @param configPath in place of the file in Pi's directory
 */
export declare function loadMcpConfig(configPath?: string, cwd?: string): Promise<McpConfig & { readonly warnings: readonly string[] }>;
