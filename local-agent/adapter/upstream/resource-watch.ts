/**
 * Reads a connected server's resources and hears, over a `subscriptions/listen` stream, which of those that were read change afterwards.
 * For servers of MCP 2026-07-28 that say that resources can be subscribed to; of others they are read only.
 *
 * Bounded: few resources (watched-resources.ts), each for a while since it was read. What is told of other ones is ignored, so a flood of
 * news costs nothing.
 */
import type { Client, ReadResourceResult } from "@modelcontextprotocol/client";
import type { Timers } from "../../../shared/ports.ts";
import { keepStream, type KeptStream } from "./kept-stream.ts";
import type { ChangedResources, UpstreamFacts } from "./upstream-pool.ts";
import { WatchedResources } from "./watched-resources.ts";

const WATCH_MS = 600_000;
/** Several resources are read in a row. */
const SETTLE_MS = 250;

export interface ResourceWatch {
  /** Runs `request`, which reads it with these options more, and watches it from then on. Rejects with what `request` rejects with. */
  read(uri: string, request: (more: { readonly cacheMode?: "refresh" }) => Promise<ReadResourceResult>): Promise<ReadResourceResult>;
  /** The server tells that a resource was updated. */
  updated(uri: string): void;
  /** null: nothing is known to have changed since it was read. */
  changed(): ChangedResources | null;
  /** Ends the stream and forgets everything; reading goes on. May be called again. */
  stop(): void;
}

interface ResourceWatchOptions {
  readonly client: Pick<Client, "listen">;
  readonly facts: Pick<UpstreamFacts, "era" | "capabilities">;
  readonly timers: Timers;
}

export function createResourceWatch({ client, facts, timers }: ResourceWatchOptions): ResourceWatch {
  const watched = new WatchedResources();
  /** What cancels the end of each one's time. */
  const expiries = new Map<string, () => void>();
  let isOn = facts.era === "modern" && facts.capabilities.resources?.subscribe === true;
  let stream: KeptStream | undefined;
  let cancelSettling: (() => void) | undefined;

  const wasRead = (uri: string, readAt: number): void => {
    if (!isOn) return;
    const { is, dropped } = watched.read(uri, readAt);
    if (is === "refused") return;
    expiries.get(uri)?.();
    expiries.set(
      uri,
      timers.after(WATCH_MS, () => forget(uri)),
    );
    if (dropped !== null) forget(dropped);
    if (is === "new") changeStream();
  };

  const forget = (uri: string): void => {
    expiries.get(uri)?.();
    expiries.delete(uri);
    watched.forget(uri);
    changeStream();
  };

  const changeStream = (): void => {
    cancelSettling ??= timers.after(SETTLE_MS, () => {
      cancelSettling = undefined;
      if (watched.uris().length > 0 && stream !== undefined) return stream.renew();
      stream?.stop();
      stream = watched.uris().length > 0 ? openStream() : undefined;
    });
  };

  const openStream = (): KeptStream =>
    keepStream({
      client,
      timers,
      filter: () => ({ resourceSubscriptions: [...watched.uris()] }),
      onState: (state) => (state === "not-listening" ? stop() : undefined),
      onGap: () => watched.missed(),
    });

  const stop = (): void => {
    isOn = false;
    cancelSettling?.();
    for (const cancel of expiries.values()) cancel();
    expiries.clear();
    watched.clear();
    stream?.stop();
  };

  return {
    async read(uri, request) {
      const readAt = watched.now();
      // An answer that is kept was given before the news that may have been missed.
      const result = await request(watched.isDoubtful(uri) ? { cacheMode: "refresh" } : {});
      wasRead(uri, readAt);
      return result;
    },
    updated: (uri) => watched.updated(uri),
    changed: () => watched.changed(),
    stop,
  };
}
