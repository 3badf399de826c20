/**
 * Gives back words that were taken for a call which cannot answer with them. Without it they would count as read, because
 * the exchange of a cancelled call may end well all the same.
 */
import { StoreUnreachable, type HumanStore } from "../../shared/human/store.ts";

export interface WordRelease {
  /** Nothing to do where there is no exchange (`x` null). Resolves when the store was told or cannot be; never rejects. */
  release(x: number | null): Promise<void>;
  /** The store can be asked again. */
  again(): void;
}

export function createWordRelease(store: HumanStore, onFailed: (cause: unknown) => void): WordRelease {
  const waiting = new Set<number>();

  function tell(x: number): Promise<void> {
    return store.ask("human.release", { x }).then(
      () => {
        waiting.delete(x);
      },
      (cause: unknown) => {
        if (cause instanceof StoreUnreachable) return;
        waiting.delete(x);
        onFailed(cause);
      },
    );
  }

  return {
    async release(x) {
      if (x === null) return;
      waiting.add(x);
      await tell(x);
    },
    again: () => waiting.forEach((x) => void tell(x)),
  };
}
