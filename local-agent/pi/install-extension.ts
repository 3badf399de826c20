/**
 * What the extension does at which event of Pi. Nothing is connected before the session begins, except for servers that are to be
 * connected at once in a program that loads extensions and never begins a session.
 */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { PiConfigOptions } from "./configuration.ts";
import { createPiSession, type PiSession } from "./pi-session.ts";
import { registerCommands } from "./register-commands.ts";
import { refuseRuntimeServers } from "./runtime-servers.ts";

/** After loading, a program that begins sessions has begun one by then. */
const LOAD_GRACE_MS = 1000;
/** A turn does not wait longer for the lists of servers that are kept connected. */
const REFRESH_MS = 5000;

export function installExtension(pi: ExtensionAPI, given: PiConfigOptions): void {
  const session = createPiSession(pi, given);
  pi.registerFlag("mcp-config", { type: "string", description: "MCP configuration file, in place of mcp.json in Pi's directory" });
  pi.registerFlag("shared", { type: "boolean", description: "Use the MCP servers of a running pimcp instead of starting them again" });
  registerCommands(pi, { session: session.adapter, edits: session.edits });
  refuseRuntimeServers(pi);
  const sessionless = startWithoutSession(session);

  pi.on("session_start", (_event, context) => {
    sessionless.cancel();
    return session.begin(context);
  });
  pi.on("session_tree", () => session.changeBranch());
  pi.on("session_shutdown", () => {
    sessionless.cancel();
    return session.end();
  });
  pi.on("resources_discover", async ({ cwd }) => {
    const now = session.adapter.state();
    if (now.at !== "ready" || now.adapter.scriptTool() === null) return undefined;
    const { scriptingSkill } = await import("./scripting-skill.ts");
    const skill = scriptingSkill(pi, cwd);
    return skill === null ? undefined : { skillPaths: [skill] };
  });
  pi.on("mcp_servers_change", () => session.restart());
  // What servers offer that are kept connected is to be known when the model is asked.
  pi.on("input", async () => {
    const state = session.adapter.state();
    if (state.at === "ready") await state.adapter.pool.refreshKeptAlive(AbortSignal.timeout(REFRESH_MS));
  });
}

/** [PI10] Starts after a while what is to be connected at once, unless a session begins before. */
function startWithoutSession(session: PiSession): { cancel(): void } {
  let isWanted = true;
  const start = async (): Promise<void> => {
    if ((await session.startsAtOnce()) && isWanted) await session.adapter.get();
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
