/** A call that waits for the person: what is queued at once, else the first words that come, else nothing in its time. */
import type { WaitOrder, WaitOutcome } from "../../shared/human/channel.ts";
import type { Typed } from "../../shared/human/entry.ts";
import { StoreUnreachable, type HumanStore } from "../../shared/human/store.ts";
import type { Timers } from "../../shared/ports.ts";
import type { Seat, WaitingSeat } from "./waiting-seat.ts";
import { createWordRelease } from "./word-release.ts";

export interface WaitingPorts {
  readonly store: HumanStore;
  readonly seat: WaitingSeat;
  readonly timers: Timers;
  readonly isReachable: () => boolean;
  /** Words went into a call's answer. */
  readonly onTaken: (messages: readonly Typed[]) => void;
  readonly onFailed: (cause: unknown) => void;
}

export interface Waiting {
  wait(order: WaitOrder): Promise<WaitOutcome>;
  release(x: number): Promise<void>;
  /** The store can be asked again. */
  reachable(): void;
}

/** A store that is reachable and yet silent is asked again after this. */
const TAKE_AGAIN_MS = 1_000;

/** `away`: it was not asked. `unknown`: it may have taken words for this call, and its answer was lost. */
type Taken = { readonly messages: readonly Typed[]; readonly left: number } | "away" | "unknown";

export function createWaiting(ports: WaitingPorts): Waiting {
  const seats = ports.seat;
  const words = createWordRelease(ports.store, ports.onFailed);

  function answered(order: WaitOrder, taken: Taken): WaitOutcome | undefined {
    if (typeof taken === "string" || taken.messages.length === 0) return undefined;
    if (order.signal.aborted && order.x !== null) return withoutWords(order, "ended", true);
    return { at: "messages", messages: taken.messages, left: taken.left };
  }

  function withoutWords(order: WaitOrder, why: "budget" | "busy" | "ended", mayHaveTaken: boolean): WaitOutcome {
    if (mayHaveTaken) void words.release(order.x);
    return { at: "no_message", why };
  }

  /** `isUnknown`: whether words were taken for this call already is not known. */
  async function sit(seat: Seat, isUnknown: boolean): Promise<WaitOutcome> {
    const { order } = seat;
    for (;;) {
      const taken = order.signal.aborted ? "away" : await take(ports, order);
      const outcome = answered(order, taken);
      if (outcome !== undefined) return outcome;
      if (taken !== "away") isUnknown = taken === "unknown";
      const cancel = isUnknown && ports.isReachable() ? ports.timers.after(TAKE_AGAIN_MS, () => seat.wake()) : () => {};
      // An answer without words would settle the exchange, and words that were taken for it would count as read.
      const next = await seat.next(isUnknown);
      cancel();
      if (next !== "woken") return withoutWords(order, next, isUnknown);
      // The second write after its client left is the one that tells.
      order.probe();
    }
  }

  async function sitIn(seat: Seat, isUnknown: boolean): Promise<WaitOutcome> {
    try {
      return await sit(seat, isUnknown);
    } finally {
      seat.leave();
    }
  }

  return {
    async wait(order) {
      if (order.signal.aborted) return { at: "no_message", why: "ended" };
      const free = seats.claim(order);
      if (free !== null) return sitIn(free, false);
      // What waits for this client is given to it while another one sits there, which may be for hours. Its own earlier call
      // is not robbed of words that may be on their way into it.
      const isAnother = seats.current()?.order.client.principalId !== order.client.principalId;
      const taken = isAnother ? await take(ports, order) : "away";
      const outcome = answered(order, taken);
      if (outcome !== undefined) return outcome;
      const seat = await seats.contend(order);
      return typeof seat === "string" ? withoutWords(order, seat, taken === "unknown") : sitIn(seat, taken === "unknown");
    },
    release: (x) => words.release(x),
    reachable() {
      words.again();
      seats.current()?.wake();
    },
  };
}

async function take({ store, isReachable, onTaken }: WaitingPorts, { client, x }: WaitOrder): Promise<Taken> {
  if (!isReachable()) return "away";
  try {
    const taken = await store.ask("human.take", { principalId: client.principalId, x });
    if (taken.messages.length > 0) onTaken(taken.messages);
    return taken;
  } catch (cause) {
    if (cause instanceof StoreUnreachable) return "unknown";
    throw cause;
  }
}
