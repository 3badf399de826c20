/**
 * Hears when a connected server's lists change: by its unasked notifications (legacy) or over a `subscriptions/listen` stream (modern),
 * which is opened again when it drops. However many changes are told, the lists are asked for at a bounded pace.
 */
import { ProtocolError, type Client, type SubscriptionFilter } from "@modelcontextprotocol/client";
import type { Timers } from "../../../shared/ports.ts";
import type { ListenState, UpstreamFacts } from "./upstream-pool.ts";

/** Servers tell several changes in a row. */
const SETTLE_MS = 250;
/** Between two listings, however often a server tells of changes. */
const PACE_MS = 2000;
const LISTEN_RETRY_MS = 5000;
const LAST_LISTEN_RETRY_MS = 300_000;
const METHOD_NOT_FOUND = -32601;

export interface ListWatch {
  listening(): ListenState;
  /** Something changed; listed anew soon. */
  changed(): void;
  /** Begins to listen where the server can be listened to. */
  start(client: Client, facts: UpstreamFacts): void;
  stop(): void;
}

interface ListWatchOptions {
  readonly timers: Timers;
  /** Lists anew. Never rejects. */
  readonly relist: () => Promise<void>;
  readonly onListening: (state: ListenState) => void;
}

export function createListWatch({ timers, relist, onListening }: ListWatchOptions): ListWatch {
  let state: ListenState = "not-listening";
  let stopped = false;
  let phase: "quiet" | "settling" | "listing" | "resting" = "quiet";
  let due: (() => void) | undefined;
  let again = false;
  let retry: (() => void) | undefined;
  let subscription: { close(): Promise<void> } | undefined;

  const enter = (next: ListenState): void => {
    if (stopped || state === next) return;
    state = next;
    onListening(next);
  };

  const changed = (): void => {
    if (phase === "quiet" && !stopped) enterPhase("settling", SETTLE_MS, () => void list());
    else again = true;
  };

  const enterPhase = (next: "settling" | "resting", ms: number, then: () => void): void => {
    phase = next;
    due = timers.after(ms, then);
  };

  const list = async (): Promise<void> => {
    phase = "listing";
    again = false;
    await relist();
    if (!stopped) enterPhase("resting", PACE_MS, rested);
  };

  const rested = (): void => {
    phase = "quiet";
    if (again) void list();
  };

  const listen = async (client: Client, filter: SubscriptionFilter, failures: number): Promise<void> => {
    retry = undefined;
    if (failures > 0) enter("re-establishing");
    try {
      const opened = await client.listen(filter);
      if (stopped) return void opened.close().catch(() => undefined);
      subscription = opened;
      enter("active");
      // What changed while nobody listened was not told.
      if (failures > 0) changed();
      await opened.closed;
      subscription = undefined;
      resume(client, filter, 1);
    } catch (error) {
      if (error instanceof ProtocolError && error.code === METHOD_NOT_FOUND) enter("not-listening");
      else resume(client, filter, failures + 1);
    }
  };

  const resume = (client: Client, filter: SubscriptionFilter, failures: number): void => {
    if (stopped) return;
    enter("dropped");
    const delay = Math.min(LISTEN_RETRY_MS * 2 ** (failures - 1), LAST_LISTEN_RETRY_MS);
    retry = timers.after(delay, () => void listen(client, filter, failures));
  };

  return {
    listening: () => state,
    changed,
    start(client, facts) {
      const filter = filterFor(facts);
      if (facts.era === "legacy") state = "legacy";
      else if (filter !== null) void listen(client, filter, 0);
    },
    stop() {
      stopped = true;
      due?.();
      retry?.();
      void subscription?.close().catch(() => undefined);
    },
  };
}

/** Only what the server says it tells of; null: nothing. */
function filterFor({ capabilities }: UpstreamFacts): SubscriptionFilter | null {
  const filter = {
    ...(capabilities.tools?.listChanged === true ? { toolsListChanged: true } : {}),
    ...(capabilities.resources?.listChanged === true ? { resourcesListChanged: true } : {}),
    ...(capabilities.prompts?.listChanged === true ? { promptsListChanged: true } : {}),
  };
  return Object.keys(filter).length === 0 ? null : filter;
}
