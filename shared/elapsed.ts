/** How long ago, and how long still, in words for a person. Pure. */

/** "12 s ago". */
export function age(at: number, now: number): string {
  return now - at < 4_500 ? "just now" : `${elapsed(at, now)} ago`;
}

/** "12 s". A clock that differs from the relay's never shows a negative time. */
export function elapsed(since: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - since) / 1_000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** "9:41" until `end`; `undefined` when that is over. */
export function countdown(end: number, now: number): string | undefined {
  const seconds = Math.ceil((end - now) / 1_000);
  if (seconds <= 0) return undefined;
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
