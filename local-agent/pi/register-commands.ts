/** The extension's slash commands. Each answers in every mode of Pi, and waits for a person only where there is a terminal. */
import { homedir } from "node:os";
import type { ExtensionAPI, ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import type { TokenStore } from "../node/keyring-tokens.ts";
import { completionsOf } from "./mcp-completions.ts";
import type { CommandAnswer, ConfigEdits, McpCommandParts } from "./mcp-subcommand.ts";
import type { SessionAdapter } from "./session-adapter.ts";
import { showAnswer } from "./show-answer.ts";

export interface CommandParts {
  readonly session: SessionAdapter;
  /** Null where no file may be written: the program that runs Pi gave the servers. */
  readonly edits: ConfigEdits | null;
}

export function registerCommands(pi: ExtensionAPI, parts: CommandParts): void {
  const mcp = {
    description: "MCP servers: status, config, tools, prompts, reconnect, disable, enable, direct, token",
    getArgumentCompletions: (typed: string) => completionsOf(typed, serverNames(parts.session)).map((value) => ({ value, label: value })),
    handler: async (args: string, ctx: ExtensionCommandContext) => {
      const given = await run(parts, args, ctx);
      if (given !== null) await showAnswer(pi, ctx, given);
    },
  };
  pi.registerCommand("mcp", mcp);
  pi.registerCommand("pi-mcp", mcp);
  pi.registerCommand("mcp-auth", {
    description: "Sign in to an MCP server",
    handler: (_args, ctx) =>
      showAnswer(pi, ctx, {
        text: "Signing in to MCP servers comes in a later version. Use headers or a bearer token until then.",
        level: "warning",
      }),
  });
}

/** Null: everything was said in the panel. */
async function run({ session, edits }: CommandParts, args: string, ctx: ExtensionCommandContext): Promise<CommandAnswer | null> {
  let parts: McpCommandParts;
  try {
    const adapter = await session.get();
    parts = { adapter, signal: ctx.signal ?? new AbortController().signal, edits, tokens: keptTokens, home: homedir(), now: Date.now };
  } catch (error) {
    return { text: `MCP servers are not available: ${error instanceof Error ? error.message : String(error)}`, level: "error" };
  }
  // [PI61] Elsewhere nobody would see it, and the command would never end.
  if (args.trim() !== "" || ctx.mode !== "tui" || edits === null) {
    const { runMcpCommand } = await import("./mcp-command.ts");
    return runMcpCommand(parts, args);
  }
  const { runPanel } = await import("./mcp-panel.ts");
  await runPanel(ctx.ui, parts);
  return null;
}

async function keptTokens(): Promise<TokenStore> {
  const { keyringTokens } = await import("../node/keyring-tokens.ts");
  return keyringTokens();
}

function serverNames(session: SessionAdapter): readonly string[] {
  const state = session.state();
  return state.at === "ready" ? state.adapter.pool.servers() : [];
}
