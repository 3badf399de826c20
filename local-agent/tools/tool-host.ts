/**
 * Pi's tools, confined to a root, in a process that is started again when it ends. The agent itself never loads Pi.
 * Everything the tools start carries this host's mark and ends with it.
 */
import { join } from "node:path";
import type { Clock, Log, Timers } from "../../shared/ports.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type { AbortSignalLike, PreparedCall, ToolCall, ToolOutcome, ToolSource } from "../../shared/tool.ts";
import { systemClock, systemTimers } from "../node/system-time.ts";
import { hostEnvironment, shellEnvironment } from "./child-environment.ts";
import { describeConfinement } from "./confinement-notes.ts";
import type { HostReady } from "./host-channel.ts";
import { cancelledBeforeStart, startHostProcess, type HostProcess } from "./host-process.ts";
import { failedOutcome, type HostSettings } from "./host-protocol.ts";
import { superviseHost, type HostSupervisor } from "./host-supervisor.ts";
import { claimMark, endLeftBehind, type MarkClaim } from "./mark-file.ts";
import { makePrivateDir, removePrivateDir, type PrivateDir } from "./private-dir.ts";
import { endMarked, endMarkedOnce } from "./process-marker.ts";
import { chooseTools } from "./tool-traits.ts";

const READY_MS = 20_000;
const ABORT_GRACE_MS = 5_000;
const STOP_GRACE_MS = 3_000;
/** How long a call waits for a host that is being started again. */
const RESTART_WAIT_MS = 15_000;
/** Calls at once; more are answered with an error rather than queued without bound. */
const MAX_RUNNING = 64;

export interface ToolHostOptions {
  /** The bundled child, `dist/tool-host-child.mjs`. */
  readonly childPath: string;
  /** Directory the path tools are confined to; may be a link. */
  readonly root: string;
  /** Names that stay closed below the root; see `readDenyEntry`. */
  readonly deny: readonly string[];
  /** Absolute places that stay closed to path tools whatever `deny` says: what is secret of the agent itself. `stateDir` is one anyway. */
  readonly closed: readonly string[];
  /** Absolute places that can be read but not written: the program itself, which runs what is in its files. */
  readonly writeClosed: readonly string[];
  /** Undefined: the platform's default. */
  readonly tools: readonly string[] | undefined;
  /** Where marks in use are remembered, so that the next start ends what a killed agent left. */
  readonly stateDir: string;
  /** Environment variables neither the host nor a shell is given. `PI_AS_MCP_*` never are. */
  readonly secretEnv: readonly string[];
  readonly log: Log;
  readonly timers?: Timers | undefined;
  readonly clock?: Clock | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
}

export interface ToolHost extends ToolSource {
  /** The real path of the root. */
  readonly root: string;
  /** Private, removed at the end, and the only place outside the root that the tools may read: for output too long to show. */
  readonly outputDir: string;
  prepare(call: ToolCall): Promise<Result<PreparedCall, ToolOutcome>>;
  /** What is confined and what is not, as sentences for people. */
  confinement(): string[];
  /** What the person should know: a missing shell or ripgrep. */
  warnings(): readonly string[];
  /** Aborts what runs, ends everything the tools ever started, removes the private directory. */
  close(): Promise<void>;
}

/** @throws with a sentence when the settings cannot be used or the host does not start */
export async function createToolHost(options: ToolHostOptions): Promise<ToolHost> {
  chooseTools(options.tools, process.platform);
  await endLeftBehind(options.stateDir, options.log);
  const ground = await prepareGround(options.stateDir);
  const timers = options.timers ?? systemTimers;
  const supervisor = superviseHost({
    start: () => startChild(options, ground, timers),
    cleanUp: async () => void (await endMarked({ mark: ground.claim.mark })),
    log: options.log,
    timers,
    clock: options.clock ?? systemClock,
  });
  const close = closer(supervisor, ground);
  const first = await supervisor.ready(READY_MS);
  const described = first.ok ? await first.value.ready : undefined;
  if (described?.ok === true) return { ...toolHost(options, described.value, supervisor, close), outputDir: ground.dir.spillDir };
  await close();
  throw new Error(first.ok ? "the tool host ended while it started" : first.error);
}

/** What the host stands on: its directory, and the mark that is remembered before anything carries it. */
interface Ground {
  readonly dir: PrivateDir;
  readonly claim: MarkClaim;
}

async function prepareGround(stateDir: string): Promise<Ground> {
  const dir = makePrivateDir();
  try {
    return { dir, claim: claimMark(stateDir, dir.path) };
  } catch (error) {
    removePrivateDir(dir.path);
    throw error;
  }
}

function startChild(options: ToolHostOptions, { dir, claim }: Ground, timers: Timers): HostProcess {
  const shellEnv = shellEnvironment(options.env ?? process.env, options.secretEnv);
  const settings: HostSettings = {
    root: options.root,
    deny: options.deny,
    // Ripgrep's place and compiled code are in the last two: what is written there would be run.
    closed: [...options.closed, options.stateDir, dir.path],
    writeClosed: options.writeClosed,
    tools: options.tools,
    mark: claim.mark,
    privateDir: dir.path,
    agentDir: dir.agentDir,
    spillDir: dir.spillDir,
    shellEnv,
  };
  const env = hostEnvironment(shellEnv, { ...dir, compileCache: join(options.stateDir, "compile-cache"), mark: claim.mark });
  return startHostProcess({ childPath: options.childPath, env, settings, readyMs: READY_MS, abortGraceMs: ABORT_GRACE_MS, timers });
}

/** Ends all of it once, however often it is asked; a process that exits without asking is cleaned up as far as one moment allows. */
function closer(supervisor: HostSupervisor, { dir, claim }: Ground): () => Promise<void> {
  const atExit = (): void => {
    endMarkedOnce({ mark: claim.mark });
    removePrivateDir(dir.path);
    claim.release();
  };
  process.once("exit", atExit);
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await supervisor.stop(STOP_GRACE_MS);
    process.off("exit", atExit);
    removePrivateDir(dir.path);
    claim.release();
  };
  return () => (closed ??= close());
}

function toolHost(
  options: ToolHostOptions,
  described: HostReady,
  supervisor: HostSupervisor,
  close: () => Promise<void>,
): Omit<ToolHost, "outputDir"> {
  let running = 0;

  const prepare = async (call: ToolCall): Promise<Result<PreparedCall, ToolOutcome>> => {
    const host = await untilAborted(supervisor.ready(RESTART_WAIT_MS), call.signal);
    if (host === undefined) return err(cancelledBeforeStart(call));
    if (!host.ok) return err(failedOutcome(`${call.name} was not run: the tool host is not running (${host.error}); try again in a moment`));
    const prepared = await host.value.prepare(call.name, call.args);
    if (!prepared.ok) return prepared;
    const { handle, args } = prepared.value;
    return ok({
      name: call.name,
      args,
      discard: () => host.value.discard(handle),
      execute: () => host.value.execute(handle, call),
    });
  };

  /** Not while a call waits for its approval: that takes nobody's place. */
  const counted = async (name: string, run: () => Promise<ToolOutcome>): Promise<ToolOutcome> => {
    if (running >= MAX_RUNNING) return failedOutcome(`${name} was not run: ${MAX_RUNNING} calls are running already; try again when one has ended`);
    running += 1;
    try {
      return await run();
    } finally {
      running -= 1;
    }
  };

  const call = (request: ToolCall): Promise<ToolOutcome> =>
    counted(request.name, async () => {
      const prepared = await prepare(request);
      return prepared.ok ? await prepared.value.execute() : prepared.error;
    });

  return {
    root: described.root,
    list: () => described.tools,
    async prepare(request) {
      const prepared = await prepare(request);
      return prepared.ok ? ok({ ...prepared.value, execute: () => counted(request.name, () => prepared.value.execute()) }) : prepared;
    },
    call,
    confinement: () => describeConfinement({ ...described, deny: options.deny }),
    warnings: () => described.warnings,
    close,
  };
}

/** What `work` resolves with, or undefined as soon as the call is cancelled. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignalLike): Promise<T | undefined> {
  if (signal.aborted) return undefined;
  const aborted = Promise.withResolvers<undefined>();
  const onAbort = (): void => aborted.resolve(undefined);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
