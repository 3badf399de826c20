/** All open event streams: keeps them alive, bounds their number, ends them together. */
import type { Desk } from "../desk/desk.ts";
import { openEventStream, type EventStream } from "./event-stream.ts";

export interface EventStreams {
  open(): ReadableStream<Uint8Array>;
  close(): void;
}

/** Browsers open six connections to one address, over all tabs; two stay free for decisions and loading. */
const MAX_STREAMS = 4;
/** Twice the desk's own bound would be a page that never reads; one queue is far below it. */
const MAX_QUEUED_CHARS = 1_000_000;

export function createEventStreams(desk: Desk, keepAliveMs: number): EventStreams {
  const streams = new Set<EventStream>();
  const timer = setInterval(() => streams.forEach((stream) => stream.keepAlive()), keepAliveMs);

  return {
    open() {
      const stream = openEventStream({ desk, maxQueuedChars: MAX_QUEUED_CHARS, onEnd: () => streams.delete(stream) });
      streams.add(stream);
      for (const oldest of streams) {
        if (streams.size <= MAX_STREAMS) break;
        oldest.end("displaced");
      }
      return stream.body;
    },
    close() {
      clearInterval(timer);
      for (const stream of streams) stream.end("closing");
    },
  };
}
