/** Pi packages may name MCP servers in their manifest (`pi.mcp`). They are not started here, and whoever expects them is told what to do. */
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { isJsonObject } from "../../shared/json.ts";
import { expandHome } from "../adapter/config/expansion.ts";
import type { ConfigWarning } from "../adapter/config/server-definition.ts";
import { agentDirectory, hostBrand } from "../node/agent-directory.ts";
import { readParsedFile } from "../node/parsed-file.ts";

/** Of a list that is longer the rest is not looked at: it is about a hint only. */
const MAX_PACKAGES = 100;

/** [PI68] One for each package of Pi's settings that has such servers. Never rejects. */
export async function packageWarnings(pi: ExtensionAPI, cwd: string): Promise<readonly ConfigWarning[]> {
  const home = homedir();
  const manifests = packageSources(pi).map((source) => packageDirectories(source, cwd, home).map((directory) => join(directory, "package.json")));
  const warnings = await Promise.all(manifests.map(warningOf));
  return warnings.flat();
}

/** Where a package of Pi's settings may lie: the project's settings and the account's do not say whose it is. Absolute, existing or not. */
export function packageDirectories(source: string, cwd: string, home: string): readonly string[] {
  const roots = [join(cwd, hostBrand(process.env).configDir), agentDirectory(process.env, home)];
  return roots.map((root) => packageDirectory(source, root, home));
}

function packageSources(pi: ExtensionAPI): readonly string[] {
  try {
    const { packages = [] } = pi.getSettings();
    return packages.slice(0, MAX_PACKAGES).map((entry) => (typeof entry === "string" ? entry : entry.source));
  } catch {
    // Before the session has begun nobody can say.
    return [];
  }
}

/** Where Pi puts it: `npm:` and `git:` below the directory of its settings, anything else is a path from there. */
function packageDirectory(source: string, root: string, home: string): string {
  const npm = /^npm:(@?[^@]+)/.exec(source);
  if (npm?.[1] !== undefined) return join(root, "npm/node_modules", npm[1]);
  const git = /^(?:git:)?(?:(?:https?|ssh|git):\/\/)?(?:git@)?([\w.-]+\.[\w-]+)[/:]([^@]+?)(?:\.git)?(?:@.*)?$/.exec(source);
  if (git?.[1] !== undefined && git[2] !== undefined && !isPath(source)) return join(root, "git", git[1], git[2]);
  return resolve(root, expandHome(source, home));
}

function isPath(source: string): boolean {
  return source.startsWith(".") || source.startsWith("~") || isAbsolute(source);
}

async function warningOf(manifests: readonly string[]): Promise<readonly ConfigWarning[]> {
  for (const file of manifests) {
    const read = await readParsedFile(file, "jsonc");
    const pi = read.state === "read" && isJsonObject(read.content) ? read.content["pi"] : undefined;
    if (isJsonObject(pi) && Object.hasOwn(pi, "mcp")) return [{ file, server: null, message: NOT_STARTED }];
  }
  return [];
}

const NOT_STARTED = 'the servers that this Pi package names in "pi.mcp" are not started: put those you want under "mcpServers" of your mcp.json';
