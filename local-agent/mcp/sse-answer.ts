/**
 * The stream of a `tools/call` answer: a comment at once, so that proxies pass the headers on, and another one whenever
 * nothing was written for a while, so that none of them cuts the stream. It forwards whole chunks of the SDK, which are
 * whole events, so a comment never lands inside one (that would destroy the event).
 *
 * What was written last before a client left counts as delivered: only a later write tells. So a stream that was probed,
 * because what it carries must not be lost, ends with one write more, a moment after its last event.
 */
import type { Timers } from "../../shared/ports.ts";

const OPENING = new TextEncoder().encode(": open\n\n");
const KEEP_ALIVE = new TextEncoder().encode(": keep-alive\n\n");
/** Beyond this many unread bytes nothing is taken from the SDK, no comment is added and no progress is reported. */
const UNREAD_BYTES = 64 * 1024;
/** How long a closed connection may take to answer the last event with a reset. Nobody waits for it who reads events as they come. */
const LAST_PROBE_MS = 50;

export interface SseAnswer {
  readonly body: ReadableStream<Uint8Array>;
  readonly writable: () => boolean;
  /** Writes a comment now, and one more after the last event. */
  readonly probe: () => void;
}

export interface SseAnswerOptions {
  readonly timers: Timers;
  readonly keepAliveMs: number;
  /** The stream has ended, or nobody reads it any more. */
  readonly onEnd: () => void;
}

export function createSseAnswer(events: ReadableStream<Uint8Array>, options: SseAnswerOptions): SseAnswer {
  const reader = events.getReader();
  let stopTimer: () => void = () => {};
  let out: ReadableStreamDefaultController<Uint8Array> | null = null;
  let wasProbed = false;

  const comment = (): void => {
    if (hasRoom(out)) out?.enqueue(KEEP_ALIVE);
  };
  const rest = (): void => {
    stopTimer();
    stopTimer = options.timers.after(options.keepAliveMs, () => {
      comment();
      rest();
    });
  };
  const finish = (): void => {
    stopTimer();
    out = null;
    options.onEnd();
  };
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        out = controller;
        controller.enqueue(OPENING);
        rest();
      },
      async pull(controller) {
        const { done, value } = await reader.read();
        if (out === null) return; // Cancelled while it waited.
        if (done) {
          if (wasProbed) await pause(LAST_PROBE_MS, options.timers);
          if (out === null) return;
          if (wasProbed) controller.enqueue(KEEP_ALIVE);
          finish();
          controller.close();
          return;
        }
        controller.enqueue(value);
        rest();
      },
      async cancel(reason) {
        finish();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: UNREAD_BYTES, size: (chunk) => chunk.byteLength },
  );
  const probe = (): void => {
    wasProbed = true;
    comment();
  };
  return { body, writable: () => hasRoom(out), probe };
}

function pause(ms: number, timers: Timers): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  timers.after(ms, resolve);
  return promise;
}

function hasRoom(controller: ReadableStreamDefaultController<Uint8Array> | null): boolean {
  return controller !== null && (controller.desiredSize ?? 0) > 0;
}
