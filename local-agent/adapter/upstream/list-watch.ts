/**
 * Hears when a connected server's lists change: by its unasked notifications (legacy) or over a `subscriptions/listen` stream (modern).
 * However many changes are told, the lists are asked for at a bounded pace.
 */
import type { Client, SubscriptionFilter } from "@modelcontextprotocol/client";
import type { Timers } from "../../../shared/ports.ts";
import { keepStream, type KeptStream } from "./kept-stream.ts";
import type { ListenState, UpstreamFacts } from "./upstream-pool.ts";

/** Servers tell several changes in a row. */
const SETTLE_MS = 250;
/** Between two listings, however often a server tells of changes. */
const PACE_MS = 2000;

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
  let stream: KeptStream | undefined;

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

  return {
    listening: () => state,
    changed,
    start(client, facts) {
      const filter = filterFor(facts);
      if (facts.era === "legacy") state = "legacy";
      // What changed while nobody listened was not told.
      else if (filter !== null) stream = keepStream({ client, timers, filter: () => filter, onState: enter, onGap: changed });
    },
    stop() {
      stopped = true;
      due?.();
      stream?.stop();
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
