/**
 * News of the desk, taken a frame at a time: a command that prints a thousand lines a second must not make the page draw
 * a thousand times. Pure but for `schedule`, which runs its argument once, soon.
 */
import type { DeskEvent } from "../shared/desk.ts";
import { joinedOutput } from "../shared/joined-output.ts";

export interface Frames {
  add(event: DeskEvent): void;
}

/** A tab in the background has few frames: what is queued for one stays bounded. */
const MAX_EVENTS = 1_000;
const MAX_CHARS = 1_000_000;

export function createFrames(deliver: (events: readonly DeskEvent[]) => void, schedule: (run: () => void) => void): Frames {
  let queued: DeskEvent[] = [];
  let chars = 0;
  const flush = (): void => {
    if (queued.length === 0) return;
    const events = queued;
    queued = [];
    chars = 0;
    deliver(events);
  };
  return {
    add(event) {
      if (event.t === "output") chars += event.delta.length;
      const joined = joinedOutput(queued.at(-1), event);
      if (joined !== undefined) queued[queued.length - 1] = joined;
      else if (queued.push(event) === 1) schedule(flush);
      // A page that has just connected must not show for a moment that it is live and what it knew before.
      if (event.t === "snapshot" || queued.length >= MAX_EVENTS || chars > MAX_CHARS) flush();
    },
  };
}

/** Runs at the next frame; where there is none, because nobody sees the page, after a moment. */
export function nextFrame(run: () => void): void {
  let isDue = true;
  const once = (): void => {
    if (isDue) run();
    isDue = false;
  };
  requestAnimationFrame(once);
  setTimeout(once, 100);
}
