/** What every mode needs: the checked root, the tool host, and the MCP surface over it. */
import { accessSync, constants, statSync } from "node:fs";
import { homedir } from "node:os";
import type { HumanChannel } from "../../shared/human/channel.ts";
import { join } from "node:path";
import type { Clock, Log, Timers } from "../../shared/ports.ts";
import type { ApprovalGate } from "../../shared/approval.ts";
import type { AuditTrail } from "../../shared/audit.ts";
import type { CallObserver } from "../../shared/call-events.ts";
import type { Adapter } from "../adapter/adapter.ts";
import type { PersonForms } from "../adapter/ports.ts";
import { operatingPrompt } from "../mcp/instructions.ts";
import { createMcpSurface, type McpSurface } from "../mcp/server.ts";
import { createToolHost, type ToolHost } from "../tools/tool-host.ts";
import { AUDIT_FILE, createAuditLog } from "./audit-log.ts";
import { closedPlaces, programPlaces } from "./closed-places.ts";
import { preparePrivateDirectory, type Directories } from "./config-dir.ts";
import { exposeServers } from "./exposed-servers.ts";
import type { Installation } from "./installation.ts";
import type { Lifetime } from "./lifetime.ts";
import type { Settings } from "./settings.ts";
import { EXIT, StartFailure, systemErrorCode } from "./start-failure.ts";

/** The world of one run. */
export interface AgentContext {
  readonly settings: Settings;
  readonly installation: Installation;
  readonly directories: Directories;
  readonly env: NodeJS.ProcessEnv;
  readonly lifetime: Lifetime;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  /** One line for the person while a start takes its time. */
  readonly progress: (line: string) => void;
  /** A line for the person at any time. */
  readonly say: (line: string) => void;
}

/** Not ours by prefix, but nothing a remote client runs needs them. */
const SECRET_ENV = ["CLOUDFLARE_API_TOKEN", "CLOUDFLARE_API_KEY"];

/** Starts the tool host. Throws `StartFailure`; whatever starts late after an end is closed by `lifetime`. */
export async function startTools(context: AgentContext): Promise<ToolHost> {
  const { settings, installation, directories, lifetime, clock, timers, log, env } = context;
  requireRoot(settings.root);
  try {
    const host = await createToolHost({
      childPath: installation.toolHostChild,
      root: settings.root,
      deny: settings.deny,
      closed: closedPlaces({ directories, mode: settings.mode, home: homedir(), env, mcpConfig: settings.upstreams?.configFile ?? null }),
      writeClosed: programPlaces(installation.packageRoot),
      tools: settings.tools ?? undefined,
      stateDir: preparePrivateDirectory(directories.state),
      secretEnv: SECRET_ENV,
      log,
      timers,
      clock,
      env,
    });
    lifetime.onEnd("tool host", () => host.close());
    return host;
  } catch (error) {
    throw new StartFailure(sentence(error), EXIT.usage, { cause: error });
  }
}

/** Opens the audit log of this account and says in it that this run began, and at its end that it ended. */
export async function openAudit({ settings, directories, lifetime, clock, log, progress }: AgentContext): Promise<AuditTrail> {
  const path = join(preparePrivateDirectory(directories.state), AUDIT_FILE);
  const audit = createAuditLog({ path, agent: process.pid, clock, log });
  const of = { root: settings.root, guarded: [...settings.approve] };
  lifetime.onEnd("audit log", () => audit.record({ event: "agent.stopped", ...of }));
  await audit.record({ event: "agent.started", ...of }).catch((error: unknown) => progress(`${sentence(error)} No call can be approved until then.`));
  return audit;
}

export interface SurfaceParts {
  readonly calls: CallObserver;
  readonly gate: ApprovalGate;
  /** The conversation with the person; left out or null: no tool, and no word of the prompt, speaks of one. */
  readonly human?: HumanChannel | null;
  /** The MCP servers of this workstation; left out or null: there are none. */
  readonly upstreams?: Adapter | null;
  /** Where questions of exposed servers go; left out or null: nobody can be asked. */
  readonly forms?: PersonForms | null;
}

export function createSurface(
  context: AgentContext,
  tools: ToolHost,
  { calls, gate, human = null, upstreams = null, forms = null }: SurfaceParts,
): McpSurface {
  const { installation, settings, clock, timers, log } = context;
  const { approve, blockMs } = settings;
  const instructions = (): string =>
    operatingPrompt({
      root: tools.root,
      tools: [...tools.list(), ...upstreamSnippets(upstreams)],
      confinement: tools.confinement(),
      human: human !== null,
      approve,
    });
  const wanted = settings.upstreams?.expose ?? [];
  const passage =
    upstreams === null || wanted.length === 0
      ? null
      : exposeServers({ adapter: upstreams, wanted, stateDir: preparePrivateDirectory(context.directories.state), forms });
  const surface = createMcpSurface({
    name: "pimcp",
    version: installation.version,
    tools,
    instructions,
    calls,
    gate,
    clock,
    timers,
    log,
    ...(human !== null && { human, waits: { blockMs } }),
    ...(upstreams !== null && { upstreams }),
    ...(passage !== null && { passage }),
  });
  context.lifetime.onEnd("exposed MCP servers", () => surface.close());
  return surface;
}

/** What the prompt says of the tools that the MCP servers come with. */
function upstreamSnippets(adapter: Adapter | null): { readonly name: string; readonly promptSnippet: string }[] {
  return [adapter?.proxyTool(), adapter?.scriptTool()].flatMap((tool) => (tool ? [{ name: tool.name, promptSnippet: tool.promptSnippet }] : []));
}

/** An error of a part that speaks in sentences, as one for the person: with a capital and a full stop. */
export function sentence(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const ended = /[.!?]$/.test(text) ? text : `${text}.`;
  return ended.charAt(0).toUpperCase() + ended.slice(1);
}

/** Throws `StartFailure` for a root that is none. */
export function requireRoot(root: string): void {
  try {
    if (!statSync(root).isDirectory()) throw new StartFailure(`The root ${root} is not a directory: name one with --root.`);
    accessSync(root, constants.R_OK | constants.X_OK);
  } catch (error) {
    if (error instanceof StartFailure) throw error;
    const code = systemErrorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") throw new StartFailure(`The root ${root} does not exist: make it, or name another with --root.`);
    throw new StartFailure(`The root ${root} cannot be read (${code ?? String(error)}): choose another with --root.`);
  }
}
