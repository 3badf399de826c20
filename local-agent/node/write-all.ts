/** Writes to a descriptor to the end of the text. */
import { writeSync } from "node:fs";
import { setTimeout as after } from "node:timers/promises";

const RETRY_MS = 10;
/** Whoever reads nothing for so long is gone. */
const MAX_IDLE_MS = 10_000;

/**
 * A pipe takes what it has room for, which may be a part or, for the moment, nothing. Rejects with what the system says when nobody reads.
 */
export async function writeAll(descriptor: number, text: string): Promise<void> {
  const bytes = Buffer.from(text);
  let done = 0;
  let idleMs = 0;
  while (done < bytes.byteLength) {
    try {
      done += writeSync(descriptor, bytes, done);
      idleMs = 0;
    } catch (error) {
      if (!isFull(error) || idleMs >= MAX_IDLE_MS) throw error;
      idleMs += RETRY_MS;
      await after(RETRY_MS);
    }
  }
}

function isFull(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EAGAIN";
}
