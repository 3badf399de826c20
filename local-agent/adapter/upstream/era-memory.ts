/** What servers spoke when they were last connected to, by the hash of their definition. In memory: one process asks once. */
import type { Clock } from "../../../shared/ports.ts";
import type { Era } from "./negotiation.ts";

/** A server that was upgraded still answers in the old way; only asking again finds out. */
const LEGACY_FOR_MS = 3_600_000;

export interface EraMemory {
  get(hash: string): Era | undefined;
  set(hash: string, era: Era): void;
}

export function createEraMemory(clock: Clock): EraMemory {
  const known = new Map<string, { readonly era: Era; readonly at: number }>();
  const get = (hash: string): Era | undefined => {
    const verdict = known.get(hash);
    return verdict?.era === "legacy" && clock.now() - verdict.at > LEGACY_FOR_MS ? undefined : verdict?.era;
  };
  return {
    get,
    set(hash, era) {
      // The hour counts from when the server was asked, not from when the answer was last used.
      if (get(hash) !== era) known.set(hash, { era, at: clock.now() });
    },
  };
}
