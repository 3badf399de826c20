/**
 * Pi starts ripgrep and the shells with `child_process.spawn` itself and has no port for grep's arguments. This module
 * puts one step before that function, for calls that run inside `withSpawnRules` only: denied places are kept out of a
 * search, and a call knows what it started.
 *
 * It rests on `module.syncBuiltinESMExports` (Node's documented way to let importers see a changed built-in). A test and
 * `pi-tools.ts` both hold that grep really passed here; a search that did not is thrown away.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import childProcess, { type ChildProcess, type SpawnOptions } from "node:child_process";
import { syncBuiltinESMExports } from "node:module";

export interface SpawnRules {
  /** What to start instead. */
  adapt(start: SpawnStart): SpawnStart;
  /** Called with the running child before its starter sees it. */
  started(command: string, child: ChildProcess): void;
}

export interface SpawnStart {
  readonly command: string;
  readonly args: readonly string[];
  readonly options: SpawnOptions;
}

const rulesOfCall = new AsyncLocalStorage<SpawnRules>();

/** Runs `run` so that every process started within it, and within what it awaits, obeys `rules`. */
export function withSpawnRules<T>(rules: SpawnRules, run: () => Promise<T>): Promise<T> {
  return rulesOfCall.run(rules, run);
}

/** Installs the step. Once per process, before the first call. */
export function installSpawnSeam(): void {
  const spawn = childProcess.spawn;
  const adapted = (command: string, args: readonly string[] = [], options: SpawnOptions = {}): ChildProcess => {
    const rules = rulesOfCall.getStore();
    if (rules === undefined) return spawn(command, args, options);
    const start = rules.adapt({ command, args, options });
    const child = spawn(start.command, start.args, start.options);
    rules.started(command, child);
    return child;
  };
  childProcess.spawn = adapted as typeof childProcess.spawn;
  syncBuiltinESMExports();
}
