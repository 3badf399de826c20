/**
 * The conversation at the desk: what the tools of a client use (`channel`), and what the page
 * uses for the person and shows. All words of the person enter here, so this is also where a waiting call is woken.
 * Rules: docs/spec/human.md, HU60 to HU79.
 */
import type { ConversationView, DeskEvent } from "../../shared/desk.ts";
import type { HumanChannel } from "../../shared/human/channel.ts";
import type { HumanClient } from "../../shared/human/entry.ts";
import type { Outbox } from "../../shared/human/outbox.ts";
import type { HumanNews, HumanStore } from "../../shared/human/store.ts";
import type { Clock, Log, Timers } from "../../shared/ports.ts";
import { createChannel } from "./client-channel.ts";
import { createConversationMirror } from "./conversation-mirror.ts";
import { createHistoryLoader } from "./history-loader.ts";
import type { PageConversation } from "./page-conversation.ts";
import { createPersonVoice } from "./person-voice.ts";
import { createWaiting } from "./waiting.ts";
import { createWaitingSeat } from "./waiting-seat.ts";
import { createWordKeeper } from "./word-keeper.ts";

export interface ConversationOptions {
  readonly store: HumanStore;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly timers: Timers;
  /** 128 random bits as lower-case hex or a UUID. */
  readonly newId: () => string;
  readonly log: Log;
  readonly maxEntries?: number;
  /** UTF-16 units of text over the entries that the page is shown. */
  readonly maxChars?: number;
}

export interface Conversation extends PageConversation {
  /** What the tools of a client use. */
  readonly channel: HumanChannel;
  /** Ends timers and the subscription. What waits stays in the store and in the outbox. */
  close(): void;
}

/** Of the outbox the page is shown the latest: it is a list of exceptions, told anew with every change. */
const SHOWN_UNSENT = 100;

export function createConversation(options: ConversationOptions): Conversation {
  const { store, outbox, clock, timers, log, maxEntries = 1000, maxChars = 4_000_000 } = options;
  const listeners = new Set<(event: DeskEvent) => void>();
  const publish = (event: DeskEvent): void => listeners.forEach((listener) => listener(event));
  const pages = new Set<symbol>();
  let isReachableNow = false;
  const isReachable = (): boolean => isReachableNow;
  const onFailed = (cause: unknown): void => log.event("error", "conversation.broken", { error: cause instanceof Error ? cause.name : typeof cause });

  const rest = (): Omit<ConversationView, "entries"> => ({
    unsent: outbox.list().slice(-SHOWN_UNSENT),
    isLoaded: history.isLoaded(),
    waiting: seat.current()?.waiting ?? null,
    clients: mirror.clients.list(),
  });
  const mirror = createConversationMirror({ clock, timers, publish, rest, onQueued: ({ to }) => wake(to), maxEntries, maxChars });
  const { transcript, clients, learn, sawClient, changed, publishRest } = mirror;
  const seat = createWaitingSeat({ clock, timers, changed: publishRest });
  const waiting = createWaiting({ store, seat, timers, isReachable, onTaken: (messages) => changed(transcript.took(messages)), onFailed });
  const history = createHistoryLoader({ store, transcript, maxEntries, onChanged: changed, onLoaded: publishRest, onFailed });
  const keeper = createWordKeeper({ store, outbox, timers, log, isReachable, onSent: (entry) => learn([entry]), onChange: publishRest });

  function wake(to: HumanClient | null): void {
    const current = seat.current();
    if (to === null || to.principalId === current?.order.client.principalId) current?.wake();
  }

  function hear(news: HumanNews): void {
    switch (news.t) {
      case "marks":
        mirror.mark(news.marks);
        // Given back, because its answer did not arrive. Whose it is, the store knows.
        if (news.marks.some((mark) => mark.state === "queued")) seat.current()?.wake();
        return;
      case "entries":
        return learn(news.entries);
      case "unreachable":
        isReachableNow = false;
        return history.lost();
      case "reachable":
        isReachableNow = true;
        keeper.flush();
        history.load();
        return waiting.reachable();
    }
  }

  const isPageOpen = (): boolean => pages.size > 0;
  const voices = { ...options, keeper, transcript, clients, seat, learn, sawClient, isPageOpen };
  const unsubscribe = store.subscribe(hear);
  return {
    channel: createChannel({ ...voices, waiting }),
    ...createPersonVoice(voices),
    view() {
      mirror.expire();
      return { entries: transcript.list(), ...rest() };
    },
    sawClient,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    pageOpened() {
      const page = Symbol("page");
      pages.add(page);
      return () => pages.delete(page);
    },
    isPageOpen,
    close() {
      unsubscribe();
      mirror.close();
      keeper.close();
    },
  };
}
