/** A relay whose clock a test moves forward, so that what should expire really does. */
import { join } from "node:path";

/** `entry` for `startWorker` and `startRelayApart`: the real Worker with the test's hand on its clock. */
export const MOVED_CLOCK_ENTRY = join(import.meta.dirname, "../fixtures/moved-clock.workerd.ts");

export const HOUR_MS = 60 * 60 * 1000;

/**
 * Lets this much time pass at the relay, which was started with `MOVED_CLOCK_ENTRY`. After `redeploy` it is back in the present.
 * `via`: for an origin that plain `fetch` does not reach.
 */
export async function pass(origin: string, ms: number, via: typeof fetch = fetch): Promise<void> {
  const answer = await via(`${origin}/test-clock?ms=${ms}`, { method: "POST" });
  if (answer.status !== 200) throw new Error(`the clock of ${origin} cannot be moved: ${answer.status} ${await answer.text()}`);
}
