import { expect, test } from "vitest";
import { grantTimes } from "../../../shared/grant-wording.ts";
import { exampleGrant } from "../../support/desk-under-test.ts";

const at = (day: number, hour: number): number => new Date(2026, 10, day, hour, 5).getTime();
const grant = exampleGrant({ createdAt: at(1, 9), expiresAt: at(30, 9) });

test.for<[number | null, string]>([
  [null, "never used"],
  [at(2, 9), "used in the last hour"],
  [at(2, 8), "last used 2026-11-02 08:05 (to the hour)"],
])("[OA83] a use at %s is: %s", ([lastUsedAt, words]) => {
  expect(grantTimes({ ...grant, lastUsedAt }, at(2, 9))).toEqual([
    "allowed 2026-11-01 09:05",
    words,
    "ends 2026-11-30 09:05 unless the app renews it",
  ]);
});
