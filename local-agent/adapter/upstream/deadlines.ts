/**
 * The deadlines of one connection's requests. They stand still while the server waits for a person's answer: a form that takes two
 * minutes must not end the call it belongs to.
 */
import type { Timers } from "../../../shared/ports.ts";

interface Deadline {
  /** The whole time once more: the server showed that it is at work. */
  restart(): void;
  cancel(): void;
}

export interface Deadlines {
  /** Calls `expire` once after `ms` without a pause, a restart or a cancellation. */
  start(ms: number, expire: () => void): Deadline;
  /** Stops all of them; the returned function starts them anew with their whole time, once everybody who paused has resumed. */
  pause(): () => void;
}

export function createDeadlines(timers: Timers): Deadlines {
  const running = new Set<{ arm(): void; disarm(): void }>();
  let paused = 0;

  const start = (ms: number, expire: () => void): Deadline => {
    let stop: (() => void) | undefined;
    const each = {
      arm(): void {
        each.disarm();
        stop = timers.after(ms, () => {
          running.delete(each);
          expire();
        });
      },
      disarm(): void {
        stop?.();
        stop = undefined;
      },
    };
    running.add(each);
    if (paused === 0) each.arm();
    return {
      restart: () => {
        if (running.has(each) && paused === 0) each.arm();
      },
      cancel: () => {
        running.delete(each);
        each.disarm();
      },
    };
  };

  const pause = (): (() => void) => {
    paused++;
    if (paused === 1) for (const each of running) each.disarm();
    let resumed = false;
    return () => {
      if (resumed) return;
      resumed = true;
      paused--;
      if (paused === 0) for (const each of running) each.arm();
    };
  };

  return { start, pause };
}
