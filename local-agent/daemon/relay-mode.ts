/** The agent behind a relay, deployed or embedded: claim, relay, tools, desk, page, link. What it opens, the lifetime closes in reverse. */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import type { PendingAuthorization } from "../../shared/authorization.ts";
import type { DeskInfo } from "../../shared/desk.ts";
import type { Deposits } from "../../shared/wire/frames.ts";
import { workspacePrefix } from "../../shared/workspace.ts";
import type { Desk } from "../desk/desk.ts";
import type { McpSurface } from "../mcp/server.ts";
import { defaultWaitMs } from "../mcp/wait-budget.ts";
import type { ToolHost } from "../tools/tool-host.ts";
import { startUiServer, UiPortBusy } from "../ui-server/server.ts";
import { claimAgentPlace } from "./agent-lock.ts";
import { openAudit, sentence, startTools, type AgentContext } from "./agent-parts.ts";
import { readClientPair, type ClientPair } from "./client-pair.ts";
import { mintSecret, preparePrivateDirectory, workspaceSettings } from "./config-dir.ts";
import { handleControl, type ControlParts } from "./control-requests.ts";
import { controlPath, serveControl } from "./control-server.ts";
import { connectDesk, type DeskParts } from "./connect-desk.ts";
import { startEmbeddedRelay } from "./embedded-relay.ts";
import { requireFreePort } from "./free-port.ts";
import { readHostId, readStaticToken } from "./machine.ts";
import { writePageFile } from "./page-file.ts";
import { createRelayLink, type RelayLink } from "./relay-link.ts";
import { canonicalOrigins, chooseRelay, flagsBeside, issuerWarnings, relayName, type RelayTarget } from "./relay-target.ts";
import { createLinkNews, type LinkNews } from "./link-news.ts";
import type { RunningAgent } from "./running-agent.ts";
import { isLoopback, type Mode } from "./settings.ts";
import { EXIT, StartFailure, systemErrorCode } from "./start-failure.ts";
import { createTokenDeposits, type TokenDeposits } from "./token-deposits.ts";

type RelayMode = Mode & { readonly kind: "relay" };

/** Resolves when the link is up. Throws `StartFailure`; never resolves with a half-started agent. */
export async function startBehindRelay(context: AgentContext, mode: RelayMode): Promise<RunningAgent> {
  const { settings, directories, lifetime } = context;
  const configDir = preparePrivateDirectory(directories.config);
  const target = chooseRelay(mode, configDir);
  const client = mode.oauth
    ? readClientPair(workspaceSettings(configDir, mode.workspace), { credentials: settings.client, redirects: settings.redirects })
    : null;
  const placeDir = placeOf(target, directories.state);
  const pageFile = mode.oauth ? join(placeDir, "page.html") : null;
  const control = controlPath(directories.state, placeDir);
  const place = { dir: placeDir, name: relayName(target), flagsBeside: flagsBeside(target, pageFile !== null) };
  lifetime.onEnd("claim", await claimAgentPlace(place, { root: settings.root, pageFile, control }));
  if (pageFile !== null) await requireFreePort(settings.ui, 0, "ui-port");
  // Behind a public issuer something in front of the port hands callers on, whoever they are.
  const isPublic = mode.issuer !== null && !isLoopback(new URL(mode.issuer).hostname);
  const [tools, relay] = await Promise.all([startTools(context), openRelay(context, target, placeDir, isPublic)]);

  const origins = canonicalOrigins(relay.url, mode.issuer);
  const isLocal = target.kind === "embedded" && !isPublic;
  const token = readStaticToken(workspaceSettings(configDir, mode.workspace), settings.token);
  const info = describe(context, {
    tools,
    mcpUrls: origins.map((origin) => `${origin}${workspacePrefix(mode.workspace)}/mcp`),
    origins,
    isLocal,
    client,
    warnings: issuerWarnings(target.kind, relay.url, mode.issuer),
  });
  const parts = connectDesk(context, tools, info, await openAudit(context));
  const tokens = createTokenDeposits({
    ...context,
    configDir: workspaceSettings(configDir, mode.workspace),
    own: token,
    send: parts.setStaticTokens,
  });
  const page = pageFile === null ? null : await openPage(context, parts.desk, pageFile);
  const url = relay.url + workspacePrefix(mode.workspace);
  const news = createLinkNews(url);
  const link = openLink(context, {
    news,
    mode,
    dials: { url, agentKey: relay.agentKey },
    parts,
    configDir,
    tokens,
    deposits: depositor({ ...context, origins, tokens, client, surface: parts.surface }),
  });
  parts.attach(link);
  await openControl(context, { desk: parts.desk, tokens, pending: () => link.pending() }, control);
  await firstWelcome(context, link, url, news);
  return { info, token, client, page, local: isLocal, watchCards: mode.oauth ? (show) => watchCards(parts.desk, show) : null };
}

interface ReachableRelay {
  readonly url: string;
  readonly agentKey: string;
}

async function openRelay(context: AgentContext, target: RelayTarget, placeDir: string, isPublic: boolean): Promise<ReachableRelay> {
  if (target.kind === "deployed") return target;
  const { installation, lifetime, timers, log } = context;
  const agentKey = mintSecret();
  const { host, port } = target.listen;
  const relay = await startEmbeddedRelay({
    childPath: installation.relayChild,
    workerPath: installation.worker,
    stateDir: placeDir,
    host,
    port,
    agentKey,
    callers: isPublic ? "public" : "loopback",
    workspace: target.workspace,
    // Compiling miniflare anew at each start would take a third of the start.
    env: { ...withoutOurs(context.env), NODE_COMPILE_CACHE: join(context.directories.state, "compile-cache") },
    timers,
    log,
  });
  lifetime.onEnd("embedded relay", () => relay.close());
  void relay.lost.then((why) => lifetime.end({ exitCode: why.exitCode, why: "relay_lost", message: why.message }));
  // The agent itself always reaches it on loopback, whatever address it listens on.
  return { url: host === "0.0.0.0" ? `http://127.0.0.1:${relay.port}` : host === "::" ? `http://[::1]:${relay.port}` : relay.url, agentKey };
}

function watchCards(desk: Desk, show: (waiting: readonly PendingAuthorization[]) => void): void {
  desk.subscribe((event) => {
    if (event.t === "authorizations") show(event.authorizations);
  });
  show(desk.snapshot().authorizations);
}

/** An agent that cannot be asked still works, and its page can do the same: it starts, and says so. */
async function openControl({ lifetime, timers, progress }: AgentContext, parts: ControlParts, path: string): Promise<void> {
  try {
    const server = await serveControl({ path, timers, handle: (request) => handleControl(parts, request) });
    lifetime.onEnd("control channel", () => server.close());
  } catch (error) {
    progress(
      `pimcp pending, allow, grants and the like cannot reach this agent (${systemErrorCode(error) ?? sentence(error)} at ${path}): set a shorter XDG_STATE_HOME.`,
    );
  }
}

async function openPage(context: AgentContext, desk: Desk, file: string): Promise<{ readonly url: string; readonly file: string }> {
  const { settings, installation, lifetime } = context;
  try {
    const secret = randomBytes(32).toString("base64url");
    const server = await startUiServer({ desk, host: "127.0.0.1", port: settings.ui.port, secret, uiDir: installation.uiDir });
    lifetime.onEnd("page", () => server.close());
    writePageFile(file, server.url);
    lifetime.onEnd("page file", () => rmSync(file, { force: true }));
    return { url: server.url, file };
  } catch (error) {
    if (error instanceof StartFailure) throw error;
    throw new StartFailure(sentence(error), error instanceof UiPortBusy ? EXIT.usage : EXIT.failed, { cause: error });
  }
}

function openLink(
  context: AgentContext,
  given: {
    readonly mode: RelayMode;
    /** Its URL with the workspace's prefix. */
    readonly dials: ReachableRelay;
    readonly parts: DeskParts;
    readonly configDir: string;
    readonly tokens: TokenDeposits;
    readonly deposits: () => Promise<Deposits>;
    readonly news: LinkNews;
  },
): RelayLink {
  const { lifetime, clock, timers, log } = context;
  const { mode, dials, parts } = given;
  const link = createRelayLink({
    relayUrl: dials.url,
    agentKey: dials.agentKey,
    host: readHostId(given.configDir),
    hostName: hostname().slice(0, 200),
    instance: randomUUID(),
    takeOver: mode.takeOver,
    handler: parts.surface.handle,
    deposits: given.deposits,
    clock,
    timers,
    random: Math.random,
    log,
    onState: (state) => {
      parts.desk.setLink(state);
      if (state.at === "open") given.tokens.welcomed();
      const line = given.news.lineFor(state);
      if (line !== undefined) context.progress(line);
    },
    onPending: (pending) => parts.desk.setAuthorizations(pending),
    onGrantsChanged: () => parts.desk.grantsChanged(),
  });
  lifetime.onEnd("link", () => link.close());
  void link.retired.then(({ reason, message }) => lifetime.end({ exitCode: EXIT.refused, why: reason, message: sentence(new Error(message)) }));
  return link;
}

/** The banner waits for the first welcome; until then the person is told what it is waiting for. */
async function firstWelcome(context: AgentContext, link: RelayLink, url: string, news: LinkNews): Promise<void> {
  const cancel = context.timers.after(1000, () => {
    if (!news.isAwaited) context.progress(`Connecting to ${url} …`);
  });
  const ended = new Promise<"ended">((resolve) => {
    if (context.lifetime.signal.aborted) resolve("ended");
    context.lifetime.signal.addEventListener("abort", () => resolve("ended"), { once: true });
  });
  const outcome = await Promise.race([link.opened.then(() => "opened" as const), ended]);
  cancel();
  if (outcome === "ended") throw new StartFailure("The start was ended before the relay answered.", EXIT.asked);
}

interface DepositParts {
  readonly settings: AgentContext["settings"];
  readonly origins: readonly string[];
  readonly tokens: TokenDeposits;
  /** null: OAuth is off. */
  readonly client: ClientPair | null;
  readonly surface: McpSurface;
}

function depositor({ settings, origins, tokens, client, surface }: DepositParts): () => Promise<Deposits> {
  let offline: Promise<Deposits["offline"]> | undefined;
  return async () => ({
    origins: [...origins],
    allowOrigins: [...settings.allowOrigins],
    oauth: client !== null,
    ...(client === null ? {} : { client: { id: client.id, sha256: client.sha256, redirects: copied(client.redirects) } }),
    offline: await (offline ??= surface.offlineAnswers()),
    staticTokens: tokens.forHello(),
  });
}

function describe(
  context: AgentContext,
  of: {
    readonly tools: ToolHost;
    readonly mcpUrls: string[];
    readonly origins: readonly string[];
    readonly isLocal: boolean;
    readonly client: ClientPair | null;
    readonly warnings: readonly string[];
  },
): DeskInfo {
  return {
    version: context.installation.version,
    root: of.tools.root,
    tools: of.tools.list().map((tool) => tool.name),
    deny: [...context.settings.deny],
    mcpUrls: of.mcpUrls,
    relay: of.origins[0] ?? "",
    relayIsLocal: of.isLocal,
    oauth: of.client !== null,
    tokenSet: true,
    client: of.client === null ? null : { id: of.client.id, redirects: copied(of.client.redirects) },
    human: context.settings.human,
    approve: [...context.settings.approve],
    waitMs: defaultWaitMs(context.settings.blockMs),
    uiToken: context.settings.uiToken !== null,
    confinement: of.tools.confinement(),
    warnings: [...of.tools.warnings(), ...of.warnings],
    startedAt: context.clock.now(),
  };
}

/** Frames and events hold lists that may be written to. */
function copied(list: readonly string[] | null): string[] | null {
  return list === null ? null : [...list];
}

/** One directory per relay and workspace: its claim, its page's address and, embedded, its state. */
function placeOf(target: RelayTarget, stateDir: string): string {
  const name = relayName(target);
  const readable = name
    .replace(/^https?:\/\//, "")
    .replaceAll(/[^\w.-]/g, "_")
    .slice(0, 60);
  const unique = createHash("sha256").update(name).digest("hex").slice(0, 8);
  preparePrivateDirectory(stateDir);
  preparePrivateDirectory(join(stateDir, "relays"));
  return preparePrivateDirectory(join(stateDir, "relays", `${readable}-${unique}`));
}

function withoutOurs(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("PI_AS_MCP_")));
}
