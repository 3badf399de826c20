import { expect, test } from "vitest";
import { age, countdown, destinationNote, duration, handedOver, outcomeSentence, sameAddressAnswer } from "../../../ui/wording.ts";
import { exampleAuthorization } from "../../support/desk-under-test.ts";

test.each([
  [["read", "write", "edit", "ls", "grep", "find", "bash"], "read, write and run commands"],
  [["read", "ls"], "read"],
  [["edit", "powershell"], "write and run commands"],
  [["read", "mcp", "human_say"], "read and use mcp and human_say"],
  [[], "do nothing yet (no tool is offered)"],
])("[UI41] the tools %j hand over: %s", (tools, expected) => {
  expect(handedOver(tools)).toBe(expected);
});

test.each([
  ["https://claude.ai/callback", "The key is sent to this site."],
  ["http://127.0.0.1:33418/callback", "The key goes to a program on the computer where the waiting page is open."],
  ["http://localhost/callback", "The key goes to a program on the computer where the waiting page is open."],
  ["http://localhost.evil.example/callback", "The key is sent to this site, readable by everyone on the way."],
  ["cursor://anysphere.cursor-retrieval/oauth", "The key goes to whatever app opens “cursor:” addresses where the waiting page is open."],
  ["not an address", "The key is sent to an address that cannot be read."],
])("[UI41] says where the key goes with %s", (redirectUri, expected) => {
  expect(destinationNote(redirectUri)).toBe(expected);
});

test("[UI42] says yes, no or unknown", () => {
  expect([true, false, null].map(sameAddressAnswer)).toEqual(["yes", "no", "unknown"]);
});

test("[UI49] counts down and then is over", () => {
  const authorization = exampleAuthorization({ expiresAt: 600_000 });
  expect([0, 59_000, 599_500, 600_000, 700_000].map((now) => countdown(authorization, now))).toEqual(["10:00", "9:01", "0:01", undefined, undefined]);
});

test("[UI44] a wrong code says how to go on", () => {
  expect(outcomeSentence({ at: "over", outcome: "wrong_code", where: "here" })).toContain("Start again in the app");
});

test("durations and ages are short", () => {
  expect([0.4, 42, 1_500, 12_340, 75_000, 3_720_000].map(duration)).toEqual(["0 ms", "42 ms", "1.5 s", "12 s", "1 min 15 s", "1 h 2 min"]);
  expect([5_000, -3_000, -30_000, -300_000, -7_500_000].map((at) => age(at, 0))).toEqual([
    "just now",
    "just now",
    "30 s ago",
    "5 min ago",
    "2 h 5 min ago",
  ]);
});
