/**
 * The Pi extension: the MCP servers of this machine behind one small tool, in the place of Pi's own MCP support, which gives way to
 * whoever registers `/mcp`.
 */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { JsonObject } from "../../shared/json.ts";
import type { Adapter } from "../adapter/adapter.ts";
import { footerText } from "./footer.ts";
import { createKeptApprovals } from "./kept-approvals.ts";
import { completionsOf, runMcpCommand, show, type CommandAnswer } from "./mcp-command.ts";
import { EMPTY_STATUS, MCP_STATUS_EVENT, statusSnapshot } from "./mcp-status.ts";
import { createPiTools } from "./pi-tools.ts";
import type { PiHost } from "./pi-host.ts";
import { createPromptCommands } from "./prompt-commands.ts";
import { createSessionAdapter, type SessionAdapter } from "./session-adapter.ts";

export interface McpAdapterOptions {
  /** The whole configuration, as `mcp.json` has it: nothing is read from files then. Copied; never changed. */
  readonly config?: object;
  /** In place of the file in Pi's directory; goes before `--mcp-config`. */
  readonly configPath?: string;
}

/** An extension for Pi's SDK. Each one has its own servers: several in one process do not see each other. */
export function createMcpAdapter(options: McpAdapterOptions = {}): (pi: ExtensionAPI) => void {
  const config = options.config === undefined ? null : (structuredClone(options.config) as JsonObject);
  return (pi) => install(pi, { config, configPath: options.configPath ?? null });
}

export default createMcpAdapter();

interface Installed {
  readonly config: JsonObject | null;
  readonly configPath: string | null;
}

function install(pi: ExtensionAPI, options: Installed): void {
  let context: ExtensionContext | null = null;
  const host: PiHost = { pi, session: () => context };
  const kept = createKeptApprovals(host);
  const tools = createPiTools(pi, () => new Set(pi.getAllTools().map(({ name }) => name)));
  const session = createSessionAdapter(makeAdapter, onReady);
  const prompts = createPromptCommands(host, () => session.get());

  async function makeAdapter(): Promise<Adapter> {
    // What talks to servers is loaded when there is a session, not with Pi.
    const { createPiAdapter } = await import("./pi-adapter.ts");
    const flag = pi.getFlag("mcp-config");
    return createPiAdapter(host, kept, { ...options, configPath: options.configPath ?? (typeof flag === "string" && flag !== "" ? flag : null) });
  }

  function onReady(adapter: Adapter): void {
    const onChange = (): void => {
      pi.events.emit(MCP_STATUS_EVENT, statusSnapshot(adapter, Date.now()));
      context?.ui.setStatus("mcp", footerText(adapter));
    };
    tools.sync(adapter);
    prompts.sync(adapter);
    onChange();
    adapter.subscribe((event) => {
      if (event.t === "tools") tools.sync(adapter);
      if (event.t === "prompts") prompts.sync(adapter);
      if (event.t === "notice") context?.ui.notify(event.text, event.level);
      else onChange();
    });
  }

  pi.registerFlag("mcp-config", { type: "string", description: "MCP configuration file, in place of mcp.json in Pi's directory" });
  registerCommands(pi, session, options.config === null ? () => context?.cwd ?? process.cwd() : null);

  pi.on("session_start", async (_event, started) => {
    context = started;
    try {
      await session.get();
    } catch (error) {
      started.ui.notify(`MCP servers are not available: ${error instanceof Error ? error.message : String(error)}`, "error");
    }
  });
  pi.on("session_tree", () => kept.forgetBranch());
  pi.on("session_shutdown", async () => {
    await session.end();
    context = null;
    pi.events.emit(MCP_STATUS_EVENT, EMPTY_STATUS);
  });
  pi.on("input", async () => {
    const state = session.state();
    if (state.at === "ready") await state.adapter.pool.refreshKeptAlive(AbortSignal.timeout(REFRESH_MS));
  });
  pi.on("mcp_servers_change", async () => {
    if (context === null) return;
    // A server was added or taken away: everything is read anew.
    await session.end();
    await session.get().catch(() => {});
  });
}

/** A turn does not wait longer for the lists of servers that are kept connected. */
const REFRESH_MS = 5000;

function registerCommands(pi: ExtensionAPI, session: SessionAdapter, projectDir: (() => string) | null): void {
  const serverNames = (): readonly string[] => {
    const state = session.state();
    return state.at === "ready" ? state.adapter.pool.servers() : [];
  };
  const mcp = {
    description: "MCP servers: status, tools, prompts, reconnect, disable, enable",
    getArgumentCompletions: (typed: string) => completionsOf(typed, serverNames()).map((value) => ({ value, label: value })),
    async handler(args: string, ctx: Parameters<typeof show>[0] & { readonly signal: AbortSignal | undefined }) {
      show(ctx, await answer(args, ctx.signal), (text) => pi.sendMessage({ customType: "mcp", content: text, display: true }));
    },
  };

  async function answer(args: string, signal: AbortSignal | undefined): Promise<CommandAnswer> {
    try {
      const adapter = await session.get();
      const write = projectDir === null ? null : disableWriter(projectDir);
      return await runMcpCommand({ adapter, signal: signal ?? new AbortController().signal, setDisabled: write, now: Date.now }, args);
    } catch (error) {
      return { text: `MCP servers are not available: ${error instanceof Error ? error.message : String(error)}`, level: "error" };
    }
  }

  pi.registerCommand("mcp", mcp);
  pi.registerCommand("pi-mcp", mcp);
  pi.registerCommand("mcp-auth", {
    description: "Sign in to an MCP server",
    handler: async (_args, ctx) =>
      show(ctx, { text: "Signing in to MCP servers comes in a later version. Use headers or a bearer token until then.", level: "warning" }, (text) =>
        pi.sendMessage({ customType: "mcp", content: text, display: true }),
      ),
  });
}

function disableWriter(projectDir: () => string): (server: string, disabled: boolean) => Promise<string> {
  return async (server, disabled) => {
    const { switchServer } = await import("./switch-server.ts");
    return switchServer(server, disabled, projectDir());
  };
}
