/** Sends what waits in the outbox, in order, once the store can be asked. Nothing is dropped: what is not taken is tried again. */
import type { Said, Typed } from "../../shared/human/entry.ts";
import type { Outbox, Unsent } from "../../shared/human/outbox.ts";
import { StoreUnreachable, type HumanStore } from "../../shared/human/store.ts";
import type { Log, Timers } from "../../shared/ports.ts";

export interface OutboxFlush {
  /** The store may take something now. */
  readonly start: () => void;
  startLater(): void;
  /** What would be sent next; undefined: nothing waits that could be sent. */
  next(): Unsent | undefined;
  /** Resolves when the sending that is under way has come to an end. */
  done(): Promise<void>;
  readonly close: () => void;
}

export interface OutboxFlushPorts {
  readonly store: HumanStore;
  readonly outbox: Outbox;
  readonly timers: Timers;
  readonly log: Log;
  readonly isReachable: () => boolean;
  /** An entry of the outbox is kept by the store now. */
  readonly onSent: (entry: Said | Typed) => void;
  /** The outbox reads differently. */
  readonly onChange: () => void;
  /** Runs one step at a time, in order. */
  readonly inTurn: <T>(step: () => Promise<T>) => Promise<T>;
}

/** A store that is full, or reachable and yet silent, is tried again after this. */
const RETRY_MS = 5_000;

export function createOutboxFlush(ports: OutboxFlushPorts): OutboxFlush {
  const { store, outbox } = ports;
  /** What the store refuses for good stays on the disk, and does not hold up the others. */
  const refused = new Set<string>();
  let running: Promise<void> | undefined;
  let isAskedAgain = false;
  let cancelRetry: (() => void) | undefined;
  let isClosed = false;
  const next = (): Unsent | undefined => outbox.list().find((entry) => !refused.has(entry.id));

  /** Whether to go on with the next one. */
  async function sendFirst(): Promise<boolean> {
    const entry = next();
    if (entry === undefined || !ports.isReachable() || isClosed) return false;
    try {
      const sent = await appendAnyway(store, entry);
      if (sent === undefined) return false;
      outbox.remove(entry.id);
      ports.onSent(sent);
    } catch (cause) {
      if (cause instanceof StoreUnreachable) return false;
      refused.add(entry.id);
      ports.log.event("error", "outbox.refused", { id: entry.id, error: cause instanceof Error ? cause.name : typeof cause });
    }
    ports.onChange();
    return true;
  }

  async function sendAll(): Promise<void> {
    do {
      isAskedAgain = false;
      while (await ports.inTurn(sendFirst));
    } while (isAskedAgain);
    running = undefined;
    if (next() !== undefined && ports.isReachable()) startLater();
  }

  function start(): void {
    cancelRetry?.();
    cancelRetry = undefined;
    isAskedAgain = true;
    if (!isClosed && running === undefined && next() !== undefined) running = sendAll();
  }

  function startLater(): void {
    if (!isClosed) cancelRetry ??= ports.timers.after(RETRY_MS, start);
  }

  return {
    start,
    startLater,
    next,
    done: () => running ?? Promise.resolve(),
    close() {
      isClosed = true;
      cancelRetry?.();
    },
  };
}

/**
 * Undefined: the store is full. When somebody else's answer came first the words go to the same client as a message,
 * because they were promised to be sent.
 */
async function appendAnyway(store: HumanStore, entry: Unsent): Promise<Said | Typed | undefined> {
  const first = await store.ask("human.append", { entry });
  if ("entry" in first) return first.entry;
  if (first.outcome === "full" || entry.kind !== "typed") return undefined;
  const second = await store.ask("human.append", { entry: { ...entry, questionId: null } });
  return "entry" in second ? second.entry : undefined;
}
