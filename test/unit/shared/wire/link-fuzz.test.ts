import * as fc from "fast-check";
import { env } from "node:process";
import { expect, test } from "vitest";
import { LinkSimulation, type Step } from "../../../support/link-simulation.ts";

/** A failure prints its seed and path: `SEED=… FUZZ_PATH=…` repeats it. `RUNS=…` makes a run longer. */
const runs = Number(env["RUNS"] ?? 300);
const seed = env["SEED"] === undefined ? {} : { seed: Number(env["SEED"]) };
const path = env["FUZZ_PATH"] === undefined ? {} : { path: env["FUZZ_PATH"] };

const KIB = 1024;
const index = fc.nat(1000);
const side = fc.constantFrom("agent" as const, "relay" as const);
const few = fc.nat(6);
const bodyBytes = fc.oneof(fc.nat(300), fc.constantFrom(0, 1, 256 * KIB, 256 * KIB + 1, 700 * KIB, 1024 * KIB));
const pieceBytes = fc.oneof(fc.integer({ min: 1, max: 200 }), fc.constantFrom(16, 32, 100 * KIB, 256 * KIB, 256 * KIB));

const work: fc.WeightedArbitrary<Step>[] = [
  { weight: 14, arbitrary: fc.record({ do: fc.constant("open" as const), bytes: bodyBytes, isEventStream: fc.boolean() }) },
  { weight: 30, arbitrary: fc.record({ do: fc.constant("deliver" as const), to: side, count: fc.nat(12) }) },
  { weight: 8, arbitrary: fc.constant({ do: "dial" as const }) },
  { weight: 8, arbitrary: fc.constant({ do: "sync" as const }) },
  { weight: 16, arbitrary: fc.record({ do: fc.constant("read" as const), client: index, count: few }) },
  { weight: 40, arbitrary: fc.record({ do: fc.constant("produce" as const), handler: index, bytes: pieceBytes }) },
];
const cuts: fc.WeightedArbitrary<Step>[] = [
  { weight: 4, arbitrary: fc.record({ do: fc.constant("cut" as const), keepToAgent: few, keepToRelay: few }) },
  { weight: 2, arbitrary: fc.constant({ do: "hang-up" as const }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("outage" as const), ms: fc.nat(80_000) }) },
  { weight: 2, arbitrary: fc.constant({ do: "hibernate" as const }) },
];
const ends = (isWhole: fc.Arbitrary<boolean>): fc.WeightedArbitrary<Step> => ({
  weight: 6,
  arbitrary: fc.record({ do: fc.constant("end" as const), handler: index, isWhole }),
});
const losses: fc.WeightedArbitrary<Step>[] = [
  { weight: 1, arbitrary: fc.record({ do: fc.constant("kill-agent" as const), keepToRelay: few }) },
  { weight: 1, arbitrary: fc.constant({ do: "leave" as const }) },
  { weight: 1, arbitrary: fc.constant({ do: "crash-relay" as const }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("client-gone" as const), client: index }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.nat(20_000) }) },
];
const damages: fc.WeightedArbitrary<Step>[] = (["drop", "duplicate", "truncate"] as const).map((how) => ({
  weight: 3,
  arbitrary: fc.record({ do: fc.constant("damage" as const), how: fc.constant(how), to: side, at: index, by: fc.nat(60) }),
}));

function story(...steps: fc.WeightedArbitrary<Step>[]): fc.Arbitrary<Step[]> {
  return fc.array(fc.oneof(...steps), { maxLength: 200, size: "max" });
}

function holds(steps: fc.Arbitrary<Step[]>, property: (simulation: LinkSimulation) => void): void {
  fc.assert(
    fc.property(steps, (list) => {
      const simulation = new LinkSimulation();
      simulation.run({ do: "dial" });
      for (const step of list) simulation.run(step);
      property(simulation);
    }),
    { numRuns: runs, ...seed, ...path },
  );
}

/** Generous: a run takes 4 ms on an idle machine. */
const patient = { timeout: Math.max(60_000, runs * 100) };

test("[WP7] [WP10] [WP13] every answer arrives whole, over any cuts, when the same instance comes back in time", patient, () => {
  holds(story(...work, ...cuts, ends(fc.constant(true))), (simulation) => {
    simulation.settle();
    expect(simulation.leftovers()).toEqual([]);
    expect(simulation.breaks).toEqual([]);
    expect([...simulation.outcomes.values()].filter((outcome) => outcome !== "whole" && outcome !== "agent away")).toEqual([]);
  });
});

test("[WP11] [WP12] [WP15] over killed agents, crashed relays and lost clients a request runs at most once and ends once", patient, () => {
  holds(story(...work, ...cuts, ...losses, ends(fc.boolean())), (simulation) => {
    simulation.settle();
    expect(simulation.leftovers()).toEqual([]);
    expect(simulation.breaks).toEqual([]);
  });
});

test("[WP15] [WP17] every exchange ends within its deadlines when nobody comes back", patient, () => {
  holds(story(...work, ...cuts, ...losses, ends(fc.boolean())), (simulation) => {
    simulation.run({ do: "kill-agent", keepToRelay: 3 });
    simulation.run({ do: "deliver", to: "relay", count: 100_000 });
    simulation.run({ do: "wait", ms: 92_000 });
    expect(simulation.leftovers()).toEqual([]);
  });
});

test("[WP5] [WP13] frames dropped, repeated or cut short break no promise", patient, () => {
  holds(story(...work, ...cuts, ...losses, ...damages, ends(fc.boolean())), (simulation) => {
    simulation.settle();
    simulation.run({ do: "wait", ms: 100_000 });
    simulation.settle();
    simulation.reconnect();
    expect(simulation.leftovers()).toEqual([]);
  });
});
