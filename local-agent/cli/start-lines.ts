/** What the person is told while a start takes its time: in order, and each line once. */
import type { Timers } from "../../shared/ports.ts";

export interface StartLines {
  /** A relay that stays away would otherwise say the same every few seconds. */
  readonly progress: (line: string) => void;
  /** "Starting …" is not said any more. */
  readonly stop: () => void;
}

const SLOW_MS = 1000;
const MAX_LINES = 20;

/** Says "Starting …" when a second has passed without any other line: after one it would come too late. */
export function startLines(say: (line: string) => void, timers: Timers): StartLines {
  const said = new Set<string>();
  const stop = timers.after(SLOW_MS, () => progress("Starting …"));
  const progress = (line: string): void => {
    stop();
    if (said.has(line) || said.size >= MAX_LINES) return;
    said.add(line);
    say(line);
  };
  return { progress, stop };
}
