/**
 * The skill on `mcpScript`, there with the tool and hidden with it. A manifest could only have it always there; so what Pi's settings say
 * of this package's skills, which Pi applies to what manifests name, is applied here.
 */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import picomatch from "picomatch";
import { realPath } from "../node/real-paths.ts";
import { packageDirectories } from "./package-servers.ts";

const SKILL = "skills/mcp-scripting/SKILL.md";

/** [PI81] Absolute path of the skill's file; null: the settings hide it, or it is not installed. @param cwd the session's */
export function scriptingSkill(pi: ExtensionAPI, cwd: string): string | null {
  const root = packageRoot(import.meta.dirname);
  if (root === null) return null;
  const shown = skillFilters(pi, cwd, root).every((filter) => lets(filter));
  return shown ? join(root, SKILL) : null;
}

/** Built, the code lies in another folder than as source. */
function packageRoot(from: string): string | null {
  for (let folder = from; ; folder = dirname(folder)) {
    if (existsSync(join(folder, SKILL))) return folder;
    if (folder === dirname(folder)) return null;
  }
}

/** Of every entry of the settings that means this package; one without a filter lets everything through. */
function skillFilters(pi: ExtensionAPI, cwd: string, root: string): readonly (readonly string[])[] {
  const { packages = [] } = pi.getSettings();
  const own = realPath(root);
  return packages.flatMap((entry) => {
    if (typeof entry === "string" || entry.skills === undefined) return [];
    const isOwn = packageDirectories(entry.source, cwd, homedir()).some((directory) => realPath(directory) === own);
    return isOwn ? [entry.skills] : [];
  });
}

/** As Pi filters what a manifest names: `!` leaves out, `+` and `-` decide on one path, the last word is theirs. Pure. */
export function lets(filter: readonly string[]): boolean {
  const words = (mark: string): string[] => filter.flatMap((word) => (word.startsWith(mark) ? [word.slice(1)] : []));
  const wanted = filter.filter((word) => !/^[!+-]/.test(word));
  if (words("-").some(isPath)) return false;
  if (words("+").some(isPath)) return true;
  if (filter.length === 0 || (wanted.length > 0 && !wanted.some(matches))) return false;
  return !words("!").some(matches);
}

const NAMES = [SKILL, "SKILL.md", dirname(SKILL), "mcp-scripting"];

function matches(pattern: string): boolean {
  return isPath(pattern) || NAMES.some((name) => picomatch.isMatch(name, pattern));
}

function isPath(text: string): boolean {
  const path = text.replaceAll("\\", "/").replace(/^\.\//, "").replace(/\/$/, "");
  return path === SKILL || path === dirname(SKILL) || path === dirname(dirname(SKILL));
}
