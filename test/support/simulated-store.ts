/** The conversation's real rules over rows in memory, behind a link that a test can cut at any moment of a call. */
import { createConversation, type Conversation, type ConversationOptions } from "../../local-agent/desk/conversation.ts";
import { silentLog } from "../../local-agent/node/log-sinks.ts";
import type { DeskEvent } from "../../shared/desk.ts";
import { answerHumanCall } from "../../shared/human/answer-call.ts";
import type { HumanMethod, HumanParams, HumanResult } from "../../shared/human/calls.ts";
import type { WaitOrder } from "../../shared/human/channel.ts";
import type { HumanClient } from "../../shared/human/entry.ts";
import { MemoryRows } from "../../shared/human/memory-rows.ts";
import type { Outbox, Unsent } from "../../shared/human/outbox.ts";
import { createHumanQueue } from "../../shared/human/queue.ts";
import { StoreUnreachable, type HumanNews, type HumanStore } from "../../shared/human/store.ts";
import { ManualClock } from "./manual-clock.ts";

export const ADA: HumanClient = { principalId: "grant:ada", name: "Ada" };
export const BOB: HumanClient = { principalId: "grant:bob", name: "Bob" };

class SimulatedStore implements HumanStore {
  readonly asked: HumanMethod[] = [];
  readonly rows = new MemoryRows();
  readonly #listeners = new Set<(news: HumanNews) => void>();
  readonly #settled = new Set<number>();
  readonly #clock: ManualClock;
  #link: number | null = null;
  #links = 0;
  /** Answers are lost although the call was carried out. */
  losesAnswers = false;

  readonly queue;

  constructor(clock: ManualClock) {
    this.#clock = clock;
    this.queue = createHumanQueue({ rows: this.rows, now: () => clock.now(), onNews: (news) => this.#tell(news), isClient: () => true });
  }

  connect(): void {
    if (this.#link !== null) return;
    this.#link = ++this.#links;
    this.#tell({ t: "reachable" });
  }

  cut(): void {
    if (this.#link === null) return;
    this.#tell({ t: "unreachable" });
    this.#link = null;
  }

  get isConnected(): boolean {
    return this.#link !== null;
  }

  /** The exchange is over. Its words count as read when its answer left whole. */
  settle(x: number, whole: boolean): void {
    this.#settled.add(x);
    this.queue.settled(x, whole);
  }

  async ask<M extends HumanMethod>(method: M, params: HumanParams<M>): Promise<HumanResult<M>> {
    const link = this.#link;
    if (link === null) throw new StoreUnreachable("no link");
    await travel();
    if (this.#link !== link) throw new StoreUnreachable("cut before it came");
    this.asked.push(method);
    const result = await answerHumanCall(method, structuredClone(params), {
      queue: this.queue,
      isOpen: (x) => !this.#settled.has(x),
      delay: (ms) => new Promise<void>((resolve) => this.#clock.after(ms, resolve)),
    });
    await travel();
    if (this.#link !== link || this.losesAnswers) throw new StoreUnreachable("the answer was lost");
    return structuredClone(result) as HumanResult<M>;
  }

  subscribe(listener: (news: HumanNews) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #tell(news: HumanNews): void {
    if (this.#link !== null) this.#listeners.forEach((listener) => listener(news));
  }
}

async function travel(): Promise<void> {
  for (let hop = 0; hop < 3; hop += 1) await Promise.resolve();
}

/** Lets everything happen that waits for nothing but its turn. */
export async function settleDown(turns = 100): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
}

export function memoryOutbox(maxEntries = 10): Outbox {
  let entries: Unsent[] = [];
  return {
    list: () => entries,
    add(entry) {
      if (entries.some(({ id }) => id === entry.id)) return "known";
      if (entries.length >= maxEntries) return "full";
      entries = [...entries, entry];
      return "kept";
    },
    remove(id) {
      entries = entries.filter((entry) => entry.id !== id);
    },
  };
}

export const idOf = (number: number): string => number.toString(16).padStart(32, "0");

export interface ConversationUnderTest {
  readonly clock: ManualClock;
  readonly store: SimulatedStore;
  readonly outbox: Outbox;
  readonly conversation: Conversation;
  readonly events: DeskEvent[];
  /** Ids count up from 1 in what is typed here, from 1000 in what clients say. */
  readonly type: (text: string, to?: string | null, id?: string) => ReturnType<Conversation["say"]>;
  /** A call that waits; `gone` ends it. */
  readonly waits: (changes?: Partial<WaitOrder>) => {
    readonly outcome: ReturnType<Conversation["channel"]["wait"]>;
    readonly gone: AbortController;
  };
}

export function conversationUnderTest(options: Partial<ConversationOptions> & { readonly away?: boolean } = {}): ConversationUnderTest {
  const clock = new ManualClock();
  const store = new SimulatedStore(clock);
  const outbox = options.outbox ?? memoryOutbox();
  let typed = 0;
  let said = 1000;
  let exchange = 0;
  const conversation = createConversation({
    store,
    outbox,
    clock,
    timers: clock,
    log: silentLog,
    newId: () => idOf((said += 1)),
    ...options,
  });
  const events: DeskEvent[] = [];
  conversation.subscribe((event) => events.push(event));
  if (options.away !== true) store.connect();
  return {
    clock,
    store,
    outbox,
    conversation,
    events,
    type: (text, to = null, id = idOf((typed += 1))) => conversation.say({ id, text, images: [], to }),
    waits(changes = {}) {
      const gone = new AbortController();
      const order = { client: ADA, x: (exchange += 1), questionId: null, budgetMs: 45_000, signal: gone.signal, probe: () => {}, ...changes };
      return { outcome: conversation.channel.wait(order), gone };
    },
  };
}
