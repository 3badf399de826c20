/** What was said before this start, or while the store could not be asked: pages from the latest back, until nothing can have been missed. */
import type { HumanResult } from "../../shared/human/calls.ts";
import type { HumanEntry } from "../../shared/human/entry.ts";
import { StoreUnreachable, type HumanStore } from "../../shared/human/store.ts";
import type { Transcript } from "./transcript.ts";

export interface HistoryLoader {
  /** The store can be asked. Calls back with what is new or changed; the last call wins. */
  load(): void;
  /** The store cannot be asked: from now on something may be missed. */
  lost(): void;
  /** What was said before this start is known. */
  isLoaded(): boolean;
}

export interface HistoryPorts {
  readonly store: HumanStore;
  readonly transcript: Transcript;
  readonly maxEntries: number;
  readonly onChanged: (entries: readonly HumanEntry[]) => void;
  readonly onLoaded: () => void;
  readonly onFailed: (cause: unknown) => void;
}

export function createHistoryLoader(ports: HistoryPorts): HistoryLoader {
  const { store, transcript } = ports;
  let round = 0;
  let isLoaded = false;
  let isInStep = false;
  /** The newest entry while nothing was missed; null: never. */
  let inStepUpTo: number | null = null;

  /** What is settled does not change, so older pages are of interest only for what was unsettled. */
  function reachesFarEnough(oldest: HumanEntry, unsettled: number | null): boolean {
    return inStepUpTo !== null && oldest.n <= Math.min(inStepUpTo, unsettled ?? inStepUpTo);
  }

  async function loadPages(mine: number): Promise<void> {
    const unsettled = transcript.oldestUnsettled();
    let before: number | null = null;
    for (let loaded = 0; loaded < ports.maxEntries;) {
      const page: HumanResult<"human.history"> = await store.ask("human.history", { before });
      if (mine !== round) return;
      ports.onChanged(transcript.upsert(page.entries));
      const oldest = page.entries[0];
      if (!page.more || oldest === undefined || reachesFarEnough(oldest, unsettled)) break;
      before = oldest.n;
      loaded += page.entries.length;
    }
    isInStep = true;
    isLoaded = true;
    ports.onLoaded();
  }

  return {
    load() {
      const mine = ++round;
      loadPages(mine).catch((cause: unknown) => {
        // It says when it is back; then everything is loaded again.
        if (mine === round && !(cause instanceof StoreUnreachable)) ports.onFailed(cause);
      });
    },
    lost() {
      if (isInStep) inStepUpTo = transcript.newest();
      isInStep = false;
      round += 1;
    },
    isLoaded: () => isLoaded,
  };
}
