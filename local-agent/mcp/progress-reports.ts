/**
 * Progress of one call as MCP reports it (basic/utilities/progress): the value rises with every report, the message is
 * the end of what was printed since the last one. Throttled, so that a chatty command costs a bounded number of frames;
 * a silent one still reports now and then, because some clients give up on a call that reports nothing.
 */
import type { Timers } from "../../shared/ports.ts";

const INTERVAL_MS = 250;
const SILENCE_MS = 15_000;
const MESSAGE_CHARS = 1000;

export interface ProgressReport {
  readonly progress: number;
  readonly message: string;
}

export interface ProgressReports {
  /** Output that was just printed. */
  add(delta: string): void;
  /** What is told, at once and whenever nothing is printed, until the next word; null: the ordinary report. */
  say(message: string | null): void;
  /** No report leaves after this. */
  close(): void;
}

export interface ProgressOptions {
  readonly timers: Timers;
  /** False while the client does not read: reports are held back, and only the newest tail is kept. */
  readonly writable: () => boolean;
  /** Least time between two reports. */
  readonly intervalMs?: number;
  /** A report without output after this much silence. */
  readonly silenceMs?: number;
  /** What that report says. */
  readonly silenceMessage?: () => string;
}

/** @param send delivers one report; its failure means that the client is gone and is not reported again */
export function createProgressReports(send: (report: ProgressReport) => Promise<void>, options: ProgressOptions): ProgressReports {
  const { timers, writable, intervalMs = INTERVAL_MS, silenceMs = SILENCE_MS, silenceMessage = stillRunning } = options;
  let pending = "";
  let silent: string | null = null;
  let progress = 0;
  let resting = false;
  let stopTimer: () => void = () => {};

  const waitFor = (delayMs: number): void => {
    stopTimer();
    stopTimer = timers.after(delayMs, () => {
      if (resting && pending === "") {
        resting = false;
        waitFor(silenceMs);
      } else report();
    });
  };
  const report = (): void => {
    resting = true;
    waitFor(intervalMs);
    if (!writable()) return;
    progress += 1;
    const message = pending === "" ? (silent ?? silenceMessage()) : pending;
    pending = "";
    send({ progress, message }).catch(() => {}); // The stream is gone: what becomes of the call is decided elsewhere.
  };
  waitFor(silenceMs);
  return {
    add(delta) {
      if (delta === "") return;
      pending = tail(pending + delta);
      if (!resting) report();
    },
    say(message) {
      silent = message;
      if (message !== null && !resting) report();
    },
    close: () => stopTimer(),
  };
}

function stillRunning(): string {
  return "still running";
}

/** The last characters, never starting inside a surrogate pair. */
function tail(text: string): string {
  if (text.length <= MESSAGE_CHARS) return text;
  const kept = text.slice(-MESSAGE_CHARS);
  const first = kept.charCodeAt(0);
  return first >= 0xdc00 && first <= 0xdfff ? kept.slice(1) : kept;
}
