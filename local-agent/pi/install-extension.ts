/**
 * What the extension does with one session of Pi. Nothing is connected before the session begins, except for servers that are to be
 * connected at once in a program that loads extensions and never begins one.
 */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Adapter } from "../adapter/adapter.ts";
import { systemTimers } from "../node/system-time.ts";
import type { PiConfigOptions } from "./configuration.ts";
import { footerText } from "./footer.ts";
import { createKeptApprovals } from "./kept-approvals.ts";
import { EMPTY_STATUS, MCP_STATUS_EVENT, statusSnapshot } from "./mcp-status.ts";
import { createPiTools } from "./pi-tools.ts";
import type { PiHost } from "./pi-host.ts";
import { createPromptCommands } from "./prompt-commands.ts";
import { registerCommands } from "./register-commands.ts";
import { createSessionAdapter, type SessionAdapter } from "./session-adapter.ts";
import { startupNotice } from "./startup-notice.ts";

/** After loading, a program that begins sessions has begun one by then. */
const LOAD_GRACE_MS = 1000;
/** A turn does not wait longer for the lists of servers that are kept connected. */
const REFRESH_MS = 5000;

export function installExtension(pi: ExtensionAPI, given: PiConfigOptions): void {
  let context: ExtensionContext | null = null;
  const host: PiHost = { pi, session: () => context };
  const kept = createKeptApprovals(host);
  const session = createSessionAdapter({ make: makeAdapter, onReady, timers: systemTimers });
  const tools = createPiTools(pi, () => session.get());
  const prompts = createPromptCommands(host, () => session.get());

  async function makeAdapter(): Promise<Adapter> {
    // What talks to servers is loaded when there is a session, not with Pi.
    const { createPiAdapter } = await import("./pi-adapter.ts");
    return createPiAdapter({ host, kept, isNative: tools.isNative }, options());
  }

  function options(): PiConfigOptions {
    const flag = pi.getFlag("mcp-config");
    return { ...given, configPath: given.configPath ?? (typeof flag === "string" && flag !== "" ? flag : null) };
  }

  function onReady(adapter: Adapter): () => void {
    const tellStart = startupNotice(adapter, (text, level) => context?.ui.notify(text, level));
    const onChange = (): void => {
      pi.events.emit(MCP_STATUS_EVENT, statusSnapshot(adapter, Date.now()));
      context?.ui.setStatus("mcp", footerText(adapter));
      tellStart();
    };
    tools.sync(adapter);
    prompts.sync(adapter);
    onChange();
    return adapter.subscribe((event) => {
      if (event.t === "tools") tools.sync(adapter);
      if (event.t === "prompts") prompts.sync(adapter);
      if (event.t === "notice") context?.ui.notify(event.text, event.level);
      else onChange();
    });
  }

  async function begin(): Promise<void> {
    try {
      await session.get();
    } catch (error) {
      const cause = error instanceof Error ? error.message : String(error);
      tools.offerRetry(cause);
      context?.ui.notify(`MCP servers are not available: ${cause}`, "error");
    }
  }

  pi.registerFlag("mcp-config", { type: "string", description: "MCP configuration file, in place of mcp.json in Pi's directory" });
  registerCommands(pi, { session, projectDir: given.config === null ? () => context?.cwd ?? process.cwd() : null });
  const sessionless = startWithoutSession(session, async () => {
    const { piConfig, startsAtOnce } = await import("./configuration.ts");
    return startsAtOnce(await piConfig(host, options()).load());
  });

  pi.on("session_start", async (_event, started) => {
    context = started;
    sessionless.cancel();
    // [PI11] What was started without a session knows neither the project's trust nor the person: the session has one of its own.
    if (session.state().at !== "none") await session.end();
    await begin();
  });
  pi.on("session_tree", () => kept.forgetBranch());
  pi.on("session_shutdown", async () => {
    sessionless.cancel();
    context = null;
    await session.end();
    pi.events.emit(MCP_STATUS_EVENT, EMPTY_STATUS);
  });
  pi.on("input", async () => {
    const state = session.state();
    if (state.at === "ready") await state.adapter.pool.refreshKeptAlive(AbortSignal.timeout(REFRESH_MS));
  });
  pi.on(
    "mcp_servers_change",
    restarts(async () => {
      if (context === null) return;
      // [PI5] A server was added or taken away: everything is read anew.
      await session.end();
      await begin();
    }),
  );
}

/** [PI10] Starts after a while what is to be connected at once, unless a session begins before. */
function startWithoutSession(session: SessionAdapter, isDue: () => Promise<boolean>): { cancel(): void } {
  let isWanted = true;
  const start = async (): Promise<void> => {
    if ((await isDue()) && isWanted) await session.get();
  };
  // Whoever uses a tool is told what went wrong.
  const timer = setTimeout(() => void start().catch(() => {}), LOAD_GRACE_MS);
  timer.unref();
  return {
    cancel() {
      isWanted = false;
      clearTimeout(timer);
    },
  };
}

/** Runs one at a time; what comes meanwhile is one more run, however often it came. */
function restarts(run: () => Promise<void>): () => Promise<void> {
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
