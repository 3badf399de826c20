/** Shows the page in a browser, through the private file that leads there (`daemon/page-file.ts`). */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import open from "open";
import { readLiveClaim } from "../daemon/agent-lock.ts";
import type { Directories } from "../daemon/config-dir.ts";
import { EXIT, StartFailure, type ExitCode } from "../daemon/start-failure.ts";

/** `pimcp open`. Throws `StartFailure` when nothing runs that has a page. */
export async function openRunningPage(directories: Directories, show: (text: string) => void): Promise<ExitCode> {
  const places = listPlaces(directories.state);
  const claims = places.map((place) => readLiveClaim(place)).filter((claim) => claim !== undefined);
  if (claims.length === 0) throw new StartFailure("No agent is running on this machine: start one with pimcp.");
  const files = claims.flatMap((claim) => (claim.pageFile === null ? [] : [claim.pageFile]));
  if (files.length === 0) throw new StartFailure("The running agent has no page: it was started with --no-oauth.");
  for (const file of files) {
    if (!(await openPageFile(file))) show(`No browser could be started: open ${file} yourself.\n`);
  }
  return EXIT.asked;
}

/** Whether a browser was started. */
export async function openPageFile(file: string): Promise<boolean> {
  try {
    const browser = await open(pathToFileURL(file).href);
    browser.on("error", () => {});
    browser.unref();
    return true;
  } catch {
    return false; // No opener on this machine: the address was printed.
  }
}

/** Whether a window can appear for the person who started this: not over SSH, not on a machine without a desktop. */
export function hasDisplay(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): boolean {
  if (platform === "linux" || platform === "freebsd") return Boolean(env["DISPLAY"] ?? env["WAYLAND_DISPLAY"] ?? env["WSL_DISTRO_NAME"]);
  return env["SSH_CONNECTION"] === undefined;
}

function listPlaces(stateDir: string): readonly string[] {
  try {
    return readdirSync(join(stateDir, "relays")).map((name) => join(stateDir, "relays", name));
  } catch {
    return []; // Nothing was ever started.
  }
}
