/**
 * A lock between processes of this account, for a look and a write that belong together. It is held for milliseconds; one left by a kill
 * in that moment goes stale after 2 s, and the retries outlast it.
 */
import { join } from "node:path";
import lockfile from "proper-lockfile";

/** Runs what several processes may not do at once in `dir`, which is private and exists. Resolves with what it returns; rejects with what it throws. */
export async function underGuard<T>(dir: string, run: () => T): Promise<T> {
  const release = await lockfile.lock(dir, {
    realpath: false,
    lockfilePath: join(dir, "guard.lock"),
    stale: 2000,
    // A clock that jumps makes a fresh lock look old; the work below is done in a moment, and the claim itself decides.
    onCompromised: () => {},
    retries: { retries: 100, factor: 1, minTimeout: 50, maxTimeout: 50 },
  });
  try {
    return run();
  } finally {
    await release();
  }
}
