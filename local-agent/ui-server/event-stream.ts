/**
 * One page's event stream: newline-delimited JSON, the snapshot first. Written only as fast as the page reads. When a
 * slow page lets more than `maxQueuedChars` pile up, the queue is dropped and a fresh snapshot takes its place, so the
 * memory held for it is bounded and nothing it shows is wrong.
 */
import type { DeskEvent } from "../../shared/desk.ts";
import type { Desk } from "../desk/desk.ts";
import { createLineQueue, encodeLine } from "./line-queue.ts";

export interface EventStream {
  readonly body: ReadableStream<Uint8Array>;
  /** An empty line: tells the page that the agent lives. Skipped while the page is behind. */
  keepAlive(): void;
  /** Ends the stream; with `displaced`, saying so first. Harmless when repeated. */
  end(why: "closing" | "displaced"): void;
}

export interface EventStreamOptions {
  readonly desk: Pick<Desk, "snapshot" | "subscribe" | "pageOpened">;
  readonly onEnd: () => void;
  readonly maxQueuedChars: number;
}

export function openEventStream({ desk, onEnd, maxQueuedChars }: EventStreamOptions): EventStream {
  const encoder = new TextEncoder();
  const wake: { current: (() => void) | undefined } = { current: undefined };
  const queue = createLineQueue(maxQueuedChars);
  let isStale = true; // A snapshot is due: at the start, and after the queue was dropped.
  let hasEnded = false;

  function push(event: DeskEvent): void {
    if (hasEnded || isStale) return; // The snapshot that is due will contain it.
    if (!queue.add(event)) isStale = true;
    wake.current?.();
  }

  function takeQueued(): string {
    const queued = queue.take();
    const text = isStale ? encodeLine({ t: "snapshot", snapshot: desk.snapshot() }) : queued;
    isStale = false;
    return text;
  }

  const isIdle = (): boolean => !isStale && queue.isEmpty();
  const unsubscribe = desk.subscribe(push);
  const pageClosed = desk.pageOpened();
  function finish(): void {
    if (hasEnded) return;
    hasEnded = true;
    pageClosed();
    unsubscribe();
    onEnd();
    wake.current?.();
  }

  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (isIdle() && !hasEnded) await nextPush(wake);
        const text = hasEnded && isStale ? "" : takeQueued();
        if (text !== "") controller.enqueue(encoder.encode(text));
        if (hasEnded) controller.close();
      },
      cancel: finish,
    },
    { highWaterMark: 0 },
  );

  return {
    body,
    keepAlive: () => {
      if (!isIdle() || hasEnded) return;
      queue.addKeepAlive();
      wake.current?.();
    },
    end(why) {
      if (why === "displaced") {
        // Instead of whatever it still had to read: it will load everything again if the person comes back to it.
        queue.take();
        queue.add({ t: "displaced" });
        isStale = false;
      }
      finish();
    },
  };
}

function nextPush(wake: { current: (() => void) | undefined }): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  wake.current = resolve;
  return promise.finally(() => (wake.current = undefined));
}
