/** Lines on the terminal about what somebody else can cause: one, and then none for a while, however much comes. */
import type { Clock, Timers } from "../../shared/ports.ts";

/** Somebody who was told looks; more lines would tell them nothing new. */
const PAUSE_MS = 30_000;

export interface PacedLines {
  /** There may be something to say: says it now, or when the pause is over. */
  readonly speak: () => void;
  readonly stop: () => void;
}

export interface PacedLinesPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly say: (line: string) => void;
  /** What there is to say now; undefined: nothing, or no longer. */
  readonly line: () => string | undefined;
  /** It was said. */
  readonly onSaid: () => void;
}

export function pacedLines({ clock, timers, say, line, onSaid }: PacedLinesPorts): PacedLines {
  let quietUntil = 0;
  let cancel: (() => void) | undefined;

  function speak(): void {
    const text = line();
    if (text === undefined || cancel !== undefined) return;
    const pause = quietUntil - clock.now();
    if (pause > 0) {
      cancel = timers.after(pause, () => {
        cancel = undefined;
        speak();
      });
      return;
    }
    quietUntil = clock.now() + PAUSE_MS;
    onSaid();
    say(text);
  }
  return { speak, stop: () => cancel?.() };
}
