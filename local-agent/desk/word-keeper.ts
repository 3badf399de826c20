/**
 * Where words go once they are said: to the store, or into the outbox while the store cannot be asked. One step at a time
 * and in order; nothing overtakes what waits in the outbox.
 */
import type { Said, Typed } from "../../shared/human/entry.ts";
import type { Outbox, Unsent } from "../../shared/human/outbox.ts";
import { StoreUnreachable } from "../../shared/human/store.ts";
import { createOutboxFlush, type OutboxFlushPorts } from "./outbox-flush.ts";

export type Kept =
  | { readonly outcome: "kept" | "known"; readonly entry: Said | Typed }
  /** `unsent`: on the disk. `full` and `answered`: nothing was kept. */
  | { readonly outcome: "unsent" | "full" | "answered" };

export interface WordKeeper {
  /** Rejects when neither the store nor the disk took the words; nothing was kept then. */
  keep(entry: Unsent): Promise<Kept>;
  /** The store can be asked again: sends what waits. */
  flush(): void;
  /** Resolves once nothing waits that could be sent before, or after `deadlineMs`. */
  caughtUp(deadlineMs: number): Promise<void>;
  close(): void;
}

export type WordKeeperPorts = Omit<OutboxFlushPorts, "inTurn">;

export function createWordKeeper(ports: WordKeeperPorts): WordKeeper {
  const { store, outbox, timers } = ports;
  let tail: Promise<unknown> = Promise.resolve();

  function inTurn<T>(step: () => Promise<T>): Promise<T> {
    const turn = tail.then(step, step);
    tail = turn.catch(() => undefined);
    return turn;
  }

  const waiting = createOutboxFlush({ ...ports, inTurn });

  function putAside(entry: Unsent): Kept {
    const outcome = addToDisk(entry);
    if (outcome === "full") return { outcome };
    ports.onChange();
    return { outcome: "unsent" };
  }

  function addToDisk(entry: Unsent): ReturnType<Outbox["add"]> {
    try {
      return outbox.add(entry);
    } catch (cause) {
      ports.log.event("error", "outbox.unwritable", { error: cause instanceof Error ? cause.name : typeof cause });
      throw new StoreUnreachable(UNWRITABLE, { cause });
    }
  }

  async function keepNow(entry: Unsent): Promise<Kept> {
    if (!ports.isReachable() || waiting.next() !== undefined) return putAside(entry);
    try {
      return await store.ask("human.append", { entry });
    } catch (cause) {
      if (!(cause instanceof StoreUnreachable)) throw cause;
      const kept = putAside(entry);
      // Reachable and yet silent: nobody will say that it is back.
      if (ports.isReachable()) waiting.startLater();
      return kept;
    }
  }

  return {
    keep: (entry) => inTurn(() => keepNow(entry)),
    flush: waiting.start,
    async caughtUp(deadlineMs) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const cancel = timers.after(deadlineMs, resolve);
      await Promise.race([promise, waiting.done().then(() => tail)]);
      cancel();
    },
    close: waiting.close,
  };
}

const UNWRITABLE = "The relay is away and the disk of this machine takes nothing: the words were not kept. Free some space, and send them again.";
