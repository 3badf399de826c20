/** Which files configure upstream servers, in which order, and which of them belong to the project. Rules: docs/spec/upstream-config.md. */
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { IMPORT_KINDS } from "../adapter/config/config-document.ts";
import { expandHome } from "../adapter/config/expansion.ts";
import { hostPlaces, type Surroundings } from "../adapter/config/host-places.ts";
import type { ConfigOrigin } from "../adapter/config/server-definition.ts";
import type { Environment } from "../adapter/ports.ts";
import { agentDirectory, hostBrand } from "./agent-directory.ts";
import { realPath } from "./real-paths.ts";

export interface ConfigPlacesOptions {
  /** The project's directory, absolute. */
  readonly cwd: string;
  readonly home: string;
  readonly env: Environment;
  readonly platform: string;
  /** In the place of the agent directory's file. It goes before `argv`. */
  readonly configPath?: string;
  /** Words of a host's command line, in which `--mcp-config` may stand. */
  readonly argv?: readonly string[];
}

export interface FilePlace {
  readonly origin: ConfigOrigin;
  readonly inProject: boolean;
}

export interface ConfigPlaces {
  /** The account's files and the agent directory's, the weakest first. */
  readonly global: readonly FilePlace[];
  readonly project: readonly FilePlace[];
  /** Only one file counts: nothing is looked for anywhere else. */
  readonly isExclusive: boolean;
}

export function configPlaces(options: ConfigPlacesOptions): ConfigPlaces {
  const { cwd, home, env } = options;
  const explicit = options.configPath ?? configPathOf(options.argv ?? []);
  const agentFile = explicit === null ? join(agentDirectory(env, home), "mcp.json") : resolve(cwd, expandHome(explicit, home));
  const agent = filePlace("agent-dir", agentFile);
  if (env["PI_MCP_CONFIG_MODE"] === "exclusive") return { global: [agent], project: [], isExclusive: true };
  return { global: [...userFiles(options).map((file) => filePlace("user", file)), agent], project: projectFiles(cwd, env), isExclusive: false };
}

function userFiles({ home }: ConfigPlacesOptions): readonly string[] {
  return [join(home, ".config", "mcp", "mcp.json"), join(home, ".agents", "mcp.json"), join(home, ".agents", "mcp", "mcp.json")];
}

/** The two files of one directory, the weaker first. */
export function projectFiles(directory: string, env: Environment): readonly FilePlace[] {
  return [join(directory, ".mcp.json"), projectOverrideFile(directory, env)].map((file) => ({ ...filePlace("project", file), inProject: true }));
}

/** The strongest file of a project, which holds what its person decides for it. */
export function projectOverrideFile(directory: string, env: Environment): string {
  return join(directory, hostBrand(env).configDir, "mcp.json");
}

function filePlace(layer: ConfigOrigin["layer"], file: string): FilePlace {
  return { origin: { layer, file }, inProject: false };
}

/** The value of `--mcp-config`, as its own word or after `=`. Words after `--` are not looked at. */
export function configPathOf(argv: readonly string[]): string | null {
  let found: string | null = null;
  for (const [index, word] of argv.entries()) {
    if (word === "--") break;
    const next = argv[index + 1] ?? "";
    // Another flag, or a file for the model, is not its value.
    if (word === "--mcp-config" && next !== "" && !/^[-@]/.test(next)) found = next;
    if (word.startsWith("--mcp-config=") && word.length > "--mcp-config=".length) found = word.slice("--mcp-config=".length);
  }
  return found;
}

/** What `hostPlaces` has to know of this machine. */
export function hostSurroundings({ cwd, home, env, platform }: ConfigPlacesOptions): Surroundings {
  return { cwd, home, env, platform, upToRepository: upToRepository(cwd) };
}

/** Without a repository only the directory itself: what lies above belongs to somebody else. */
function upToRepository(cwd: string): readonly string[] {
  const passed: string[] = [];
  for (let directory = cwd; ; directory = dirname(directory)) {
    passed.push(directory);
    if (existsSync(join(directory, ".git"))) return passed;
    if (directory === dirname(directory)) return [cwd];
  }
}

/**
 * Absolute paths of every file outside of projects that could configure a server that runs unasked, existing or not, and where links
 * lead. Whoever offers files to a remote client closes them to writing.
 */
export function globalConfigFiles(options: ConfigPlacesOptions): readonly string[] {
  const around = hostSurroundings(options);
  const hosts = IMPORT_KINDS.flatMap((kind) => hostPlaces(kind, around)).filter(({ inProject }) => !inProject);
  const own = join(agentDirectory(options.env, options.home), "mcp.json");
  const files = [...userFiles(options), own, ...configPlaces(options).global.map(({ origin }) => origin.file), ...hosts.map(({ path }) => path)];
  return [...new Set(files.flatMap((file) => [file, realPath(file) ?? file]))];
}
