/**
 * A bound for the caller's patterns. A glob becomes a regular expression that backtracks, and one such match can take longer
 * than the age of the universe while every client of the host waits. `node:vm` is the one way in Node to interrupt
 * JavaScript that runs, a regular expression included; nothing here is a sandbox.
 */
import { createContext, Script, type Context } from "node:vm";
import { Refusal } from "./confined-root.ts";

/** For one batch of names: usually a millisecond. It is also how long another client may have to wait. */
const BATCH_MS = 500;
/** For all batches of one search: millions of names, with any pattern that is not made to be slow. */
const SEARCH_MS = 2_000;

export interface MatchBudget {
  /** Runs synchronous work, and interrupts it. @throws Refusal when the time is used up, or what `work` throws */
  spend<T>(work: () => T): T;
}

export function matchBudget(): MatchBudget {
  let leftMs = SEARCH_MS;
  return {
    spend(work) {
      if (leftMs < 1) throw tooComplex();
      const started = performance.now();
      try {
        return interruptible(work, Math.min(BATCH_MS, Math.ceil(leftMs)));
      } finally {
        leftMs -= performance.now() - started;
      }
    },
  };
}

let context: Context | undefined;
let script: Script | undefined;

function interruptible<T>(work: () => T, timeoutMs: number): T {
  context ??= createContext({ run: undefined });
  script ??= new Script("run()");
  const result: { value?: T } = {};
  context["run"] = () => void (result.value = work());
  try {
    script.runInContext(context, { timeout: timeoutMs });
    return result.value as T;
  } catch (error) {
    throw isTimeout(error) ? tooComplex() : error;
  } finally {
    context["run"] = undefined;
  }
}

/** The error is the other context's, so it is no instance of this one's `Error`. */
function isTimeout(error: unknown): boolean {
  return typeof error === "object" && error !== null && "code" in error && error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
}

function tooComplex(): Refusal {
  return new Refusal('the pattern is too complex to match in time: use fewer "*" in one name, or search a smaller directory (path)');
}
