import { expect, test } from "vitest";
import {
  age,
  countdown,
  destinationNote,
  duration,
  elapsed,
  handedOver,
  isOpenedHere,
  outcomeSentence,
  sameAddressAnswer,
  scopeNote,
  separator,
  timeOfDay,
  titleAround,
} from "../../../ui/wording.ts";
import { exampleAuthorization } from "../../support/desk-under-test.ts";

test.each([
  [["read", "write", "edit", "ls", "grep", "find", "bash"], "read and write files in / and run any command as you"],
  [["read", "ls"], "read files in /"],
  [["edit", "powershell"], "write files in / and run any command as you"],
  [["bash"], "run any command as you"],
  [["read", "bash", "mcp", "human_say"], "read files in /, run any command as you and use mcp and human_say"],
  [[], ""],
])("[UI41] the tools %j hand over: %s", (tools, expected) => {
  const abilities = handedOver(tools);
  const said = abilities.map(({ what, isInFolder }, index) => separator(index, abilities.length) + what + (isInFolder ? " in /" : ""));
  expect(said.join("")).toBe(expected);
});

const OPENED = exampleAuthorization().opened;
const HERE = { codeRequired: false, opened: { ...OPENED, address: "127.0.0.1" } };

test.each([
  ["https://claude.ai/callback", "Access goes to this site."],
  ["http://127.0.0.1:33418/callback", "Access goes to the computer where the waiting page is open: is that yours?"],
  ["http://localhost/callback", "Access goes to the computer where the waiting page is open: is that yours?"],
  ["http://localhost.evil.example/callback", "Access goes to this site, readable by everyone on the way."],
  ["cursor://anysphere.cursor-retrieval/oauth", "Access goes to whatever app opens “cursor:” addresses where the waiting page is open."],
  ["not an address", "Access goes to an address that cannot be read."],
])("[UI41] says where access goes with %s", (redirectUri, expected) => {
  expect(destinationNote(exampleAuthorization({ redirectUri }))).toBe(expected);
});

test.each([
  ["http://127.0.0.1:9999/callback", HERE, "A program on this computer ("],
  ["http://[::1]:9999/callback", HERE, "A program on this computer ("],
  ["http://localhost:9999/callback", {}, "A program where the waiting page is open ("],
  ["http://localhost.evil.example/callback", HERE, ""],
  ["javascript://localhost/callback", HERE, ""],
  ["https://claude.ai/callback", HERE, ""],
  ["not an address", HERE, ""],
])("[UI40] whose loopback is meant is said with %s", (redirectUri, changes, expected) => {
  expect(titleAround(exampleAuthorization({ redirectUri, ...changes })).before).toBe(expected);
});

test.each([
  ["127.0.0.1", false, true],
  ["::1", false, true],
  ["::ffff:127.0.0.1", false, true],
  ["127.0.0.1", true, false],
  ["203.0.113.9", false, false],
  ["", false, false],
  ["127.0.0.1.evil.example", false, false],
])("[UI42] opened from %j, code required %j: on this computer %j", (address, codeRequired, expected) => {
  expect(isOpenedHere(exampleAuthorization({ codeRequired, opened: { ...OPENED, address } }))).toBe(expected);
});

test.each([
  [["mcp"], ["mcp"], undefined],
  [["mcp", "openid"], ["mcp"], "asked for mcp, openid; gets mcp"],
  [[], ["mcp"], "asked for none; gets mcp"],
])("[UI41] the scopes %j and %j are worth: %s", (scopeAsked, scopeGranted, expected) => {
  expect(scopeNote(exampleAuthorization({ scopeAsked, scopeGranted }))).toBe(expected);
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
  expect([-8_200, 3_000, -300_000, -7_500_000].map((since) => elapsed(since, 0))).toEqual(["8 s", "0 s", "5 min", "2 h 5 min"]);
  const morning = new Date(2026, 0, 2, 9, 5, 7).getTime();
  expect([timeOfDay(morning, "minute"), timeOfDay(morning, "second")]).toEqual(["09:05", "09:05:07"]);
});
