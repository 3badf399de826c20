/** The agent without a relay: one client over stdio, or `/mcp` on a local port with the static token. No OAuth; a page with `--human` only. */
import type { ApprovalGate } from "../../shared/approval.ts";
import type { CallObserver } from "../../shared/call-events.ts";
import { createLocalHttp, PortBusyError, type LocalHttp } from "../mcp/local-http.ts";
import type { McpSurface } from "../mcp/server.ts";
import type { StdioStreams } from "../mcp/stdio.ts";
import type { ToolHost } from "../tools/tool-host.ts";
import { describeAgent, type InfoParts } from "./agent-info.ts";
import { createSurface, openAudit, startTools, type AgentContext } from "./agent-parts.ts";
import { preparePrivateDirectory } from "./config-dir.ts";
import type { DeskPage } from "./desk-page.ts";
import { explainListenError, PortBusy, requireFreePort } from "./free-port.ts";
import { holdLocalPlace, openLocalDesk, type HeldPlace, type LocalDesk } from "./local-desk.ts";
import { readStaticToken, type StaticToken } from "./machine.ts";
import type { RunningAgent } from "./running-agent.ts";
import { isLoopback, urlHost, type Mode } from "./settings.ts";
import { EXIT } from "./start-failure.ts";
import { followCreatedTokens } from "./token-deposits.ts";
import { openUpstreams, type Upstreams } from "./upstreams.ts";

/** Nobody watches: there is no page. The log has the calls. */
const UNWATCHED: CallObserver = { started() {}, progressed() {}, finished() {} };

/** Nobody can be asked without a page: what would have to be approved is refused. */
function refusingGate(guarded: readonly string[]): ApprovalGate {
  const text = "This call needs the approval of a person, and this agent has no page to ask on. Nothing was run.";
  return { guards: (tool) => guarded.includes(tool), ask: () => Promise.resolve({ allowed: false, text }) };
}

type Served = LocalDesk | { readonly surface: McpSurface; readonly page: null; readonly talk: null; readonly exchanges?: undefined };

/** What is offered, whoever carries it. */
interface Offered {
  readonly tools: ToolHost;
  readonly upstreams: Upstreams;
}

async function startOffered(context: AgentContext): Promise<Offered> {
  const tools = await startTools(context);
  return { tools, upstreams: await openUpstreams(context, tools) };
}

async function serveTools(context: AgentContext, place: HeldPlace | null, of: InfoParts, { upstreams }: Offered): Promise<Served> {
  if (place !== null) return openLocalDesk(context, place, of, upstreams);
  await openAudit(context);
  const parts = { calls: UNWATCHED, gate: refusingGate(context.settings.approve), upstreams: upstreams.adapter };
  return { surface: createSurface(context, of.tools, parts), page: null, talk: null };
}

function withoutRelay({ tools, upstreams }: Offered, rest: Pick<InfoParts, "mcpUrls" | "tokenSet">): InfoParts {
  return { tools, upstreams: upstreams.adapter, relay: "", relayIsLocal: true, client: null, warnings: [], ...rest };
}

/** Serves until the input ends; the lifetime ends then. Resolves with the page, null without one. */
export async function startStdio(context: AgentContext, streams: StdioStreams): Promise<DeskPage | null> {
  const { settings, lifetime } = context;
  const place = settings.human ? await holdLocalPlace(context, `stdio in ${settings.root}`) : null;
  const offered = await startOffered(context);
  const { surface, page } = await serveTools(context, place, withoutRelay(offered, { mcpUrls: [], tokenSet: false }), offered);
  const served = surface.serveStdio(streams);
  lifetime.onEnd("stdio", () => served.close());
  void served.closed.then(() => lifetime.end({ exitCode: EXIT.asked, why: "stdin_closed", message: null }));
  return page;
}

type HttpMode = Mode & { readonly kind: "http" };

export async function startHttp(context: AgentContext, mode: HttpMode): Promise<RunningAgent> {
  const { settings, directories, lifetime } = context;
  const token = readStaticToken(preparePrivateDirectory(directories.config), settings.token);
  const { host, port } = mode.listen;
  const place = settings.human ? await holdLocalPlace(context, `--http on ${urlHost(host)}:${port} in ${settings.root}`) : null;
  // The page says where /mcp is, so it is known before the port is bound.
  if (place !== null && port !== 0) await requireFreePort(mode.listen);
  const own = `http://${urlHost(host)}:${port}/mcp`;
  const offered = await startOffered(context);
  const of = withoutRelay(offered, { mcpUrls: publicFirst(mode, port === 0 ? [] : [own]), tokenSet: true });
  const { surface, page, talk, exchanges } = await serveTools(context, place, of, offered);
  const server = await listen(context, mode, { surface, token, exchanges });
  lifetime.onEnd("http", () => server.close());
  const info = describeAgent(context, { ...of, mcpUrls: publicFirst(mode, [server.url]) });
  return { info, token, client: null, page, local: isLoopback(host) && mode.issuer === null, watchCards: null, talk };
}

function publicFirst({ issuer }: HttpMode, own: readonly string[]): readonly string[] {
  return issuer === null ? own : [`${issuer}/mcp`, ...own];
}

interface Endpoint {
  readonly surface: McpSurface;
  readonly token: StaticToken;
  readonly exchanges: LocalDesk["exchanges"] | undefined;
}

async function listen(
  { settings, directories, clock, log }: AgentContext,
  mode: HttpMode,
  { surface, token, exchanges }: Endpoint,
): Promise<LocalHttp> {
  try {
    return await createLocalHttp({
      handler: surface.handle,
      host: mode.listen.host,
      port: mode.listen.port,
      tokenSha256s: [token.sha256],
      namedTokens: followCreatedTokens(directories.config, clock, log),
      allowedHosts: mode.issuer === null ? [] : [new URL(mode.issuer).host],
      allowedOrigins: [...(mode.issuer === null ? [] : [mode.issuer]), ...settings.allowOrigins],
      ...(exchanges !== undefined && { exchanges }),
      log,
    });
  } catch (error) {
    throw error instanceof PortBusyError ? new PortBusy(mode.listen, "port") : explainListenError(error, mode.listen, "port");
  }
}
