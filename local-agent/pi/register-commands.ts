/** The extension's slash commands. Each answers in every mode of Pi, and waits for a person only where there is a terminal. */
import type { ExtensionAPI, ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import type { SessionFiles } from "./config-edits.ts";
import { completionsOf, runMcpCommand } from "./mcp-command.ts";
import { runPanel } from "./mcp-panel.ts";
import type { CommandAnswer, ConfigEdits, McpCommandParts } from "./mcp-subcommand.ts";
import type { SessionAdapter } from "./session-adapter.ts";
import { showAnswer } from "./show-answer.ts";

export interface CommandParts {
  readonly session: SessionAdapter;
  /** Null where no file may be written: the program that runs Pi gave the servers. */
  readonly files: (() => SessionFiles) | null;
}

export function registerCommands(pi: ExtensionAPI, parts: CommandParts): void {
  const mcp = {
    description: "MCP servers: status, tools, prompts, reconnect, disable, enable, direct",
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
async function run({ session, files }: CommandParts, args: string, ctx: ExtensionCommandContext): Promise<CommandAnswer | null> {
  let parts: McpCommandParts;
  try {
    const adapter = await session.get();
    parts = { adapter, signal: ctx.signal ?? new AbortController().signal, edits: files === null ? null : editsOf(files), now: Date.now };
  } catch (error) {
    return { text: `MCP servers are not available: ${error instanceof Error ? error.message : String(error)}`, level: "error" };
  }
  // [PI61] Elsewhere nobody would see it, and the command would never end.
  if (args.trim() !== "" || ctx.mode !== "tui" || files === null) return runMcpCommand(parts, args);
  await runPanel(ctx.ui, parts);
  return null;
}

function serverNames(session: SessionAdapter): readonly string[] {
  const state = session.state();
  return state.at === "ready" ? state.adapter.pool.servers() : [];
}

/** What writes files is loaded when something is to be written. */
function editsOf(files: () => SessionFiles): ConfigEdits {
  const edits = async (): Promise<ConfigEdits> => {
    const { createConfigEdits } = await import("./config-edits.ts");
    return createConfigEdits(files());
  };
  return {
    setDisabled: async (server, disabled) => (await edits()).setDisabled(server, disabled),
    keepDirectTools: async (server, directTools) => (await edits()).keepDirectTools(server, directTools),
  };
}
