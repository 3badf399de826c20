/** The bounds of one script: kept inside its realm out of courtesy, and enforced outside of it. Text is counted in UTF-16 units. */
export const SCRIPT_LIMITS = {
  /** One message in either direction. */
  messageChars: 16 * 1024 * 1024,
  /** Everything emitted and logged; far more than a model is shown, enough for a file. */
  outputChars: 4 * 1024 * 1024,
  outputEntries: 10_000,
  /** Requests served at once; the others wait inside the script. */
  concurrency: 8,
  timers: 1_000,
  /** One value that is no JSON, as `console` shows it. */
  shownChars: 256 * 1024,
  shownMembers: 1_000,
} as const;

/** Megabytes. What is not on the heap (regular expressions, locale data, stacks) is in the second only. */
export const SCRIPT_MEMORY_MB = { heap: 192, process: 512 } as const;
