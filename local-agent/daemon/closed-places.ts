/** What no path tool may touch, whatever `--deny` says: whoever reads it can act as this agent, or as its Cloudflare account. */
import { dirname, isAbsolute, join } from "node:path";
import type { Directories } from "./config-dir.ts";
import type { Mode } from "./settings.ts";

export interface ClosedPlacesFor {
  readonly directories: Directories;
  readonly mode: Mode;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Absolute places, existing or not: the agent's own directories, a key file named on the command line, and Wrangler's login
 * wherever one of its versions keeps it (xdg-app-paths on Linux, macOS and Windows; `~/.wrangler` before).
 */
export function closedPlaces({ directories, mode, home, env }: ClosedPlacesFor): string[] {
  const keyFile = "keyFile" in mode && mode.keyFile !== null ? [mode.keyFile] : [];
  const configHomes = [dirname(directories.config), join(home, ".config"), join(home, "Library", "Preferences")];
  const appData = env["APPDATA"] ?? "";
  if (isAbsolute(appData)) configHomes.push(join(appData, "xdg.config"));
  const wrangler = [...configHomes.map((configHome) => join(configHome, ".wrangler")), join(home, ".wrangler")];
  return [...new Set([directories.config, directories.state, ...keyFile, ...wrangler])];
}
