/**
 * The stream of a `tools/call` answer: a comment at once, so that proxies pass the headers on, and another one whenever
 * nothing was written for a while, so that none of them cuts the stream. It forwards whole chunks of the SDK, which are
 * whole events, so a comment never lands inside one (that would destroy the event).
 */
import type { Timers } from "../../shared/ports.ts";

const OPENING = new TextEncoder().encode(": open\n\n");
const KEEP_ALIVE = new TextEncoder().encode(": keep-alive\n\n");
/** Beyond this many unread bytes nothing is taken from the SDK, no comment is added and no progress is reported. */
const UNREAD_BYTES = 64 * 1024;

export interface SseAnswer {
  readonly body: ReadableStream<Uint8Array>;
  readonly writable: () => boolean;
  /** Writes a comment now. */
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

  const probe = (): void => {
    if (hasRoom(out)) out?.enqueue(KEEP_ALIVE);
  };
  const rest = (): void => {
    stopTimer();
    stopTimer = options.timers.after(options.keepAliveMs, () => {
      probe();
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
  return { body, writable: () => hasRoom(out), probe };
}

function hasRoom(controller: ReadableStreamDefaultController<Uint8Array> | null): boolean {
  return controller !== null && (controller.desiredSize ?? 0) > 0;
}
