/** The link's heartbeat and redial times. Pure; docs/spec/wire.md WP18. */

/** Ping more often while somebody waits for an answer, so that a dead link is found within the grace. */
export function pingEveryMs(isBusy: boolean): number {
  return isBusy ? 10_000 : 25_000;
}

/** How long a ping may stay unanswered. With the interval this makes 25 s when busy and 60 s when idle. */
export function pongWithinMs(isBusy: boolean): number {
  return isBusy ? 15_000 : 35_000;
}

const FIRST_MS = 1000;
const MOST_MS = 30_000;

/**
 * Delay before dial number `attempt` (0 = first after a loss): under a second at first, then doubling to 30 s, always
 * with full jitter, so that many agents do not return at once after a deploy. `random` is in [0, 1).
 */
export function redialAfterMs(attempt: number, random: number): number {
  const ceiling = Math.min(MOST_MS, FIRST_MS * 2 ** Math.min(attempt, 10));
  return Math.round(attempt === 0 ? random * ceiling : ceiling / 4 + random * ceiling * 0.75);
}
