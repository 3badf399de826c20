/** Time that only a test moves. Timers run in order of their due time, within `advance`. */
import type { Clock, Timers } from "../../shared/ports.ts";

export class ManualClock implements Clock, Timers {
  #now: number;
  #waiting: { at: number; run: () => void }[] = [];

  constructor(now = 1_000_000) {
    this.#now = now;
  }

  /** How many timers have not run and are not cancelled. */
  get waiting(): number {
    return this.#waiting.length;
  }

  now(): number {
    return this.#now;
  }

  after(delayMs: number, run: () => void): () => void {
    const entry = { at: this.#now + delayMs, run };
    this.#waiting.push(entry);
    return () => {
      this.#waiting = this.#waiting.filter((each) => each !== entry);
    };
  }

  advance(ms: number): void {
    const until = this.#now + ms;
    for (;;) {
      const next = this.#waiting.filter((entry) => entry.at <= until).toSorted((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.#waiting = this.#waiting.filter((entry) => entry !== next);
      this.#now = Math.max(this.#now, next.at);
      next.run();
    }
    this.#now = until;
  }
}
