/**
 * Runs wrangler and says in one sentence why it failed. Its output is kept (bounded) to be read, and shown only where that
 * sentence needs it, or always with `verbose`.
 */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { isJsonObject, parseJson } from "../../shared/json.ts";
import { EXIT, StartFailure, systemErrorCode } from "../daemon/start-failure.ts";

export interface WranglerRun {
  readonly packageRoot: string;
  readonly args: readonly string[];
  /** Written to stdin: secrets go there, never into arguments that every account can list. */
  readonly input?: string;
  readonly env: NodeJS.ProcessEnv;
  readonly show: (text: string) => void;
  /** Show its output as it comes. */
  readonly verbose: boolean;
  readonly signal: AbortSignal;
}

const DEADLINE_MS = 5 * 60_000;
const KEPT_CHARACTERS = 256 * 1024;

/** Resolves with everything it printed. Throws `StartFailure` with the reason when it does not succeed. */
export async function runWrangler(run: WranglerRun): Promise<string> {
  const [program, ...before] = wranglerCommand(run);
  const child = spawn(program, [...before, ...run.args], {
    cwd: run.packageRoot,
    env: {
      ...run.env,
      // What wrangler starts by name comes from here as well.
      PATH: [join(run.packageRoot, "node_modules", ".bin"), run.env["PATH"] ?? ""].join(delimiter),
      WRANGLER_SEND_METRICS: "false",
      // Its banner would also look for a newer version on the network.
      WRANGLER_HIDE_BANNER: "true",
      FORCE_COLOR: "0",
    },
    stdio: "pipe",
    windowsHide: true,
    signal: AbortSignal.any([run.signal, AbortSignal.timeout(DEADLINE_MS)]),
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      printed = (printed + text).slice(-KEPT_CHARACTERS);
      if (run.verbose) run.show(stripVTControlCharacters(text));
    });
  }
  // A wrangler that ends without reading its input is judged by its exit code.
  child.stdin.on("error", () => {});
  child.stdin.end(run.input ?? "");
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", (error) => reject(explainSpawn(error)));
    child.once("close", resolve);
  });
  if (code !== 0) throw explain(run, stripVTControlCharacters(printed));
  return printed;
}

/**
 * The installed one, as a file for this Node: what npm puts on the PATH is on Windows a script for a shell, which would read
 * the arguments once more. `PIMCP_WRANGLER` names another program, or such a file.
 */
export function wranglerCommand({ packageRoot, env }: Pick<WranglerRun, "packageRoot" | "env">): readonly [string, ...string[]] {
  const named = env["PIMCP_WRANGLER"] ?? "";
  if (named !== "") return /\.[cm]?js$/.test(named) ? [process.execPath, named] : [named];
  const entry = installedEntry(join(packageRoot, "node_modules", "wrangler"));
  return entry === undefined ? ["wrangler"] : [process.execPath, entry];
}

function installedEntry(dir: string): string | undefined {
  const manifest = join(dir, "package.json");
  const value = existsSync(manifest) ? parseJson(readFileSync(manifest, "utf8")) : undefined;
  const bin = isJsonObject(value) && isJsonObject(value["bin"]) ? value["bin"]["wrangler"] : undefined;
  return typeof bin === "string" ? join(dir, bin) : undefined;
}

/** wrangler has no exit codes or error names for these, so its words decide; unknown words end in the last sentence. */
const REASONS: readonly (readonly [words: RegExp, sentence: string, needs?: "its output"])[] = [
  [
    /CLOUDFLARE_API_TOKEN environment variable|not (logged in|authenticated)|wrangler login|Failed to fetch auth token/i,
    "wrangler is not logged in to Cloudflare: run npx wrangler login (or set CLOUDFLARE_API_TOKEN), then this command again.",
  ],
  [
    /Authentication error|\[code: 10000\]|Invalid (API token|access token)/i,
    "Cloudflare refuses these credentials: run npx wrangler login again, or check what CLOUDFLARE_API_TOKEN may do (Workers Scripts: Edit).",
  ],
  [
    /More than one account|CLOUDFLARE_ACCOUNT_ID/i,
    "These credentials reach several accounts: set CLOUDFLARE_ACCOUNT_ID to the one to deploy to, then run this command again.",
    "its output",
  ],
  [
    /register a workers\.dev subdomain|workers\.dev subdomain/i,
    "This account has no workers.dev subdomain yet: open Workers in the Cloudflare dashboard once to get one, then run this command again.",
    "its output",
  ],
  [
    /ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|fetch failed|network connectivity/i,
    "Cloudflare cannot be reached from here: check the network, then run this command again.",
  ],
];

function explain(run: WranglerRun, printed: string): StartFailure {
  const reason = REASONS.find(([words]) => words.test(printed));
  if (!run.verbose && (reason === undefined || reason[2] !== undefined)) run.show(`${printed.trimEnd()}\n`);
  return new StartFailure(reason?.[1] ?? `wrangler ${run.args[0] ?? ""} failed: its reason is printed above.`, EXIT.failed);
}

function explainSpawn(error: unknown): StartFailure {
  if (systemErrorCode(error) === "ENOENT") return new StartFailure("wrangler is not installed: run npm ci in the checkout, then this command again.");
  if (error instanceof Error && error.name === "AbortError")
    return new StartFailure("wrangler was stopped before it had finished: run this command again.", EXIT.failed);
  return new StartFailure(`wrangler could not be started (${String(error)}).`, EXIT.failed);
}
