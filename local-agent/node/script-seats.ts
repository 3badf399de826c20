/** A bounded number of seats, taken in the order they were asked for. */
export interface Seats {
  /** `leave` gives the seat back, or the place in the queue; calling it again is harmless. */
  take(): { readonly taken: Promise<void>; readonly leave: () => void };
}

export function createSeats(count: number): Seats {
  let free = count;
  const queue = new Set<() => void>();
  const giveBack = (): void => {
    const [next] = queue;
    if (next === undefined) free += 1;
    else next();
  };
  return {
    take() {
      const { promise: taken, resolve } = Promise.withResolvers<void>();
      let at: "queue" | "seat" | "gone" = "queue";
      const sit = (): void => {
        queue.delete(sit);
        at = "seat";
        resolve();
      };
      if (free > 0) {
        free -= 1;
        sit();
      } else queue.add(sit);
      return {
        taken,
        leave() {
          if (at === "seat") giveBack();
          queue.delete(sit);
          at = "gone";
        },
      };
    },
  };
}
