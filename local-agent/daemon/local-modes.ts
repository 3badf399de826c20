/** The agent without a relay: one client over stdio, or `/mcp` on a local port with the static token. No page, no OAuth. */
import type { ApprovalGate } from "../../shared/approval.ts";
import type { CallObserver } from "../../shared/call-events.ts";
import { createLocalHttp, PortBusyError } from "../mcp/local-http.ts";
import type { StdioStreams } from "../mcp/stdio.ts";
import { defaultWaitMs } from "../mcp/wait-budget.ts";
import { createSurface, openAudit, startTools, type AgentContext } from "./agent-parts.ts";
import { preparePrivateDirectory } from "./config-dir.ts";
import { explainListenError, PortBusy } from "./free-port.ts";
import { readStaticToken } from "./machine.ts";
import type { RunningAgent } from "./running-agent.ts";
import { isLoopback, type Mode } from "./settings.ts";
import { EXIT } from "./start-failure.ts";
import { followCreatedTokens } from "./token-deposits.ts";

/** Nobody watches: there is no page. The log has the calls. */
const UNWATCHED: CallObserver = { started() {}, progressed() {}, finished() {} };

/** Nobody can be asked without a page: what would have to be approved is refused. */
function refusingGate(guarded: readonly string[]): ApprovalGate {
  const text = "This call needs the approval of a person, and this agent has no page to ask on. Nothing was run.";
  return { guards: (tool) => guarded.includes(tool), ask: () => Promise.resolve({ allowed: false, text }) };
}

/** Serves until the input ends; the lifetime ends then. */
export async function startStdio(context: AgentContext, streams: StdioStreams): Promise<void> {
  const tools = await startTools(context);
  await openAudit(context);
  const served = createSurface(context, tools, { calls: UNWATCHED, gate: refusingGate(context.settings.approve) }).serveStdio(streams);
  context.lifetime.onEnd("stdio", () => served.close());
  void served.closed.then(() => context.lifetime.end({ exitCode: EXIT.asked, why: "stdin_closed", message: null }));
}

export async function startHttp(context: AgentContext, mode: Mode & { readonly kind: "http" }): Promise<RunningAgent> {
  const { settings, directories, lifetime, installation, clock, log } = context;
  const token = readStaticToken(preparePrivateDirectory(directories.config), settings.token);
  const tools = await startTools(context);
  await openAudit(context);
  const surface = createSurface(context, tools, { calls: UNWATCHED, gate: refusingGate(settings.approve) });
  const server = await createLocalHttp({
    handler: surface.handle,
    host: mode.listen.host,
    port: mode.listen.port,
    tokenSha256s: [token.sha256],
    namedTokens: followCreatedTokens(directories.config, clock, log),
    allowedHosts: mode.issuer === null ? [] : [new URL(mode.issuer).host],
    allowedOrigins: [...(mode.issuer === null ? [] : [mode.issuer]), ...settings.allowOrigins],
    log,
  }).catch((error: unknown) => {
    throw error instanceof PortBusyError ? new PortBusy(mode.listen, "port") : explainListenError(error, mode.listen, "port");
  });
  lifetime.onEnd("http", () => server.close());
  const mcpUrls = mode.issuer === null ? [server.url] : [`${mode.issuer}/mcp`, server.url];
  const info = {
    version: installation.version,
    root: tools.root,
    tools: tools.list().map((tool) => tool.name),
    deny: [...settings.deny],
    mcpUrls,
    relay: "",
    relayIsLocal: true,
    oauth: false,
    tokenSet: true,
    client: null,
    human: settings.human,
    approve: [...settings.approve],
    waitMs: defaultWaitMs(settings.blockMs),
    uiToken: settings.uiToken !== null,
    confinement: tools.confinement(),
    warnings: [...tools.warnings()],
    startedAt: clock.now(),
  };
  return { info, token, client: null, page: null, local: isLoopback(mode.listen.host) && mode.issuer === null, watchCards: null };
}
