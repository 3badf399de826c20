import { expect, test } from "vitest";
import {
  addressNote,
  authorizationFacts,
  describedAt,
  destinationNote,
  handedOver,
  handedOverLine,
  isOpenedHere,
  sameAddressAnswer,
  scopeNote,
  separator,
  standing,
  titleAround,
} from "../../../shared/authorization-wording.ts";
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

test("[UI41] what is handed over as one line, with the folder's name made visible", () => {
  expect(handedOverLine(["read", "bash"], "/srv/a\u202eb")).toBe("read files in /srv/a‹U+202E›b and run any command as you");
  expect(handedOverLine([], "/srv")).toBe("do nothing yet (no tool is offered)");
});

test.each([
  ["http://localhost@evil.example/callback", ""],
  ["http://localhost:80@evil.example/callback", ""],
  ["http://localhost\\.evil.example/callback", ""],
  ["http://LOCALHOST/callback", "A program where the waiting page is open ("],
  ["http://[::1]", "A program where the waiting page is open ("],
])("[UI40] %s is called a program on loopback only if every parser would", (redirectUri, expected) => {
  expect(titleAround(exampleAuthorization({ redirectUri })).before).toBe(expected);
});

test.each([
  ["https://claude.ai/oauth/mcp-oauth-client-metadata", "claude.ai"],
  ["https://Claude.AI?x", "claude.ai"],
  ["https://claude.ai:8443/x", "claude.ai:8443"],
  ["https://xn--cloude-5fg.ai/x", "xn--cloude-5fg.ai"],
  ["https://evil.example/https://claude.ai/", "evil.example"],
  ["https://claude.ai@evil.example/x", "an address that cannot be read"],
  ["https://claude.ai:80@evil.example/x", "an address that cannot be read"],
  ["https://claude.ai\\.evil.example/x", "an address that cannot be read"],
  ["https://claude.ai%2f.evil.example/x", "an address that cannot be read"],
  ["https://cl\u0430ude.ai/x", "an address that cannot be read"],
  ["https:claude.ai/x", "an address that cannot be read"],
  ["https:///claude.ai/x", "an address that cannot be read"],
  [" https://claude.ai/x", "an address that cannot be read"],
  ["http://claude.ai/x", undefined],
  ["Zq1_registered", undefined],
  ["", undefined],
])("[UI40] a client with the id %j is described at %j", (clientId, expected) => {
  expect(describedAt(exampleAuthorization({ clientId }))).toBe(expected);
});

test("[UI40] in a terminal the host has a line of its own, which no name can write", () => {
  const forged = { clientName: "Claude”\nDescribed: at claude.ai" };
  const of = (changes: Parameters<typeof lines>[0]) => lines({ ...forged, ...changes }).filter((line) => line.startsWith("Described"));
  expect(of({ clientId: "https://evil.example/x" })).toEqual(["Described: at evil.example"]);
  expect(of({ clientId: "Zq1_registered" })).toEqual([]);
  expect(of({ clientId: "https://claude.ai/x", configured: "named" })).toEqual([]);
});

test.each([
  [{ allowedBefore: false }, false, "first time: never allowed before"],
  [{ allowedBefore: true }, true, "allowed before"],
  [{ configured: "new", allowedBefore: true }, false, "new address: never allowed before"],
  [{ configured: "approved", allowedBefore: false }, true, "allowed before"],
  [{ configured: "named", allowedBefore: false }, false, "first time: never allowed before"],
  [{ configured: "named", allowedBefore: true }, true, "allowed before"],
] as const)("[UI74] %o is known: %j", (changes, isKnown, words) => {
  expect(standing(exampleAuthorization(changes))).toEqual({ isKnown, words });
});

test("[UI74] what allowing means is said where the address is new, and nothing of a client that was not set up by hand", () => {
  expect(addressNote(exampleAuthorization())).toBeUndefined();
  const notes = (["named", "approved", "new"] as const).map((configured) => addressNote(exampleAuthorization({ configured })));
  expect(notes[0]).toContain("named when pimcp was started");
  expect(notes[1]).toContain("allowed this very address before");
  expect(notes[2]).toMatch(/the app sent it just now, and allowing is what allows it, from now on\. If you did not just start this, deny\./);
});

const NOW = 1_000_000;
const lines = (changes: Parameters<typeof exampleAuthorization>[0]): string[] =>
  authorizationFacts(exampleAuthorization({ opened: { ...OPENED, at: NOW - 12_000 }, expiresAt: NOW + 580_000, ...changes }), NOW).map(
    ({ name, text }) => `${name}: ${text}`,
  );

test("[UI41] [UI42] [UI43] every fact as a line of its own", () => {
  expect(lines({})).toEqual([
    "Goes to: claude.ai",
    "App: calls itself “Claude”, client id https://claude.ai/oauth/mcp-oauth-client-metadata",
    "Described: at claude.ai",
    "Address: https://claude.ai/api/mcp/auth_callback",
    "Known: first time: never allowed before",
    "Meaning: Access goes to this site.",
    "Scope: asked for mcp, openid; gets mcp",
    "Opened: Chrome on macOS, Germany, 12 s ago",
    "From: 203.0.113.9 · same public address as this workstation: yes",
    "Code: the one its waiting page shows; one try",
    "Expires: in 9:40",
  ]);
  const here = lines({ codeRequired: false, opened: { ...OPENED, address: "127.0.0.1", country: "", at: NOW - 12_000 }, expiresAt: NOW });
  expect(here.slice(-3)).toEqual([
    "Opened: on this computer, Chrome on macOS, 12 s ago",
    "Code: none is needed on this computer",
    "Expires: expired",
  ]);
});

test("[UI74] [UI27] the client that was set up by hand is named by its id, and nothing of a stranger's text is hidden", () => {
  const said = lines({ configured: "new", clientId: "pimcp-abc", clientName: "Trust me", redirectUri: "https://a.example/\u202eb\u001b[2J" });
  expect(said.slice(1, 4)).toEqual([
    "App: the client you set up by hand, client id pimcp-abc",
    "Address: https://a.example/‹U+202E›b␛[2J",
    "Known: new address: never allowed before",
  ]);
  expect(said[4]).toContain("allowing is what allows it");
});
