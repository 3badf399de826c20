/**
 * Finds the program behind an `npx` call in npm's own cache, so that it is started itself: npm would stay in memory as its parent
 * (140 MB) for nothing. Whenever anything is not as expected, the call stays as it is.
 */
import { mkdir, open, readdir, readFile, realpath, stat } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import type { Environment } from "../adapter/ports.ts";
import { isJsonObject, parseJson, type JsonObject } from "../../shared/json.ts";
import { isNpmExec, type NpxCall, readNpxCall, satisfies } from "./npx-call.ts";
import { type ProgramHost, runProgram } from "./run-program.ts";

export interface NpxHost extends ProgramHost {
  readonly env: Environment;
  readonly home: string;
  readonly platform: NodeJS.Platform;
}

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
}

export interface NpxResolver {
  /** The program to start instead, or the call as it is (but for `apart`). Never rejects. */
  resolve(program: Program, around: NpxSurroundings): Promise<Program>;
}

interface NpxSurroundings {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly signal: AbortSignal;
  /**
   * An absolute directory that stands in for the project, so that neither what is installed there nor its `.npmrc` says what runs: whoever
   * can write into the project can write both. Null: they count.
   */
  readonly apart: string | null;
}

const FILL_MS = 30_000;
const MAX_SHEBANG = 200;

export function createNpxResolver(host: NpxHost): NpxResolver {
  /** What npm could not fetch in time, or fetched to no use, is not tried again and again. */
  const unfetched = new Set<string>();
  return {
    async resolve(program, around) {
      const call = readNpxCall(program.command, program.args);
      const { apart } = around;
      if (call === null || (apart === null && (await isInstalledAround(around.cwd, call.name)))) return leftToNpm(program, apart);
      const cache = await npmCache(host);
      const found = await findCached(cache, call);
      if (found !== null) return found;
      if (unfetched.has(call.spec)) return leftToNpm(program, apart);
      const fetched = (await fetchPackage(call, around, host)) ? await findCached(cache, call) : null;
      // Cancelled, it says nothing of the package.
      if (fetched === null && !around.signal.aborted) unfetched.add(call.spec);
      return fetched ?? leftToNpm(program, apart);
    },
  };
}

/** npm takes the directory as it is, so it must be there. Without it npm refuses to run, which is what should happen then. */
async function leftToNpm(program: Program, apart: string | null): Promise<Program> {
  if (apart === null || !isNpmExec(program.command, program.args)) return program;
  await mkdir(apart, { recursive: true, mode: 0o700 }).catch(() => undefined);
  return { command: program.command, args: ["--prefix", apart, ...program.args] };
}

/** npx prefers what the project itself has installed; that is for it to find. */
async function isInstalledAround(cwd: string, name: string): Promise<boolean> {
  for (let folder = cwd; ; folder = dirname(folder)) {
    if ((await stat(join(folder, "node_modules", name)).catch(() => null)) !== null) return true;
    if (dirname(folder) === folder) return false;
  }
}

/** As npm finds it: the variable, the person's own settings, the platform's default. Asking npm would take longer than all the rest. */
async function npmCache({ env, home, platform }: NpxHost): Promise<string> {
  const given = env["NPM_CONFIG_CACHE"] ?? env["npm_config_cache"];
  if (given !== undefined && given !== "") return given;
  const settings = await readFile(join(home, ".npmrc"), "utf8").catch(() => "");
  const set = /^\s*cache\s*=\s*"?([^"\r\n$]+?)"?\s*$/m.exec(settings)?.[1];
  if (set !== undefined) return set.startsWith("~/") ? join(home, set.slice(2)) : set;
  return platform === "win32" ? join(env["LOCALAPPDATA"] ?? join(home, "AppData", "Local"), "npm-cache") : join(home, ".npm");
}

async function findCached(cache: string, call: NpxCall): Promise<Program | null> {
  for (const folder of await newestFirst(join(cache, "_npx"))) {
    const found = await programIn(join(folder, "node_modules", ...call.name.split("/")), call).catch(() => null);
    if (found !== null) return found;
  }
  return null;
}

async function newestFirst(parent: string): Promise<readonly string[]> {
  const names = await readdir(parent).catch(() => []);
  const folders = await Promise.all(
    names.map(async (name) => ({ path: join(parent, name), at: (await stat(join(parent, name)).catch(() => null))?.mtimeMs ?? 0 })),
  );
  return folders.toSorted((a, b) => b.at - a.at).map(({ path }) => path);
}

async function programIn(folder: string, call: NpxCall): Promise<Program | null> {
  const manifest = parseJson(await readFile(join(folder, "package.json"), "utf8"));
  if (!isJsonObject(manifest) || manifest["name"] !== call.name || typeof manifest["version"] !== "string") return null;
  if (!satisfies(manifest["version"], call.wanted)) return null;
  const file = binOf(manifest, call);
  if (file === null) return null;
  const path = await realpath(join(folder, file));
  const inside = `${await realpath(folder)}${sep}`;
  // A manifest could name any file; only one of the package itself is its program.
  if (!path.startsWith(inside)) return null;
  if (await isForNode(path)) return { command: "node", args: [path, ...call.args] };
  return process.platform === "win32" || ((await stat(path)).mode & 0o111) === 0 ? null : { command: path, args: call.args };
}

function binOf({ bin }: JsonObject, call: NpxCall): string | null {
  const own = call.name.split("/").at(-1) ?? "";
  if (typeof bin === "string") return call.bin === null || call.bin === own ? bin : null;
  if (!isJsonObject(bin ?? null)) return null;
  const table = bin as JsonObject;
  const names = Object.keys(table);
  const wanted = call.bin ?? (names.length === 1 ? names[0] : own);
  const file = wanted === undefined ? undefined : table[wanted];
  return typeof file === "string" ? file : null;
}

async function isForNode(path: string): Promise<boolean> {
  if (/\.[cm]?js$/.test(path)) return true;
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_SHEBANG), 0, MAX_SHEBANG, 0);
    return /^#!.*\bnode\b/.test(buffer.toString("utf8", 0, bytesRead));
  } finally {
    await file.close();
  }
}

/** Has npm put the package into its cache without running it. */
async function fetchPackage(call: NpxCall, { apart, env, cwd, signal }: NpxSurroundings, host: NpxHost): Promise<boolean> {
  const asked = { command: "npm", args: ["exec", "--yes", "--package", call.spec, "--", "node", "-e", "1"] };
  const { command, args } = await leftToNpm(asked, apart);
  const result = await runProgram({ env, cwd, signal, command, args, timeoutMs: FILL_MS, maxBytes: 1024 * 1024 }, host);
  return result.ok;
}
