import { describe, expect, test } from "vitest";
import { pingEveryMs, pongWithinMs, redialAfterMs } from "../../../../local-agent/daemon/link-timing.ts";

describe("link timing", () => {
  test("[WP18] a busy link is pinged every 10 s and dead after 25, an idle one every 25 and dead after 60", () => {
    expect([pingEveryMs(true), pingEveryMs(true) + pongWithinMs(true)]).toEqual([10_000, 25_000]);
    expect([pingEveryMs(false), pingEveryMs(false) + pongWithinMs(false)]).toEqual([25_000, 60_000]);
  });

  test("[WP18] the first redial comes within a second, later ones jittered up to 30 s", () => {
    expect(redialAfterMs(0, 0)).toBe(0);
    expect(redialAfterMs(0, 0.999)).toBeLessThanOrEqual(1000);
    const spans = Array.from({ length: 12 }, (_, attempt) => [redialAfterMs(attempt, 0), redialAfterMs(attempt, 0.999)] as const);
    for (const [least, most] of spans) {
      expect(least).toBeLessThan(most);
      expect(most).toBeLessThanOrEqual(30_000);
    }
    expect(spans.at(-1)?.[1]).toBeGreaterThan(29_000);
    expect(spans.at(-1)?.[0]).toBe(7500);
  });
});
