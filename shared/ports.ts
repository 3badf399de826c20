/** What every part may ask of its host. Pure modules get `now` as an argument instead. */

/** Wall clock in milliseconds since the epoch. */
export interface Clock {
  now(): number;
}

/** One-shot timers. The returned function cancels; calling it twice is harmless. */
export interface Timers {
  after(delayMs: number, run: () => void): () => void;
}

export type LogLevel = "error" | "warn" | "info" | "debug";

/** Values that may be logged: ids, sizes, hashes, states. Never arguments, contents, tokens or queries. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/**
 * Injected logger. `event` is `noun.past-participle` (`link.opened`); sentences for people are made at the sink.
 * Must not throw.
 */
export interface Log {
  event(level: LogLevel, event: string, fields?: LogFields): void;
}
