import { expect, test } from "vitest";
import { createSeats } from "../../../../local-agent/node/script-seats.ts";

/** Asks for one seat after the other and says, in order, who sits after each moment. */
function room(count: number, eachOwner: number) {
  const seats = createSeats(count, eachOwner);
  const sitting: string[] = [];
  return {
    sitting,
    take: (name: string, owner: string): (() => void) => {
      const { taken, leave } = seats.take(owner);
      void taken.then(() => sitting.push(name));
      return leave;
    },
    settled: () => new Promise<void>((resolve) => void setImmediate(resolve)),
  };
}

test("[MS17] one owner has two of four seats at most, and others go before its third", async () => {
  const { take, sitting, settled } = room(4, 2);
  const leaves = ["a1", "a2", "a3", "b1", "c1", "b2"].map((name) => take(name, name[0] ?? ""));
  await settled();
  expect(sitting).toEqual(["a1", "a2", "b1", "c1"]);
  leaves[3]?.();
  await settled();
  expect(sitting).toEqual(["a1", "a2", "b1", "c1", "b2"]);
  leaves[0]?.();
  await settled();
  expect(sitting.at(-1)).toBe("a3");
});

test("a place in the queue that is given up is nobody's, and giving back twice frees one seat", async () => {
  const { take, sitting, settled } = room(1, 1);
  const first = take("first", "a");
  const second = take("second", "b");
  take("third", "c");
  take("fourth", "d");
  second();
  first();
  first();
  await settled();
  expect(sitting).toEqual(["first", "third"]);
});
