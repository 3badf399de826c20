/**
 * Where Windows would look into the working directory for a program first: cmd.exe, CreateProcess and what imitates them. A server of the
 * person's own works in the project, where a client may write an `npx.cmd`, so a bare name is looked for here, on the search path alone.
 * Pure but for the check of a file that it is given.
 */
import { win32 } from "node:path";
import type { Environment } from "../adapter/ports.ts";

export interface WindowsPlace {
  /** What the program will find as its environment; names count in any case. */
  readonly env: Environment;
  readonly isFile: (path: string) => boolean;
}

/** What Windows starts, but for scripts that need a program of their own, which would be looked for in the working directory again. */
const STARTABLE: ReadonlySet<string> = new Set([".com", ".exe", ".bat", ".cmd"]);
const DEFAULT_EXTENSIONS = ".COM;.EXE;.BAT;.CMD";

/** For cmd.exe, and whoever else asks Windows whether to look into the working directory (`NeedCurrentDirectoryForExePathW`). */
const NOT_IN_WORKING_DIRECTORY = { NoDefaultCurrentDirectoryInExePath: "1" } as const;

/** What is started, and with which environment. A shell reads its command itself. Null: there is no such program on the search path. */
export function windowsStart(
  { command, shell }: { readonly command: string; readonly shell: boolean },
  place: WindowsPlace,
): { readonly command: string; readonly env: Environment } | null {
  const found = shell ? command : windowsCommand(command, place);
  return found === null ? null : { command: found, env: { ...place.env, ...NOT_IN_WORKING_DIRECTORY } };
}

/** The full path of a program that is called by its bare name; what is a path stays as it is. Null: it is not on the search path. */
function windowsCommand(command: string, { env, isFile }: WindowsPlace): string | null {
  if (/[\\/:]/.test(command)) return command;
  const names = namesOf(command, windowsVariable(env, "PATHEXT") ?? DEFAULT_EXTENSIONS);
  for (const folder of (windowsVariable(env, "PATH") ?? "").split(";").map((entry) => entry.replace(/^"(.*)"$/, "$1"))) {
    // Any other begins at the working directory, or at the drive's.
    if (!/^(?:[a-z]:[\\/]|[\\/]{2})/i.test(folder)) continue;
    const found = names.map((name) => win32.join(folder, name)).find(isFile);
    if (found !== undefined) return found;
  }
  return null;
}

/** The variable of this name in whatever case; of several the one that Node gives to a child, the first in order. */
function windowsVariable(env: Environment, name: string): string | undefined {
  const key = Object.keys(env)
    .toSorted()
    .find((each) => each.toUpperCase() === name.toUpperCase() && env[each] !== undefined);
  return key === undefined ? undefined : env[key];
}

function namesOf(command: string, pathExt: string): readonly string[] {
  const extensions = pathExt.split(";").filter((extension) => STARTABLE.has(extension.toLowerCase()));
  const asItIs = STARTABLE.has(win32.extname(command).toLowerCase()) ? [command] : [];
  return [...asItIs, ...extensions.map((extension) => `${command}${extension}`)];
}
