/**
 * The one seat for a call that waits for the person. A second call finds it taken, but first whoever sits there is
 * probed: a client that gave up and called again must not be turned away by its own ghost.
 */
import type { Waiting } from "../../shared/desk.ts";
import type { WaitOrder } from "../../shared/human/channel.ts";
import type { Clock, Timers } from "../../shared/ports.ts";

/** A closed connection is noticed at the second write after it, so the holder is probed twice. */
const PROBE_GAP_MS = 50;
/** How long a probed holder has to turn out gone. */
const GHOST_MS = 200;
/** Beyond its budget a call sits on only while it is unknown whether words were taken for it; its exchange is over by then. */
const UNCERTAIN_MS = 120_000;

export interface Seat {
  readonly order: WaitOrder;
  readonly waiting: Waiting;
  /** There may be something to take. Kept until `next` tells it, so none is missed. */
  wake(): void;
  /** What happens next. `beyondBudget`: the end of the budget is not an answer yet. */
  next(beyondBudget: boolean): Promise<"woken" | "budget" | "ended">;
  /** Frees the seat. Harmless when repeated. */
  leave(): void;
}

export interface WaitingSeat {
  current(): Seat | null;
  /** Null: somebody waits already. */
  claim(order: WaitOrder): Seat | null;
  contend(order: WaitOrder): Promise<Seat | "busy" | "ended">;
}

export interface WaitingSeatPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly changed: () => void;
}

export function createWaitingSeat(ports: WaitingSeatPorts): WaitingSeat {
  let current: Seat | null = null;
  let left = Promise.withResolvers<void>();

  function claim(order: WaitOrder): Seat | null {
    if (current !== null) return null;
    const seat = createSeat(order, ports, () => {
      if (current !== seat) return;
      current = null;
      left.resolve();
      left = Promise.withResolvers<void>();
      ports.changed();
    });
    current = seat;
    ports.changed();
    return seat;
  }

  return {
    current: () => current,
    claim,
    async contend(order) {
      const holder = current;
      holder?.order.probe();
      if (holder !== null) await leftOrOver(left.promise, PROBE_GAP_MS, ports.timers);
      if (holder !== null && current === holder) {
        holder.order.probe();
        await leftOrOver(left.promise, GHOST_MS, ports.timers);
      }
      return order.signal.aborted ? "ended" : (claim(order) ?? "busy");
    },
  };
}

function leftOrOver(left: Promise<void>, ms: number, timers: Timers): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = timers.after(ms, resolve);
  return Promise.race([left, promise]).finally(cancel);
}

function createSeat(order: WaitOrder, { clock, timers }: WaitingSeatPorts, freed: () => void): Seat {
  const since = clock.now();
  let isWoken = false;
  let phase: "within" | "over" | "past" = "within";
  let poke: () => void = () => {};
  const enter = (next: "over" | "past"): void => {
    phase = next;
    poke();
  };
  const cancels = [timers.after(order.budgetMs, () => enter("over")), timers.after(order.budgetMs + UNCERTAIN_MS, () => enter("past"))];
  const onAbort = (): void => poke();
  order.signal.addEventListener("abort", onAbort, { once: true });

  function happened(beyondBudget: boolean): "woken" | "budget" | "ended" | undefined {
    if (order.signal.aborted) return "ended";
    if (isWoken) {
      isWoken = false;
      return "woken";
    }
    return phase === "past" || (phase === "over" && !beyondBudget) ? "budget" : undefined;
  }

  return {
    order,
    waiting: { client: order.client, questionId: order.questionId, since, until: since + order.budgetMs },
    wake() {
      isWoken = true;
      poke();
    },
    async next(beyondBudget) {
      for (;;) {
        const event = happened(beyondBudget);
        if (event !== undefined) return event;
        const { promise, resolve } = Promise.withResolvers<void>();
        poke = resolve;
        await promise;
      }
    },
    leave() {
      for (const cancel of cancels) cancel();
      order.signal.removeEventListener("abort", onAbort);
      freed();
    },
  };
}
