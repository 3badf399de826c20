/**
 * The real agent as a child process in a home of its own. Whatever it starts, and what that starts, carries a mark in its
 * environment, so that a test can say afterwards that nothing is left.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import { endMarked, endMarkedOnce, findMarked, markEntry, newMark } from "../../local-agent/tools/process-marker.ts";
import { writeTree } from "./tool-host-under-test.ts";
import { waitUntil } from "./wait-until.ts";

export interface Home extends AsyncDisposable {
  readonly dir: string;
  /** Real path of the directory the tools are confined to. */
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  token(): string;
  /** Pids of everything an agent of this home started and that still lives, the agents themselves included. */
  processes(): number[];
  /** Throws with their command lines when some live on after `withinMs`. */
  expectNothingLeft(withinMs?: number): Promise<void>;
  remove(): Promise<void>;
}

/** Homes of tests that never came to their end, such as one that ran out of time: mark → directory. */
const removeAtExit = new Map<string, string>();
process.once("exit", () => {
  for (const [mark, dir] of removeAtExit) {
    endMarkedOnce({ mark });
    rmSync(dir, { recursive: true, force: true });
  }
});

/** Settings, state and root of one person. `files`: relative path → content, below the root. */
export function newHome(files: Readonly<Record<string, string | Uint8Array>> = {}): Home {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "pimcp-e2e-")));
  const root = join(dir, "root");
  mkdirSync(root);
  writeTree(root, files);
  const mark = newMark();
  removeAtExit.set(mark, dir);
  const inherited = Object.entries(process.env).filter(([name]) => !/^(PI_|npm_|VITEST|NODE_OPTIONS)/.test(name));
  const processes = (): number[] => findMarked({ mark });
  const remove = async (): Promise<void> => {
    await endMarked({ mark });
    rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
    removeAtExit.delete(mark);
  };
  return {
    dir,
    root,
    env: {
      ...Object.fromEntries(inherited),
      ...markEntry(mark, "e2e"),
      HOME: dir,
      XDG_CONFIG_HOME: join(dir, "config"),
      XDG_STATE_HOME: join(dir, "state"),
    },
    token: () => readFileSync(join(dir, "config/pimcp/token"), "utf8").trim(),
    processes,
    expectNothingLeft: async (withinMs = 3000) => {
      await waitUntil("nothing is left", () => processes().length === 0, withinMs).catch(() => undefined);
      const left = processes().map((pid) => `${pid} ${commandLine(pid)}`);
      if (left.length > 0) throw new Error(`still running after ${withinMs} ms:\n${left.join("\n")}`);
    },
    remove,
    [Symbol.asyncDispose]: remove,
  };
}

/** Empty when it has ended. */
export function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
  } catch {
    return "";
  }
}

/** What `--json` prints, as far as tests look. */
interface Announcement {
  readonly mcpUrl: string;
  readonly mcpUrls: readonly string[];
  readonly pageFile: string | null;
  readonly tokenFile: string | null;
  readonly root: string;
  readonly tools: readonly string[];
  readonly pid: number;
}

export interface PimcpOptions {
  /** One that outlives this run, and is then removed by whoever made it; otherwise a fresh one that goes with the agent. */
  readonly home?: Home;
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  readonly args?: readonly string[];
  /** Instead of `QUIET`, for a mode that does not know all of its flags. */
  readonly quiet?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** In place of the program as it was built, and the Node of this test. */
  readonly installed?: Installed;
}

/** A program that a package manager put somewhere, and the Node that runs it. */
export interface Installed {
  readonly node: string;
  readonly program: string;
}

export interface Pimcp extends AsyncDisposable {
  readonly home: Home;
  readonly said: Announcement;
  readonly url: string;
  readonly origin: string;
  readonly port: number;
  readonly token: string;
  readonly pid: number;
  readonly run: Run;
  /** Address of the loopback page with its secret. */
  pageUrl(): string;
  /** Exit code of Ctrl-C; throws when it does not end, or leaves a process. */
  stop(): Promise<number | null>;
  kill9(): Promise<void>;
  /** The one child whose command line holds `part`, such as `tool-host-child`. */
  child(part: string): number;
}

/** Free ports chosen by the system, no browser, one line of JSON. */
const QUIET = ["--port", "0", "--ui-port", "0", "--no-open", "--json"] as const;
/** The same for a relay that is dialled, whose port is not the agent's to choose. */
export const QUIET_DIALLING = ["--ui-port", "0", "--no-open", "--json"] as const;

/** Resolves when the link is up. Throws with its stderr when it ends instead. A flag in `args` overrides the quiet ones. */
export async function startPimcp(options: PimcpOptions = {}): Promise<Pimcp> {
  const home = options.home ?? newHome(options.files);
  const run = runPimcp(home, [...(options.quiet ?? QUIET), "--root", home.root, ...(options.args ?? [])], options.env, options.installed);
  try {
    const said = await run.announced();
    return running(home, run, said, options.home === undefined);
  } catch (error) {
    await run.kill();
    if (options.home === undefined) await home.remove();
    throw error;
  }
}

function running(home: Home, run: Run, said: Announcement, ownsHome: boolean): Pimcp {
  const { origin, port } = new URL(said.mcpUrl);
  const stop = async (): Promise<number | null> => {
    run.child.kill("SIGINT");
    const code = await run.exit(8000);
    await home.expectNothingLeft(1000);
    return code;
  };
  return {
    home,
    said,
    url: said.mcpUrl,
    origin,
    port: Number(port),
    token: said.tokenFile === null ? "" : readFileSync(said.tokenFile, "utf8").trim(),
    pid: said.pid,
    run,
    pageUrl: () => /href="([^"]+)"/.exec(readFileSync(said.pageFile ?? "", "utf8"))?.[1] ?? "",
    stop,
    kill9: () => run.kill(),
    child: (part) => {
      const found = home.processes().filter((pid) => commandLine(pid).includes(part));
      if (found.length !== 1 || found[0] === undefined) throw new Error(`${found.length} processes of ${part}`);
      return found[0];
    },
    [Symbol.asyncDispose]: async () => {
      const isAlive = run.child.exitCode === null && run.child.signalCode === null;
      try {
        if (isAlive) await stop();
      } finally {
        if (ownsHome) await home.remove();
      }
    },
  };
}

export interface Run {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  /** Without the lines that only say that a slow start goes on. */
  readonly stderr: () => string;
  /** Exit code, null after a signal; throws when it does not end in time. */
  exit(withinMs?: number): Promise<number | null>;
  announced(): Promise<Announcement>;
  kill(): Promise<void>;
}

/** The program with exactly these arguments, whatever becomes of it. */
export function runPimcp(home: Home, args: readonly string[], env: NodeJS.ProcessEnv = {}, installed?: Installed): Run {
  const { node, program } = installed ?? { node: process.execPath, program: inject("program") };
  const child = spawn(node, [program, ...args], { cwd: home.root, env: { ...home.env, ...env }, stdio: "pipe" });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const exit = async (withinMs = 20_000): Promise<number | null> => {
    const timeout = Promise.withResolvers<never>();
    const timer = setTimeout(() => timeout.reject(new Error(`pimcp did not end within ${withinMs} ms; stderr: ${stderr}`)), withinMs);
    return Promise.race([ended, timeout.promise]).finally(() => clearTimeout(timer));
  };
  return {
    child,
    stdout: () => stdout,
    stderr: () => stderr.replaceAll(/^(Starting|Connecting to .*) …\n/gm, ""),
    exit,
    announced: async () => {
      const isOver = () => child.exitCode !== null || child.signalCode !== null;
      await waitUntil("pimcp announced itself", () => stdout.includes("\n") || isOver(), 30_000).catch((error: unknown) => {
        throw new Error(`${String(error)}; stderr: ${stderr}`);
      });
      if (!stdout.includes("\n")) throw new Error(`pimcp ended with ${child.exitCode}: ${stderr}`);
      return JSON.parse(stdout.slice(0, stdout.indexOf("\n"))) as Announcement;
    },
    kill: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
