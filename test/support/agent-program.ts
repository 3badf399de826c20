/** The real program as a person starts it: `bin/pimcp.mjs` on the built bundle, in its own home, with what it prints. */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { tempDir } from "./temp-dir.ts";
import { waitUntil } from "./wait-until.ts";

const PROGRAM = join(import.meta.dirname, "../../bin/pimcp.mjs");

export interface Home {
  readonly dir: string;
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  readonly token: () => string;
}

/** Fresh settings, state and root; removed when the test ends. */
export function newHome(): Home {
  const dir = tempDir("home");
  const root = join(dir, "root");
  mkdirSync(root);
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("PI_AS_MCP_") && !name.startsWith("npm_")));
  const env = { ...inherited, HOME: dir, XDG_CONFIG_HOME: join(dir, "config"), XDG_STATE_HOME: join(dir, "state") };
  return { dir, root, env, token: () => readFileSync(join(dir, "config/pimcp/token"), "utf8").trim() };
}

/** What `--json` printed. */
export interface Announcement {
  readonly mcpUrl: string;
  readonly mcpUrls: readonly string[];
  readonly pageFile: string | null;
  readonly tokenFile: string | null;
  readonly token: string | null;
  readonly clientId: string | null;
  readonly clientSecret: string | null;
  readonly clientFile: string | null;
  readonly redirects: readonly string[] | null;
  readonly root: string;
  readonly tools: readonly string[];
  readonly warnings: readonly string[];
  readonly pid: number;
}

export interface Program {
  readonly process: ChildProcess;
  readonly stdout: () => string;
  /** Without the lines that only say that a slow start goes on. */
  readonly stderr: () => string;
  /** Exit code; null after a signal. */
  readonly exit: Promise<number | null>;
  /** Resolves when it announced itself; throws with its stderr when it ended instead. */
  ready(): Promise<Announcement>;
}

/** Ended hard when the test ends, should it still run. */
export function startProgram(home: Home, args: readonly string[], env: NodeJS.ProcessEnv = {}): Program {
  const child = spawn(process.execPath, [PROGRAM, ...args], { cwd: home.root, env: { ...home.env, ...env }, stdio: "pipe" });
  onTestFinished(() => void child.kill("SIGKILL"));
  let stdout = "";
  let stderr = "";
  let exited = false;
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const exit = new Promise<number | null>((resolve) => {
    child.once("close", (code) => {
      exited = true;
      resolve(code);
    });
  });
  return {
    process: child,
    stdout: () => stdout,
    stderr: () => stderr.replaceAll(/^(Starting|Connecting to .*) …\n/gm, ""),
    exit,
    async ready() {
      await waitUntil("the agent is ready", () => stdout.endsWith("}\n") || exited, 20_000);
      if (exited) throw new Error(`the agent ended: ${stderr}`);
      return JSON.parse(stdout) as Announcement;
    },
  };
}

/** Free ports chosen by the system, no browser, one line of JSON. */
export const QUIET = ["--port", "0", "--ui-port", "0", "--no-open", "--json"] as const;
