/**
 * What no path tool may touch, whatever `--deny` says: whoever reads it can act as this agent, or as its Cloudflare account.
 * And what none may write: whoever changes it has a program run.
 */
import { basename, dirname, isAbsolute, join } from "node:path";
import { agentDirectory } from "../node/agent-directory.ts";
import { globalConfigFiles } from "../node/config-places.ts";
import type { Directories } from "./config-dir.ts";
import type { Mode } from "./settings.ts";

export interface ClosedPlacesFor {
  readonly directories: Directories;
  readonly mode: Mode;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `--mcp-config`; absolute. */
  readonly mcpConfig?: string | null;
}

/**
 * Absolute places, existing or not: the agent's own directories, a key file named on the command line, Wrangler's login
 * wherever one of its versions keeps it (xdg-app-paths on Linux, macOS and Windows; `~/.wrangler` before), Pi's own directory (logins
 * and extensions), and the person's own files about MCP servers, which hold tokens and say what is run.
 */
export function closedPlaces({ directories, mode, home, env, mcpConfig = null }: ClosedPlacesFor): string[] {
  const keyFile = "keyFile" in mode && mode.keyFile !== null ? [mode.keyFile] : [];
  const configHomes = [dirname(directories.config), join(home, ".config"), join(home, "Library", "Preferences")];
  const appData = env["APPDATA"] ?? "";
  if (isAbsolute(appData)) configHomes.push(join(appData, "xdg.config"));
  const wrangler = [...configHomes.map((configHome) => join(configHome, ".wrangler")), join(home, ".wrangler")];
  const configPath = mcpConfig === null ? {} : { configPath: mcpConfig };
  const mcpFiles = globalConfigFiles({ cwd: home, home, env, platform: process.platform, ...configPath });
  // What npm runs for an MCP server, and its settings, which can name a program.
  const npm = [join(home, ".npm", "_npx"), join(home, ".npmrc")];
  return [...new Set([directories.config, directories.state, ...keyFile, ...wrangler, agentDirectory(env, home), ...mcpFiles, ...npm])];
}

/**
 * What this program runs: itself, its packages (which may be a link), and every `node_modules` further up, where Node looks
 * for what it does not find here (optional packages are asked for and usually missing).
 */
export function programPlaces(packageRoot: string): string[] {
  const places = [packageRoot];
  for (let directory = packageRoot; ; directory = dirname(directory)) {
    places.push(basename(directory) === "node_modules" ? directory : join(directory, "node_modules"));
    if (directory === dirname(directory)) return places;
  }
}
