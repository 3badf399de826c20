/** One run of the agent, from settings to exit code. */
import { readdirSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "../../shared/ports.ts";
import { visibleBlock } from "../../shared/visible-text.ts";
import { requireRoot, type AgentContext } from "../daemon/agent-parts.ts";
import { PlaceTaken } from "../daemon/agent-lock.ts";
import { preparePrivateDirectory, type Directories } from "../daemon/config-dir.ts";
import type { Installation } from "../daemon/installation.ts";
import { createLifetime, watchProcess } from "../daemon/lifetime.ts";
import { nameHolder, PortBusy } from "../daemon/free-port.ts";
import { startHttp, startStdio } from "../daemon/local-modes.ts";
import { startBehindRelay } from "../daemon/relay-mode.ts";
import type { RunningAgent } from "../daemon/running-agent.ts";
import type { Mode, Settings } from "../daemon/settings.ts";
import { EXIT, StartFailure, type ExitCode } from "../daemon/start-failure.ts";
import { fileLog, stderrLog } from "../node/log-sinks.ts";
import { systemClock, systemTimers } from "../node/system-time.ts";
import { bannerJson, bannerText, programOf, type Audience } from "./banner.ts";
import { cardLines } from "./card-lines.ts";
import { hasDisplay, openPageFile } from "./open-page.ts";
import { startLines } from "./start-lines.ts";
import { talkLines } from "./talk-lines.ts";

export interface RunOrder {
  readonly settings: Settings;
  readonly notices: readonly string[];
  readonly installation: Installation;
  readonly directories: Directories;
  readonly isUnderNpm: boolean;
}

/** Resolves when the agent has ended and everything it opened is closed. Throws `StartFailure` only before anything is open. */
export async function runAgent(order: RunOrder): Promise<ExitCode> {
  for (const notice of order.notices) say(notice);
  const log = openLog(order);
  closeCompileCache(order.directories);
  const lifetime = createLifetime(log);
  watchProcess(lifetime, { endHard: () => process.exit(EXIT.failed), log });
  const lines = startLines(say, systemTimers);
  lifetime.signal.addEventListener("abort", lines.stop, { once: true });
  const context: AgentContext = {
    settings: order.settings,
    installation: order.installation,
    directories: order.directories,
    env: process.env,
    lifetime,
    clock: systemClock,
    timers: systemTimers,
    log,
    progress: lines.progress,
    say,
  };
  start(context, order.isUnderNpm ? "npm run deploy" : "pimcp deploy")
    .finally(lines.stop)
    .catch((error: unknown) => {
      const message =
        error instanceof StartFailure ? error.message : `pimcp could not start: ${error instanceof Error ? error.message : String(error)}`;
      lifetime.end({ exitCode: error instanceof StartFailure ? error.exitCode : EXIT.failed, why: "start_failed", message });
    });
  const ended = await lifetime.ended;
  if (ended.message !== null) say(ended.message);
  // The terminal has written ^C, and the prompt would stand behind it.
  if (ended.why === "SIGINT" && process.stderr.isTTY) process.stderr.write("\nEnded.\n");
  return ended.exitCode;
}

async function start(context: AgentContext, deployCommand: Audience["deployCommand"]): Promise<void> {
  const { mode, root } = context.settings;
  requireRoot(root); // Before other agents are looked at: one's own mistake comes first.
  if (mode.kind === "stdio") {
    if (process.stdin.isTTY) context.progress("Speaking MCP on stdin and stdout; a client starts this. Ctrl-C ends it.");
    return await startOverStdio(context, programOf({ deployCommand }));
  }
  try {
    const agent = mode.kind === "http" ? await startHttp(context, mode) : await startAtFreePlace(context, mode);
    if (!context.lifetime.signal.aborted) await announce(context, agent, deployCommand);
  } catch (error) {
    throw withHolder(error, context);
  }
}

/** stdout is the client's, so the page is said on stderr; its secret only where a person reads that. */
async function startOverStdio(context: AgentContext, program: string): Promise<void> {
  try {
    const page = await startStdio(context, { input: process.stdin, output: process.stdout });
    if (page === null) return;
    say(
      process.stderr.isTTY
        ? `You talk with the client on the page: ${page.url} (its address is a secret of yours).`
        : `You talk with the client on the page: open ${page.file} in a browser, or run ${program} open.`,
    );
  } catch (error) {
    throw withHolder(error, context);
  }
}

function withHolder(error: unknown, { directories }: AgentContext): unknown {
  return error instanceof PortBusy ? nameHolder(error, directories.state) : error;
}

const MAX_PLACES = 32;

/** Agents whose port the system chooses do not exclude each other: each takes the first place nobody holds, with the state kept there. */
async function startAtFreePlace(context: AgentContext, mode: Mode & { readonly kind: "relay" }): Promise<RunningAgent> {
  for (let place = 0; ; place++) {
    try {
      return await startBehindRelay(context, { ...mode, place });
    } catch (error) {
      if (!(error instanceof PlaceTaken) || mode.listen.port !== 0 || place === MAX_PLACES) throw error;
    }
  }
}

async function announce(context: AgentContext, agent: RunningAgent, deployCommand: Audience["deployCommand"]): Promise<void> {
  const { settings, env, log, directories } = context;
  const isTerminal = process.stdout.isTTY;
  const colour = isTerminal && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
  const audience: Audience = { isTerminal, colour, columns: isTerminal && process.stdout.columns > 0 ? process.stdout.columns : 80, deployCommand };
  closeCompileCache(directories);
  process.stdout.write(settings.json ? bannerJson(agent, audience) : bannerText(agent, audience));
  log.event("info", "agent.ready", { local: agent.local, tools: agent.info.tools.length });
  const shows = settings.openPage && isTerminal && !settings.json && hasDisplay(env, process.platform);
  const isPageOpen = agent.page !== null && shows && (await openPageFile(agent.page.file));
  const program = programOf(audience);
  if (!isPageOpen) watchInTerminal(context, agent, program);
  watchTalk(context, agent, program);
}

/** Nobody may be looking at the page: over SSH, in a container, or with `--no-open`. */
function watchInTerminal({ clock, timers, lifetime }: AgentContext, { watchCards, talk }: RunningAgent, program: string): void {
  if (watchCards === null || !process.stderr.isTTY) return;
  const open = talk === null ? "" : `; ${program} open opens the page, where you talk with clients`;
  say(`No page was opened. When an app wants access, a line here says so; in another terminal ${program} pending shows and decides it${open}.`);
  const lines = cardLines(say, program, { clock, timers });
  lifetime.onEnd("card lines", lines.stop);
  watchCards(lines.show);
}

/** A page that was opened may have been closed since. */
function watchTalk({ clock, timers, lifetime }: AgentContext, { talk }: RunningAgent, program: string): void {
  if (talk === null || !process.stderr.isTTY) return;
  const lines = talkLines(say, program, talk, { clock, timers });
  lifetime.onEnd("talk lines", lines.stop);
}

/** Parts of a line come from elsewhere (a relay's words, a file's name): they may not drive the terminal. */
function say(line: string): void {
  process.stderr.write(`${visibleBlock(line)}\n`);
}

/** Node makes the directories of its compile cache with the modes of the account's umask; what is in them is run. */
function closeCompileCache({ state }: Directories): void {
  const cache = preparePrivateDirectory(join(preparePrivateDirectory(state), "compile-cache"));
  for (const entry of readdirSync(cache, { withFileTypes: true })) if (entry.isDirectory()) preparePrivateDirectory(join(cache, entry.name));
}

const MAX_LOG_BYTES = 5 * 1024 * 1024;

/** One earlier log is kept; the log itself is looked at at each start only. */
function openLog({ directories, settings }: RunOrder): Log {
  const path = join(preparePrivateDirectory(directories.state), "agent.log");
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > MAX_LOG_BYTES) renameSync(path, `${path}.1`);
  const sinks = [fileLog(path), ...(settings.verbose ? [stderrLog("debug")] : [])];
  return { event: (level, event, fields) => sinks.forEach((sink) => sink.event(level, event, fields)) };
}
