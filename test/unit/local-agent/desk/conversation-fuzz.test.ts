import * as fc from "fast-check";
import { env } from "node:process";
import { expect, test } from "vitest";
import type { WaitOutcome } from "../../../../shared/human/channel.ts";
import type { Typed } from "../../../../shared/human/entry.ts";
import { ADA, BOB, conversationUnderTest, idOf, memoryOutbox, settleDown } from "../../../support/simulated-store.ts";

/** A failure prints its seed and path: `SEED=… FUZZ_PATH=…` repeats it. `RUNS=…` makes a run longer. */
const runs = Number(env["RUNS"] ?? 300);
const seed = env["SEED"] === undefined ? {} : { seed: Number(env["SEED"]) };
const path = env["FUZZ_PATH"] === undefined ? {} : { path: env["FUZZ_PATH"] };

const turns = fc.nat(14);
const step = fc.oneof(
  { weight: 10, arbitrary: fc.record({ do: fc.constant("type" as const), turns, to: fc.constantFrom(null, ADA.principalId, BOB.principalId) }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant("wait" as const), turns, client: fc.constantFrom(ADA, ADA, BOB) }) },
  /** Whole or not: an answer without words may still end well, and a client may leave before it does. */
  { weight: 8, arbitrary: fc.record({ do: fc.constant("settle" as const), turns, whole: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("abort" as const), turns, index: fc.nat(5) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("cut" as const), turns }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("connect" as const), turns }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("advance" as const), turns, ms: fc.constantFrom(50, 200, 1000, 5000, 46_000) }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

interface Call {
  readonly x: number;
  readonly principalId: string;
  readonly gone: AbortController;
  outcome: WaitOutcome | undefined;
  isOver: boolean;
}

class World {
  readonly under = conversationUnderTest({ away: true, outbox: memoryOutbox(1000) });
  readonly calls: Call[] = [];
  /** Words that reached a client in an answer that left whole, in that order. */
  readonly heard: Typed[] = [];
  readonly promised: string[] = [];
  #typed = 0;

  async run(steps: readonly Step[]): Promise<void> {
    for (const each of steps) {
      this.#take(each);
      await settleDown(each.turns);
    }
    await this.#end();
  }

  #take(each: Step): void {
    const { under } = this;
    switch (each.do) {
      case "type": {
        const id = idOf((this.#typed += 1));
        void under.type(`m${this.#typed}`, each.to, id).then(({ outcome }) => {
          if (outcome !== "full") this.promised.push(id);
        });
        return;
      }
      case "wait":
        return this.#wait(each.client);
      case "settle":
        return this.#settle(each.whole);
      case "abort":
        return this.#openCalls()[each.index]?.gone.abort();
      case "cut":
        return under.store.cut();
      case "connect":
        return under.store.connect();
      case "advance":
        return under.clock.advance(each.ms);
    }
  }

  #openCalls(): Call[] {
    return this.calls.filter(({ isOver }) => !isOver);
  }

  #wait(client: typeof ADA): void {
    const x = this.calls.length + 1;
    const { outcome, gone } = this.under.waits({ client, x });
    const call: Call = { x, principalId: client.principalId, gone, outcome: undefined, isOver: false };
    this.calls.push(call);
    void outcome.then((told) => (call.outcome = told));
  }

  /** The answer of the oldest call that has one leaves over the link, whole or not. */
  #settle(whole: boolean): void {
    const call = this.#openCalls().find(({ outcome }) => outcome !== undefined);
    if (call?.outcome === undefined || !this.under.store.isConnected) return;
    call.isOver = true;
    this.under.store.settle(call.x, whole);
    if (whole && call.outcome.at === "messages") this.heard.push(...call.outcome.messages);
  }

  /** Everything comes back, and both clients ask until there is nothing more. */
  async #end(): Promise<void> {
    const { store, clock } = this.under;
    store.connect();
    for (let round = 0; round < 60; round += 1) {
      await settleDown(60);
      this.#settle(true);
      const isIdle = this.#openCalls().length === 0;
      if (isIdle && store.rows.count("queued") === 0 && this.under.outbox.list().length === 0) break;
      if (isIdle) [ADA, BOB].forEach((client) => this.#wait(client));
      await settleDown(60);
      clock.advance(1000);
      await settleDown(60);
      if (round % 10 === 9) clock.advance(200_000);
    }
    await settleDown();
  }
}

function isInOrder(numbers: readonly number[]): boolean {
  return numbers.every((each, index) => index === 0 || each > (numbers[index - 1] ?? 0));
}

test("[HU60] [HU64] [HU67] [HU68] whatever happens in between, every word arrives once, in order, and what may come twice says so", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const world = new World();
      await world.run(steps);
      const { heard } = world;
      const ids = heard.map(({ id }) => id);
      expect(world.under.outbox.list()).toEqual([]);
      expect([...new Set(ids)].toSorted()).toEqual(world.promised.toSorted());
      const plain = heard.filter(({ repeat }) => !repeat).map(({ id }) => id);
      expect(plain).toHaveLength(new Set(plain).size);
      const first = heard.filter(({ id }, index) => ids.indexOf(id) === index);
      for (const { principalId } of [ADA, BOB]) {
        const own = first.filter(({ to }) => to?.principalId === principalId).map(({ n }) => n);
        expect(isInOrder(own)).toBe(true);
      }
      expect(isInOrder(world.under.conversation.view().entries.map(({ id }) => Number.parseInt(id, 16)))).toBe(true);
    }),
    { numRuns: runs, ...seed, ...path },
  );
});
