/** What happens when a call starts a process: it is marked, and a search is kept out of denied places. */
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import type { ConfinedRoot } from "./confined-root.ts";
import { markEntry, type MarkedBy } from "./process-marker.ts";
import { filterSearchOutput } from "./search-output.ts";
import type { SpawnRules, SpawnStart } from "./spawn-seam.ts";

/**
 * Ripgrep quotes the lines of ignore files it cannot read as patterns. A linked `.ignore`, or a `.git` file that points
 * elsewhere, would have it quote a file outside the root.
 */
export const NO_IGNORE_MESSAGES = "--no-ignore-messages";

/** Set by grep's port once it has located what is searched, before Pi starts ripgrep. */
export interface SearchMemory {
  target: { readonly path: string; readonly directory: boolean } | undefined;
}

export interface CallSpawns {
  readonly rules: SpawnRules;
  readonly children: ReadonlySet<ChildProcess>;
  /** Whether a search was started under these rules. */
  searchWasConfined(): boolean;
}

export function callSpawns(root: ConfinedRoot, carriers: MarkedBy & { readonly label: string }, search: SearchMemory): CallSpawns {
  const children = new Set<ChildProcess>();
  let confined = false;
  const mark = (start: SpawnStart): SpawnStart => ({
    ...start,
    options: { ...start.options, env: { ...(start.options.env ?? process.env), ...markEntry(carriers.mark, carriers.label) } },
  });
  return {
    children,
    searchWasConfined: () => confined,
    rules: {
      adapt(start) {
        return search.target?.directory === true ? confineSearch(mark(start), search.target.path, root) : mark(start);
      },
      started(_command, child) {
        children.add(child);
        const target = search.target;
        if (target === undefined) return;
        confined = true;
        if (target.directory) filterSearchOutput(child, (path) => root.mayShow(join(target.path, path)));
      },
    },
  };
}

/** Exclusions go last, where no glob of the caller can take them back, and before the "--" that ends the options. */
function confineSearch(start: SpawnStart, directory: string, root: ConfinedRoot): SpawnStart {
  const end = start.args.indexOf("--");
  if (end === -1) throw new Error("ripgrep was started in an unexpected way, so its search cannot be confined");
  const exclusions = root.excludeGlobs(directory).flatMap((glob) => ["--iglob", glob]);
  return {
    command: start.command,
    args: [...start.args.slice(0, end), NO_IGNORE_MESSAGES, ...exclusions, ...start.args.slice(end)],
    options: { ...start.options, cwd: directory },
  };
}
