/** The host's clock and timers. */
import type { Clock, Timers } from "../../shared/ports.ts";

export const systemClock: Clock = { now: () => Date.now() };

export const systemTimers: Timers = {
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};
