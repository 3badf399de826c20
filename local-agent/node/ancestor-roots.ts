/** `settings.ancestorConfigRoots`: projects inside a directory of projects that share its configuration. Rule UC17 of docs/spec/upstream-config.md. */
import { dirname, isAbsolute } from "node:path";
import { expandHome } from "../adapter/config/expansion.ts";
import { projectFiles, type ConfigPlacesOptions, type FilePlace } from "./config-places.ts";
import { isDirectory, isWithin, realPath } from "./real-paths.ts";

export interface Ancestors {
  /** The farthest directory's first. */
  readonly places: readonly FilePlace[];
  readonly problems: readonly string[];
}

/** @param roots as the account's own files name them */
export function ancestorPlaces(roots: readonly string[], options: ConfigPlacesOptions): Ancestors {
  const problems: string[] = [];
  const usable: string[] = [];
  const cwd = realPath(options.cwd) ?? options.cwd;
  for (const root of roots) {
    const read = readRoot(root, options.home, cwd);
    if ("problem" in read)
      problems.push(`the setting "ancestorConfigRoots" has ${JSON.stringify(root.slice(0, 200))}: ${read.problem}; it is ignored`);
    else usable.push(read.directory);
  }
  const deepest = usable.toSorted((a, b) => b.length - a.length)[0];
  return { places: deepest === undefined ? [] : between(deepest, cwd).flatMap((directory) => projectFiles(directory, options.env)), problems };
}

function readRoot(root: string, home: string, cwd: string): { readonly directory: string } | { readonly problem: string } {
  const expanded = expandHome(root, home);
  if (!isAbsolute(expanded)) return { problem: "expected an absolute path, or one that begins with ~/" };
  const directory = realPath(expanded);
  if (directory === null || !isDirectory(directory)) return { problem: "expected a directory, and there is none" };
  if (!isWithin(directory, realPath(home) ?? home)) return { problem: "expected a directory inside the home directory" };
  if (!isWithin(cwd, directory)) return { problem: "this project is not inside it" };
  return { directory };
}

/** `root` and the directories below it that lead to `cwd`, without `cwd`. */
function between(root: string, cwd: string): readonly string[] {
  const passed: string[] = [];
  for (let directory = cwd; directory !== root;) {
    directory = dirname(directory);
    passed.unshift(directory);
  }
  return passed;
}
