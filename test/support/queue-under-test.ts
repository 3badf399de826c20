/** A queue over given rows with a clock and an id maker of its own, and a played story that holds it against its rules. */
import * as fc from "fast-check";
import type { HumanClient, HumanEntry, NewAsked, NewSaid, NewTyped, Typed } from "../../shared/human/entry.ts";
import { HUMAN_LIMITS } from "../../shared/human/limits.ts";
import type { HumanRows } from "../../shared/human/queue-rows.ts";
import { createHumanQueue, type HumanQueue, type QueueNews } from "../../shared/human/queue.ts";

export const ALICE: HumanClient = { principalId: "token:alice", name: "Alice's client" };
export const BOB: HumanClient = { principalId: "token:bob", name: "Bob's client" };

let made = 0;
/** Unique in this process. */
export const freshId = (): string => (++made).toString(16).padStart(32, "0");

export function typed(text: string, changes: Partial<NewTyped> = {}): NewTyped {
  return { kind: "typed", id: freshId(), at: 1, text, images: [], to: null, questionId: null, ...changes };
}

export function asked(client: HumanClient, text: string, changes: Partial<NewAsked> = {}): NewAsked {
  return { kind: "asked", id: freshId(), at: 1, client, text, options: [], ...changes };
}

export function said(client: HumanClient, text: string): NewSaid {
  return { kind: "said", id: freshId(), at: 1, client, category: "message", text };
}

export class QueueUnderTest {
  readonly #rows: HumanRows;
  readonly news: QueueNews[] = [];
  readonly gone = new Set<string>();
  queue: HumanQueue;
  now = 1_000_000;

  constructor(rows: HumanRows) {
    this.#rows = rows;
    this.queue = this.#make();
  }

  /** As a new life of whoever keeps the queue. */
  restart(): void {
    this.queue = this.#make();
  }

  type(text: string, changes: Partial<NewTyped> = {}): Typed {
    const kept = this.queue.calls["human.append"]({ entry: typed(text, changes) });
    if (!("entry" in kept) || kept.entry.kind !== "typed") throw new Error(`not kept: ${kept.outcome}`);
    return kept.entry;
  }

  ask(entry: NewAsked) {
    return this.queue.calls["human.ask"]({ entry });
  }

  take(client: HumanClient, x: number | null = null): readonly Typed[] {
    return this.queue.calls["human.take"]({ principalId: client.principalId, x }).messages;
  }

  texts(client: HumanClient, x: number | null = null): string[] {
    return this.take(client, x).map(({ text, repeat }) => (repeat ? `${text} (repeat)` : text));
  }

  history(): readonly HumanEntry[] {
    return this.queue.calls["human.history"]({ before: null }).entries;
  }

  entry(id: string): HumanEntry | undefined {
    return this.history().find((entry) => entry.id === id);
  }

  #make(): HumanQueue {
    return createHumanQueue({
      rows: this.#rows,
      now: () => this.now,
      onNews: (news) => void this.news.push(news),
      isClient: (principalId) => !this.gone.has(principalId),
    });
  }
}

type Step =
  | { readonly do: "type"; readonly to: HumanClient | null; readonly chars: number }
  | { readonly do: "take"; readonly client: HumanClient; readonly x: boolean }
  | { readonly do: "settle"; readonly which: number; readonly whole: boolean }
  | { readonly do: "restart" };

const client = fc.constantFrom(ALICE, BOB);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("type" as const),
      to: fc.option(client),
      chars: fc.oneof(fc.nat(50), fc.constant(HUMAN_LIMITS.textBytes - 10)),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("take" as const), client, x: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("settle" as const), which: fc.nat(20), whole: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ do: "restart" as const }) },
);

export const stories = fc.array(step, { maxLength: 80, size: "max" });

/** Plays a story on empty rows. Throws a sentence when a word is lost, overtaken, heard twice, or repeated without a reason. */
export function play(rows: HumanRows, steps: readonly Step[]): void {
  const it = new QueueUnderTest(rows);
  const story = new Story(it);
  for (const each of steps) story.run(each);
  story.end();
}

class Story {
  readonly #it: QueueUnderTest;
  readonly #typed: Typed[] = [];
  readonly #onItsWay = new Map<number, { readonly client: HumanClient; readonly ids: readonly string[] }>();
  readonly #handedOut = new Set<string>();
  readonly #read = new Map<string, HumanClient>();
  #x = 0;

  constructor(it: QueueUnderTest) {
    this.#it = it;
  }

  run(step: Step): void {
    switch (step.do) {
      case "type":
        return void this.#typed.push(this.#it.type(`${this.#typed.length} ${"x".repeat(step.chars)}`, { to: step.to }));
      case "take":
        return this.#take(step.client, step.x ? ++this.#x : null);
      case "settle": {
        const x = [...this.#onItsWay.keys()][step.which];
        return x === undefined ? undefined : this.#settle(x, step.whole);
      }
      case "restart":
        this.#onItsWay.clear();
        return this.#it.restart();
    }
  }

  /** Everything that anybody was to hear is heard when both have asked often enough. */
  end(): void {
    for (const x of this.#onItsWay.keys()) this.#settle(x, false);
    for (const client of [ALICE, BOB]) for (let round = 0; round <= this.#typed.length; round++) this.#take(client, null);
    const lost = this.#typed.filter(({ id }) => !this.#read.has(id));
    if (lost.length > 0) throw new Error(`lost: ${lost.map(({ text }) => text.slice(0, 5)).join()}`);
  }

  #take(client: HumanClient, x: number | null): void {
    for (const [other, lease] of this.#onItsWay) if (lease.client === client) this.#onItsWay.delete(other);
    const messages = this.#it.take(client, x);
    for (const message of messages) this.#check(message, client);
    const ids = messages.map(({ id }) => id);
    if (x === null) this.#heard(client, ids);
    else this.#onItsWay.set(x, { client, ids });
    for (const id of ids) this.#handedOut.add(id);
  }

  #check({ id, repeat, to, text, n }: Typed, client: HumanClient): void {
    const name = `"${text.slice(0, 5)}" to ${client.name}`;
    if (this.#read.has(id)) throw new Error(`heard twice: ${name}`);
    if (repeat !== this.#handedOut.has(id)) throw new Error(`repeat is ${String(repeat)}: ${name}`);
    if (to !== null && to.principalId !== client.principalId) throw new Error(`not for this client: ${name}`);
    const later = this.#typed.find((other) => other.n > n && other.to !== null && this.#read.get(other.id) === client);
    if (to !== null && later !== undefined) throw new Error(`overtaken: ${name}`);
  }

  #settle(x: number, whole: boolean): void {
    const lease = this.#onItsWay.get(x);
    this.#onItsWay.delete(x);
    this.#it.queue.settled(x, whole);
    if (whole && lease !== undefined) this.#heard(lease.client, lease.ids);
  }

  #heard(client: HumanClient, ids: readonly string[]): void {
    for (const id of ids) this.#read.set(id, client);
  }
}
