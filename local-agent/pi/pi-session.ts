/** What one instance of the extension keeps: the session it works in, and the adapter of that session with what Pi was told of it. */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Adapter } from "../adapter/adapter.ts";
import { systemTimers } from "../node/system-time.ts";
import { visibleLine } from "../../shared/visible-text.ts";
import { attachAdapter } from "./attach-adapter.ts";
import type { PiConfigOptions } from "./configuration.ts";
import { createKeptApprovals } from "./kept-approvals.ts";
import { EMPTY_STATUS, MCP_STATUS_EVENT } from "./mcp-status.ts";
import type { ConfigEdits } from "./mcp-subcommand.ts";
import type { PiHost } from "./pi-host.ts";
import { createPiTools } from "./pi-tools.ts";
import { createPromptCommands } from "./prompt-commands.ts";
import { createSessionAdapter, type SessionAdapter, StartOutlived } from "./session-adapter.ts";

export interface PiSession {
  readonly adapter: SessionAdapter;
  /** Null where no file may be written: the program that runs Pi gave the servers. */
  readonly edits: ConfigEdits | null;
  /** Whether anything is to be connected before somebody uses it. */
  startsAtOnce(): Promise<boolean>;
  /** The session is there: what comes up from now on may ask its person. Never rejects. */
  begin(context: ExtensionContext): Promise<void>;
  /** Reads everything anew, if there is a session. Never rejects. */
  restart(): Promise<void>;
  /** The session is on another branch now. */
  changeBranch(): void;
  end(): Promise<void>;
}

export function createPiSession(pi: ExtensionAPI, given: PiConfigOptions): PiSession {
  let context: ExtensionContext | null = null;
  const host: PiHost = { pi, session: () => context };
  const kept = createKeptApprovals(host);
  const adapter = createSessionAdapter({ make, onReady, timers: systemTimers });
  const tools = createPiTools(pi, () => adapter.get());
  const prompts = createPromptCommands(host, () => adapter.get());

  async function make(): Promise<Adapter> {
    // What talks to servers is loaded when there is a session, not with Pi.
    const { createPiAdapter } = await import("./pi-adapter.ts");
    return createPiAdapter({ host, kept, tools }, options());
  }

  /** [PI6] */
  function options(): PiConfigOptions {
    const flag = pi.getFlag("mcp-config");
    return { ...given, configPath: given.configPath ?? (typeof flag === "string" && flag !== "" ? flag : null) };
  }

  function onReady(made: Adapter): () => void {
    const detach = attachAdapter(made, { host, tools, prompts });
    tellOfOtherName(made);
    const unwatch = watchLife(pi, () => void adapter.end());
    return () => {
      unwatch();
      detach();
    };
  }

  function tellOfOtherName({ pool }: Adapter): void {
    const name = tools.proxyName();
    if (name === "mcp" || pool.servers().length === 0) return;
    const servers = pool
      .servers()
      .slice(0, 10)
      .map((server) => visibleLine(server, 100));
    context?.ui.notify(`Another extension has the tool mcp. The model reaches these MCP servers by ${name}: ${servers.join(", ")}.`, "warning");
  }

  async function start(): Promise<void> {
    try {
      await adapter.get();
    } catch (error) {
      if (error instanceof StartOutlived) return;
      const cause = error instanceof Error ? error.message : String(error);
      tools.offerRetry(cause);
      context?.ui.notify(`MCP servers are not available: ${cause}`, "error");
    }
  }

  async function restart(): Promise<void> {
    if (context === null) return;
    await adapter.end();
    await start();
  }

  return {
    adapter,
    edits:
      given.config === null ? editsOf(() => import("./config-edits.ts").then((edits) => edits.createConfigEdits(host, options().configPath))) : null,
    async startsAtOnce() {
      const { piConfig, startsAtOnce } = await import("./configuration.ts");
      return startsAtOnce(await piConfig(host, options()).load());
    },
    async begin(begun) {
      context = begun;
      // [PI11] What was started without a session knows neither the project's trust nor the person: the session has one of its own.
      if (adapter.state().at !== "none") await adapter.end();
      await start();
    },
    restart: oneAtATime(restart),
    changeBranch: () => kept.forgetBranch(),
    async end() {
      context = null;
      await adapter.end();
      pi.events.emit(MCP_STATUS_EVENT, EMPTY_STATUS);
    },
  };
}

/** What writes files is loaded when something is to be written. */
function editsOf(load: () => Promise<ConfigEdits>): ConfigEdits {
  return {
    setDisabled: async (server, disabled) => (await load()).setDisabled(server, disabled),
    keepDirectTools: async (server, directTools) => (await load()).keepDirectTools(server, directTools),
  };
}

const WATCH_MS = 2000;

/** [PI12] A program that embeds Pi may dispose of a session without saying so; what Pi gave the extension throws from then on. */
function watchLife(pi: ExtensionAPI, onEnd: () => void): () => void {
  const timer = setInterval(() => {
    try {
      pi.getFlag("mcp-config");
    } catch {
      onEnd();
    }
  }, WATCH_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** What comes while it runs is one more run, however often it came. */
function oneAtATime(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const again = async (): Promise<void> => {
    await running?.catch(() => {});
    next = undefined;
    running = run();
    await running;
  };
  return () => (next ??= again());
}
