/** The MCP servers of this workstation, for the clients of this agent: the adapter, with the desk as the one who is asked. */
import { homedir } from "node:os";
import { join } from "node:path";
import type { ApprovalGate } from "../../shared/approval.ts";
import type { Adapter } from "../adapter/adapter.ts";
import type { PersonForms, ProjectTrust } from "../adapter/ports.ts";
import { warningLine } from "../adapter/config/warning-line.ts";
import type { AdapterSettings, UpstreamConfig } from "../adapter/config/server-definition.ts";
import { entryHash } from "../desk/server-trust.ts";
import { connectsAtStart } from "../adapter/upstream/lifecycle.ts";
import { trustSubject } from "../adapter/upstream/trust.ts";
import type { ToolHost } from "../tools/tool-host.ts";
import type { AgentContext } from "./agent-parts.ts";
import { createAttachedAsks, type AttachedAsks } from "./attached-asks.ts";
import { preparePrivateDirectory } from "./config-dir.ts";
import { askInTurn, type ProjectQuestion } from "./project-questions.ts";
import { hasPage } from "./settings.ts";
import { systemErrorCode } from "./start-failure.ts";
import { openTrustedServers } from "./trusted-servers.ts";
import { attachedSampler, deskApprover, deskForms } from "./upstream-answers.ts";
import { tellOfUpstreams } from "./upstream-news.ts";

/** Who answers for the person. The desk needs the surface, which needs the adapter, which asks the desk: the desk comes last. */
interface UpstreamDesk {
  readonly gate: Pick<ApprovalGate, "ask">;
  readonly trust: ProjectTrust;
  readonly forms: PersonForms;
}

export interface Upstreams {
  /** Null: none is configured, or they were left out. */
  readonly adapter: Adapter | null;
  /** From now on the desk is asked; before, and without a desk, nobody can be. */
  attach(desk: UpstreamDesk): void;
}

/** Reads the configuration. Connects to what is to be connected from the start; nothing of a project's files before it was allowed. */
export async function openUpstreams(context: AgentContext, tools: ToolHost): Promise<Upstreams> {
  const { settings, directories, env, clock, timers, log, lifetime } = context;
  let desk: UpstreamDesk | undefined;
  if (settings.upstreams === null) return { adapter: null, attach: () => {} };
  const { nodePorts } = await import("../node/adapter-ports.ts");
  const memory = openTrustedServers(preparePrivateDirectory(context.directories.state));
  const trust: ProjectTrust = {
    known: (subject) => desk?.trust.known(subject) ?? (memory.has(entryHash(settings.root, subject)) ? "allowed" : "unasked"),
    ask: (subject, signal) => desk?.trust.ask(subject, signal) ?? Promise.resolve(false),
  };
  let trace: AdapterSettings["trace"] | null = null;
  const ports = nodePorts({
    cwd: settings.root,
    env,
    home: homedir(),
    configFile: settings.upstreams.configFile,
    outputDir: tools.outputDir,
    trust,
    packagesApart: join(directories.state, "npm"),
    trace: () => trace,
    showErrorOutput: (server, text) => context.say(`${server}: ${text.trimEnd()}`),
    clock,
    timers,
    log,
  });
  const config = await ports.config.load();
  for (const warning of config.warnings) context.progress(warningLine(warning));
  trace = config.settings.trace;
  const attach = (opened: UpstreamDesk, adapter: Adapter | null): void => {
    desk = opened;
    askForProject({ config, adapter, trust: opened.trust, signal: lifetime.signal });
  };
  // Agents without MCP servers do not pay for what talks to them.
  if (config.servers.size === 0) return { adapter: null, attach: (opened) => attach(opened, null) };
  const { createAdapter } = await import("../adapter/create-adapter.ts");
  const asks = createAttachedAsks();
  const adapter = await createAdapter({
    ...ports,
    config: { load: () => Promise.resolve(config) },
    approver: deskApprover(() => desk?.gate),
    // Connections that are made at once are made before there is a desk.
    forms: deskForms(hasPage(settings), () => desk?.forms, asks),
    sampler: attachedSampler(asks),
  });
  tellOfUpstreams(adapter, context.say);
  lifetime.onEnd("MCP servers", () => adapter.close());
  await share(context, adapter, asks);
  return { adapter, attach: (opened) => attach(opened, adapter) };
}

/** [SH1] For Pi sessions of this account. An agent that cannot listen for them is whole without. */
async function share({ settings, directories, env, timers, log, lifetime }: AgentContext, { pool }: Adapter, asks: AttachedAsks): Promise<void> {
  const { shareUpstreams } = await import("./shared-upstreams.ts");
  try {
    const shared = await shareUpstreams({ pool, stateDir: directories.state, cwd: settings.root, env, home: homedir(), timers, log, asks });
    lifetime.onEnd("shared MCP servers", () => shared.close());
  } catch (error) {
    log.event("warn", "shared.failed", { error: systemErrorCode(error) ?? (error instanceof Error ? error.name : typeof error) });
  }
}

interface ProjectStart {
  readonly config: UpstreamConfig;
  readonly adapter: Adapter | null;
  readonly trust: ProjectTrust;
  readonly signal: AbortSignal;
}

/** The person sees what the project wants before anybody waits for it. What should have been connected from the start is then. */
function askForProject({ config, adapter, trust, signal }: ProjectStart): void {
  const questions: ProjectQuestion[] = [];
  const { projectSettingsText: text } = config;
  if (text !== null) questions.push({ subject: { server: null, text, files: projectFiles(config) }, onAllowed: () => {} });
  for (const server of config.servers.values()) {
    const subject = server.state === "enabled" ? trustSubject(server.definition) : null;
    if (subject === null || server.state !== "enabled" || trust.known(subject) === "allowed") continue;
    const isEager = connectsAtStart(server.definition.lifecycle);
    const onAllowed = (): void => {
      if (isEager) void adapter?.pool.connect(server.name, { signal, caller: { kind: "pi" } });
    };
    questions.push({ subject, onAllowed });
  }
  askInTurn(questions, trust, signal);
}

function projectFiles({ sources }: UpstreamConfig): string[] {
  return sources.filter(({ origin, found }) => found && origin.layer === "project").map(({ origin }) => origin.file);
}
