/** Shell output on its way to whoever watches a call: decoded as it arrives, at most one report per interval, bounded. */
import type { Timers } from "../../shared/ports.ts";

const REPORT_INTERVAL_MS = 100;
/** Most text in one report. A command that prints faster is cut at the front: the newest lines are the interesting ones. */
export const MAX_REPORT_CHARS = 32_768;

export interface OutputDeltas {
  push(bytes: Uint8Array): void;
  /** Reports what is left. Nothing is reported after it. */
  finish(): void;
}

/** `report` gets only text that was not reported before. A character split between two chunks is reported once, whole. */
export function outputDeltas(report: (delta: string) => void, timers: Timers): OutputDeltas {
  const decoder = new TextDecoder();
  let waiting = "";
  let omitted = 0;
  let cancelTimer: (() => void) | undefined;
  let finished = false;

  const append = (text: string): void => {
    waiting += text;
    let excess = waiting.length - MAX_REPORT_CHARS;
    if (excess <= 0) return;
    if (isLowSurrogate(waiting.charCodeAt(excess))) excess += 1;
    waiting = waiting.slice(excess);
    omitted += excess;
  };
  const flush = (): void => {
    cancelTimer = undefined;
    if (waiting === "") return;
    const delta = omitted === 0 ? waiting : `[… ${omitted} characters not shown …]\n${waiting}`;
    waiting = "";
    omitted = 0;
    report(delta);
  };

  return {
    push(bytes) {
      if (finished) return;
      append(decoder.decode(bytes, { stream: true }));
      cancelTimer ??= timers.after(REPORT_INTERVAL_MS, flush);
    },
    finish() {
      if (finished) return;
      finished = true;
      cancelTimer?.();
      append(decoder.decode());
      flush();
    },
  };
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
