import { expect, test } from "vitest";
import type { Grant } from "../../../../shared/authorization.ts";
import type { DeskEvent } from "../../../../shared/desk.ts";
import { deskUnderTest, exampleGrant } from "../../../support/desk-under-test.ts";

function shown(events: readonly DeskEvent[]): string[][] {
  return events.flatMap((event) => (event.t === "grants" ? [event.grants.map(({ id }) => id)] : []));
}

test("[UI29] the list is not known until it is asked for, and then every page hears it", async () => {
  const { desk, grants } = deskUnderTest();
  const events: DeskEvent[] = [];
  desk.subscribe((event) => events.push(event));
  grants.push(exampleGrant());
  expect(desk.snapshot().grants).toBeNull();
  desk.grantsChanged();
  await Promise.resolve();
  expect(events).toEqual([]);
  await desk.refreshGrants();
  expect([shown(events), desk.snapshot().grants]).toEqual([[["grant-1"]], grants]);
  grants.push(exampleGrant({ id: "grant-2" }));
  desk.grantsChanged();
  await expect.poll(() => shown(events)).toEqual([["grant-1"], ["grant-1", "grant-2"]]);
  expect(await desk.revoke({ ids: ["grant-1", "unknown"] })).toEqual({ revoked: 1 });
  expect(shown(events).at(-1)).toEqual(["grant-2"]);
});

test("[UI29] an answer that was overtaken does not bring back what is gone", async () => {
  const answers: ((grants: readonly Grant[]) => void)[] = [];
  const { desk } = deskUnderTest({
    grants: { list: () => new Promise((resolve) => answers.push(resolve)), revoke: () => Promise.resolve({ revoked: 1 }) },
  });
  const [early, late] = [desk.refreshGrants(), desk.refreshGrants()];
  answers[1]?.([]);
  await late;
  answers[0]?.([exampleGrant()]);
  await early;
  expect(desk.snapshot().grants).toEqual([]);
});

test("[UI29] without an answer of the relay both fail with a sentence, and what was known stays", async () => {
  let isAway = false;
  const away = (): Promise<never> => Promise.reject(new Error("the relay is not connected right now"));
  const { desk } = deskUnderTest({ grants: { list: () => (isAway ? away() : Promise.resolve([exampleGrant()])), revoke: away } });
  await desk.refreshGrants();
  isAway = true;
  await expect(desk.refreshGrants()).rejects.toThrow("The relay could not be asked: the relay is not connected right now.");
  await expect(desk.revoke({ ids: "all" })).rejects.toThrow("Nothing is known to have been taken back");
  expect(desk.snapshot().grants).toHaveLength(1);
});
