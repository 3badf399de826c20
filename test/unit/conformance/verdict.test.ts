import { expect, test } from "vitest";
import type { Check } from "../../conformance/suite.ts";
import { judge, lostSinceRecorded, lostThroughRelay } from "../../conformance/verdict.ts";

const check = (id: string, status = "SUCCESS"): Check => ({ id, status, message: `${id} says` });
const ping = new Map([["ping", [check("ping"), check("wire", "FAILURE")]]]);

test("a failure that nobody expects fails", () => {
  expect(judge(ping, [])).toMatchObject({ passed: [], expected: [], failed: [expect.stringContaining("ping: wire: wire says")] });
});

test("a failure is expected by scenario or by check, and only that check", () => {
  for (const name of ["ping", "ping:wire"]) expect(judge(ping, [{ because: "x", fails: [name] }])).toMatchObject({ expected: ["ping"], failed: [] });
  const both = new Map([["ping", [check("wire", "FAILURE"), check("other", "FAILURE")]]]);
  expect(judge(both, [{ because: "x", fails: ["ping:wire"] }]).failed).toEqual([expect.stringContaining("other")]);
});

test("an entry that does not fail any more fails", () => {
  const fine = new Map([["ping", [check("ping")]]]);
  expect(judge(fine, [{ because: "x", fails: ["ping", "gone"] }]).failed).toHaveLength(2);
});

test("what passes directly must pass through the relay as often", () => {
  const direct = new Map([["a", [check("one"), check("one"), check("two", "FAILURE"), check("note", "INFO")]]]);
  expect(lostThroughRelay(direct, direct)).toEqual([]);
  expect(lostThroughRelay(direct, new Map([["a", [check("one"), check("two", "FAILURE")]]]))).toHaveLength(1);
  expect(lostThroughRelay(direct, new Map())).toHaveLength(1);
  expect(lostThroughRelay(direct, new Map([["a", [check("one"), check("one"), check("two", "FAILURE"), check("two", "FAILURE")]]]))).toHaveLength(1);
});

test("what was recorded to pass passes, and nothing that is not recorded", () => {
  expect(lostSinceRecorded(ping, { ping: 1 })).toEqual([]);
  expect(lostSinceRecorded(ping, { ping: 2 })).toEqual([expect.stringContaining("ping: 1 checks pass, baseline.yml says 2")]);
  expect(lostSinceRecorded(ping, { ping: 0 })).toHaveLength(1);
  expect(lostSinceRecorded(ping, { gone: 1 })).toHaveLength(1);
});
