/** A bounded number of seats, taken in the order they were asked for, of which one owner has so many at most. */
export interface Seats {
  /** `leave` gives the seat back, or the place in the queue; calling it again is harmless. */
  take(owner: string): { readonly taken: Promise<void>; readonly leave: () => void };
}

interface Waiting {
  readonly owner: string;
  readonly sit: () => void;
}

export function createSeats(count: number, eachOwner: number): Seats {
  let free = count;
  const queue = new Set<Waiting>();
  const taken = new Map<string, number>();
  const of = (owner: string): number => taken.get(owner) ?? 0;

  /** Whoever has asked first among those who may have one more. */
  function seatNext(): void {
    for (const waiting of queue) {
      if (free === 0) return;
      if (of(waiting.owner) >= eachOwner) continue;
      free -= 1;
      taken.set(waiting.owner, of(waiting.owner) + 1);
      queue.delete(waiting);
      waiting.sit();
    }
  }

  function giveBack(owner: string): void {
    free += 1;
    if (of(owner) > 1) taken.set(owner, of(owner) - 1);
    else taken.delete(owner);
    seatNext();
  }

  return {
    take(owner) {
      const { promise, resolve } = Promise.withResolvers<void>();
      let at: "queue" | "seat" | "gone" = "queue";
      const waiting: Waiting = {
        owner,
        sit() {
          at = "seat";
          resolve();
        },
      };
      queue.add(waiting);
      seatNext();
      return {
        taken: promise,
        leave() {
          queue.delete(waiting);
          if (at === "seat") giveBack(owner);
          at = "gone";
        },
      };
    },
  };
}
