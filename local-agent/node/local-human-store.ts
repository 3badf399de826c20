/** The conversation where no relay keeps it (`--stdio`, `--http`): the same rules, over a journal on this machine. Always reachable. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { answerHumanCall } from "../../shared/human/answer-call.ts";
import type { HumanResult } from "../../shared/human/calls.ts";
import { createHumanQueue } from "../../shared/human/queue.ts";
import type { HumanNews, HumanStore } from "../../shared/human/store.ts";
import type { Clock, Timers } from "../../shared/ports.ts";
import { imageFiles } from "./image-files.ts";
import { JournaledRows } from "./journaled-rows.ts";
import { openJournal } from "./journal-file.ts";

export interface LocalHumanStore extends HumanStore {
  /** Exchange `x` is over: its answer left whole, or not. */
  settled(x: number, whole: boolean): void;
  close(): void;
}

export interface LocalStoreOptions {
  /** A private directory that no other process keeps a conversation in; the caller sees to that. */
  readonly dir: string;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Whether this exchange can still carry words. */
  readonly isOpen?: (x: number) => boolean;
}

/** Throws what the system says when the files cannot be used. */
export function openLocalHumanStore({ dir, clock, timers, isOpen = () => true }: LocalStoreOptions): LocalHumanStore {
  const images = join(dir, "images");
  mkdirSync(images, { recursive: true, mode: 0o700 });
  const journal = openJournal(join(dir, "conversation.jsonl"));
  const listeners = new Set<(news: HumanNews) => void>();
  const queue = createHumanQueue({
    rows: new JournaledRows(journal, imageFiles(images)),
    now: () => clock.now(),
    onNews: (news) => listeners.forEach((listener) => listener(news)),
    // Without a relay there are no grants that could be taken back.
    isClient: () => true,
  });
  const delay = (ms: number): Promise<void> => new Promise((resolve) => timers.after(ms, resolve));
  let cancelSweep = (): void => {};

  /** An image that no message names is no longer of use to anybody. */
  function sweep(): void {
    cancelSweep();
    const next = queue.sweep();
    if (next !== undefined) cancelSweep = timers.after(Math.max(0, next - clock.now()), sweep);
  }
  sweep();

  return {
    async ask(method, params) {
      const result = await answerHumanCall(method, params, { queue, isOpen, delay });
      if (method === "human.image.put") sweep();
      return result as HumanResult<typeof method>;
    },
    subscribe(listener) {
      listeners.add(listener);
      // Not before whoever subscribes has finished making itself.
      queueMicrotask(() => {
        if (listeners.has(listener)) listener({ t: "reachable" });
      });
      return () => listeners.delete(listener);
    },
    settled: (x, whole) => queue.settled(x, whole),
    close() {
      cancelSweep();
      listeners.clear();
      journal.close();
    },
  };
}
