/** The agent behind a relay, deployed or embedded: claim, relay, tools, desk, page, link. What it opens, the lifetime closes in reverse. */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { join } from "node:path";
import type { PendingAuthorization } from "../../shared/authorization.ts";
import type { Deposits } from "../../shared/wire/frames.ts";
import { workspacePrefix } from "../../shared/workspace.ts";
import type { Desk } from "../desk/desk.ts";
import type { McpSurface } from "../mcp/server.ts";
import { describeAgent } from "./agent-info.ts";
import { claimAgentPlace } from "./agent-lock.ts";
import { openAudit, sentence, startTools, type AgentContext } from "./agent-parts.ts";
import { readClientPair, type ClientPair } from "./client-pair.ts";
import { preparePrivateDirectory, workspaceSettings } from "./config-dir.ts";
import { connectDesk, type DeskParts } from "./connect-desk.ts";
import { handleControl, type ControlParts } from "./control-requests.ts";
import { controlPath, serveControl } from "./control-server.ts";
import { openPage } from "./desk-page.ts";
import { requireFreePort } from "./free-port.ts";
import { createLinkNews, type LinkNews } from "./link-news.ts";
import { readHostId, readStaticToken } from "./machine.ts";
import { openConversation } from "./open-conversation.ts";
import { openRelay, type ReachableRelay } from "./open-relay.ts";
import { relayPlace } from "./place-dirs.ts";
import { createRelayHumanStore, type RelayHumanStore } from "./relay-human-store.ts";
import { createRelayLink, type RelayLink } from "./relay-link.ts";
import { canonicalOrigins, chooseRelay, flagsBeside, issuerWarnings, relayName } from "./relay-target.ts";
import type { RunningAgent } from "./running-agent.ts";
import { hasPage, isLoopback, type Mode } from "./settings.ts";
import { EXIT, StartFailure, systemErrorCode } from "./start-failure.ts";
import { createTokenDeposits, type TokenDeposits } from "./token-deposits.ts";
import { openUpstreams } from "./upstreams.ts";

/** Calls whose card is withdrawn because the agent ends are answered that nothing was run, before the link goes. */
const LAST_ANSWERS_MS = 100;

type RelayMode = Mode & { readonly kind: "relay" };

/** Resolves when the link is up. Throws `StartFailure`; never resolves with a half-started agent. */
export async function startBehindRelay(context: AgentContext, mode: RelayMode): Promise<RunningAgent> {
  const { settings, directories, lifetime } = context;
  const configDir = preparePrivateDirectory(directories.config);
  const target = chooseRelay(mode, configDir);
  const client = mode.oauth
    ? readClientPair(workspaceSettings(configDir, mode.workspace), { credentials: settings.client, redirects: settings.redirects })
    : null;
  const placeDir = relayPlace(target, directories.state);
  const pageFile = hasPage(settings) ? join(placeDir, "page.html") : null;
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
  const upstreams = await openUpstreams(context, tools);
  const info = describeAgent(context, {
    tools,
    upstreams: upstreams.adapter,
    mcpUrls: origins.map((origin) => `${origin}${workspacePrefix(mode.workspace)}/mcp`),
    relay: origins[0] ?? "",
    relayIsLocal: isLocal,
    client,
    tokenSet: true,
    warnings: issuerWarnings(target.kind, relay.url, mode.issuer),
  });
  const human = settings.human ? createRelayHumanStore(sayOutdated) : undefined;
  const conversation = human && openConversation(context, human, placeDir);
  const parts = connectDesk(context, { tools, info, conversation, upstreams, audit: await openAudit(context) });
  function sayOutdated(message: string): void {
    parts.desk.setRelayWarning(message);
    context.progress(message);
  }
  const tokens = createTokenDeposits({
    ...context,
    configDir: workspaceSettings(configDir, mode.workspace),
    own: token,
    send: parts.setStaticTokens,
    onEnded: (ids) => void parts.surface.forget((principalId) => ids.some((id) => principalId === `token:${id}`)),
  });
  const page = pageFile === null ? null : await openPage(context, parts.desk, pageFile);
  const url = relay.url + workspacePrefix(mode.workspace);
  const news = createLinkNews(url);
  const link = openLink(context, {
    news,
    mode,
    human,
    dials: { url, agentKey: relay.agentKey },
    parts,
    configDir,
    tokens,
    deposits: depositor({ ...context, origins, tokens, client, surface: parts.surface }),
  });
  parts.attach(link);
  await openControl(context, { desk: parts.desk, tokens, pending: () => link.pending() }, control);
  await firstWelcome(context, link, url, news);
  const { desk } = parts;
  const talk = desk.conversation === null ? null : desk;
  return { info, token, client, page, local: isLocal, watchCards: mode.oauth ? (show) => watchCards(desk, show) : null, talk };
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

function openLink(
  context: AgentContext,
  given: {
    readonly mode: RelayMode;
    readonly human: RelayHumanStore | undefined;
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
      if (state.at === "open") {
        given.tokens.welcomed();
        // Another relay may stand there now; whether it is of today it says when it is asked.
        parts.desk.setRelayWarning(null);
      }
      const line = given.news.lineFor(state);
      if (line !== undefined) context.progress(line);
    },
    onPending: (pending) => parts.desk.setAuthorizations(pending),
    onGrantsChanged: () => parts.desk.grantsChanged(),
    human: given.human,
  });
  lifetime.onEnd("link", async () => {
    if (context.settings.approve.length > 0) await pause(LAST_ANSWERS_MS, timers);
    await link.close();
  });
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

function pause(ms: number, timers: AgentContext["timers"]): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  timers.after(ms, resolve);
  return promise;
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

/** Frames hold lists that may be written to. */
function copied(list: readonly string[] | null): string[] | null {
  return list === null ? null : [...list];
}
