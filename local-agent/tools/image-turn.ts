/**
 * One image at a time in the host, and none for a call that was cancelled. Pi decodes images in a worker of its own without
 * a signal, and decodes again in this very process, in front of everybody, when the worker fails. This module puts a step
 * before `worker_threads.Worker`, for calls that run inside `withImageTurn` only; as in `spawn-seam.ts` it rests on
 * `module.syncBuiltinESMExports`.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { syncBuiltinESMExports } from "node:module";
import workerThreads, { Worker } from "node:worker_threads";

/** Pi's reply for an image that cannot be made small enough: the call goes on and says so, without a second attempt. */
const NOT_RESIZED = { type: "pi:image-resize-response", result: null };

interface CallImages {
  readonly signal: AbortSignal;
  readonly workers: Set<Worker>;
  /** Set while the call has its turn. */
  endTurn: (() => void) | undefined;
}

const imagesOfCall = new AsyncLocalStorage<CallImages>();
let lastTurn: Promise<unknown> = Promise.resolve();

/** Runs a call that may decode images. A turn it takes ends with the call and the workers it started. */
export async function withImageTurn<T>(signal: AbortSignal, run: () => Promise<T>): Promise<T> {
  const images: CallImages = { signal, workers: new Set(), endTurn: undefined };
  try {
    return await imagesOfCall.run(images, run);
  } finally {
    const ended = [...images.workers].map((worker) => new Promise((resolve) => worker.once("exit", resolve)));
    void Promise.all(ended).then(() => images.endTurn?.());
  }
}

/** Within `withImageTurn`: waits until no other call decodes an image. @throws when the call is cancelled meanwhile */
export async function takeImageTurn(): Promise<void> {
  const images = imagesOfCall.getStore();
  if (images === undefined) throw new Error("an image was about to be decoded outside a call");
  if (images.endTurn !== undefined) return;
  const before = lastTurn;
  const mine = Promise.withResolvers<undefined>();
  images.endTurn = () => mine.resolve(undefined);
  lastTurn = before.then(() => mine.promise);
  await before;
  images.signal.throwIfAborted();
}

/** Installs the step. Once per process, before the first call. */
export function installImageSeam(): void {
  workerThreads.Worker = class extends Worker {
    constructor(...args: ConstructorParameters<typeof Worker>) {
      super(...args);
      const images = imagesOfCall.getStore();
      if (images !== undefined) follow(this, images);
    }
  };
  syncBuiltinESMExports();
}

/** Whatever ends the worker before it replies counts as a reply, because Pi would decode in this process otherwise. */
function follow(worker: Worker, { signal, workers }: CallImages): void {
  workers.add(worker);
  const giveUp = (): void => void worker.emit("message", NOT_RESIZED);
  const emit = worker.emit.bind(worker);
  worker.emit = (event: string | symbol, ...args: unknown[]): boolean => {
    if (event === "error") {
      giveUp();
      return true;
    }
    if (event === "exit") {
      workers.delete(worker);
      signal.removeEventListener("abort", giveUp);
      giveUp();
    }
    return emit(event, ...args);
  };
  // Pi listens for the reply once its own step is done.
  if (signal.aborted) queueMicrotask(giveUp);
  else signal.addEventListener("abort", giveUp, { once: true });
}
