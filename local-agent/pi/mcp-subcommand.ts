/** What a subcommand of `/mcp` works with, and what it answers. */
import { nearest } from "../../shared/nearest.ts";
import type { Adapter } from "../adapter/adapter.ts";
import type { DirectTools } from "../adapter/config/server-definition.ts";
import type { TokenStore } from "../node/keyring-tokens.ts";

/** A subcommand's answer, and whether it is a complaint. */
export interface CommandAnswer {
  readonly text: string;
  readonly level: "info" | "warning" | "error";
}

/** What a person decides in Pi, kept in files of Pi's. Each resolves with the file that says so now, and rejects with a sentence. */
export interface ConfigEdits {
  setDisabled(server: string, disabled: boolean): Promise<string>;
  keepDirectTools(server: string, directTools: DirectTools): Promise<string>;
}

export interface McpCommandParts {
  readonly adapter: Adapter;
  readonly signal: AbortSignal;
  /** Null where there is no file to write (`createMcpAdapter({ config })`). */
  readonly edits: ConfigEdits | null;
  /** The operating system's, loaded when it is asked. */
  readonly tokens: () => Promise<TokenStore>;
  /** Absolute: what `~` stands for. */
  readonly home: string;
  readonly now: () => number;
}

/** @param rest what was typed after the subcommand; undefined: nothing */
export type Subcommand = (parts: McpCommandParts, rest: string | undefined) => Promise<CommandAnswer> | CommandAnswer;

export const OF_PROGRAM = "the servers were given by the program that runs Pi.";
export const NOTHING = "No MCP server is configured. Put one into .mcp.json or ~/.config/mcp/mcp.json.";

export function info(text: string): CommandAnswer {
  return { text, level: "info" };
}

export function unknownServer(server: string, servers: readonly string[]): CommandAnswer {
  const near = nearest(server, servers);
  const known = servers.length === 0 ? NOTHING : `Configured: ${servers.join(", ")}.`;
  return { text: `There is no MCP server ${server}${near === undefined ? "" : `; did you mean ${near}?`} ${known}`, level: "error" };
}
