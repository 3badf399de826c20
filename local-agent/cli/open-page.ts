/** Shows the page in a browser, through the private file that leads there (`daemon/page-file.ts`). */
import type { ChildProcess } from "node:child_process";
import { pathToFileURL } from "node:url";
import open from "open";
import { listAllClaims } from "../daemon/agent-lock.ts";
import type { Directories } from "../daemon/config-dir.ts";
import { readPageAddress } from "../daemon/page-file.ts";
import { servesWorkspace } from "./choose-agent.ts";
import { choiceWords } from "./command-words.ts";
import { EXIT, StartFailure, type ExitCode } from "../daemon/start-failure.ts";

export interface Viewer {
  readonly show: (text: string) => void;
  /** A person reads what is shown; otherwise it may end where others read it. */
  readonly isTerminal: boolean;
  /** How the person starts us: `pimcp`, or `npm start --`. */
  readonly program: string;
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
}

/** `pimcp open`: the pages of all that run, or of one workspace. Throws `StartFailure` when nothing runs that has a page, or when neither a browser nor an address can be had. */
export async function openRunningPage(directories: Directories, workspace: string | null, viewer: Viewer): Promise<ExitCode> {
  const running = listAllClaims(directories.state);
  if (running.length === 0) throw new StartFailure("No agent is running on this machine: start one with pimcp.");
  const claims = running.filter((claim) => workspace === null || servesWorkspace(claim, workspace));
  if (claims.length === 0)
    throw new StartFailure(`No running agent is the one of --workspace ${workspace}: leave it out to open the page of each that runs.`);
  const files = claims.flatMap((claim) => (claim.pageFile === null ? [] : [claim.pageFile]));
  if (files.length === 0) throw new StartFailure("The running agent has no page: it was started with --no-oauth and without --human.");
  let isShown = false;
  for (const file of files) {
    const why = !hasDisplay(viewer.env, viewer.platform)
      ? "There is no display here"
      : (await openPageFile(file))
        ? null
        : "No browser could be started";
    if (why === null) continue;
    const address = readPageAddress(file);
    if (address === undefined) throw new StartFailure(`${why}, and the agent is not ready yet or just ending: run pimcp open again.`, EXIT.failed);
    viewer.show(`${why}: ${wayToPage({ address, file }, viewer)}\n`);
    isShown = true;
  }
  const flags = choiceWords({ relay: null, workspace, port: null });
  if (isShown) viewer.show(`Without one, ${viewer.program} pending${flags} and ${viewer.program} allow CODE${flags} do the same here.\n`);
  return EXIT.asked;
}

/** The address holds the page's secret, so it goes to a terminal only. */
function wayToPage(page: { readonly address: string; readonly file: string }, { isTerminal, env }: Viewer): string {
  if (!isTerminal) return `open ${page.file} in a browser on this machine.`;
  const { port } = new URL(page.address);
  const tunnel = env["SSH_CONNECTION"] === undefined ? "" : `\nFrom the machine you sit at, first: ssh -L ${port}:127.0.0.1:${port} this-machine`;
  return `open this address in a browser. It is a secret of yours.\n\n  ${page.address}\n${tunnel}`;
}

/** Openers that find nothing to open with say so within this time; one that still runs then has become the browser. */
const FAILS_WITHIN_MS = 2000;

/** Whether a browser was started. */
export async function openPageFile(file: string): Promise<boolean> {
  try {
    const opener = await open(pathToFileURL(file).href);
    opener.on("error", () => {});
    const code = await exitSoon(opener);
    opener.unref();
    return code === 0 || code === "running";
  } catch {
    return false; // No opener on this machine.
  }
}

/** The exit code, null after a signal. */
function exitSoon(opener: ChildProcess): Promise<number | null | "running"> {
  if (opener.exitCode !== null || opener.signalCode !== null) return Promise.resolve(opener.exitCode);
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve("running"), FAILS_WITHIN_MS);
    opener.once("exit", (code) => {
      clearTimeout(timer);
      resolve(code);
    });
  });
}

/** Whether a window can appear for the person who started this: not over SSH, not on a machine without a desktop. */
export function hasDisplay(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): boolean {
  if (platform === "linux" || platform === "freebsd")
    return ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"].some((name) => (env[name] ?? "") !== "");
  return env["SSH_CONNECTION"] === undefined;
}
