import { describe, expect, test } from "vitest";
import type { PendingAuthorization } from "../../../../shared/authorization.ts";
import { cardLines } from "../../../../local-agent/cli/card-lines.ts";
import { jsonLine } from "../../../../local-agent/cli/json-line.ts";
import { PENDING_HELP, readPendingArguments, type PendingCommand } from "../../../../local-agent/cli/pending-arguments.ts";
import { chooseToAllow, chooseToDeny, shortId } from "../../../../local-agent/cli/waiting-requests.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const TYPED = { program: "pimcp", flags: " --port 8778" };
const HOW = { json: false, choice: { relay: null, workspace: null, port: null } };

describe("the command line", () => {
  test.for<[string[], object]>([
    [["pending"], { kind: "list", ...HOW }],
    [["pending", "--json", "--port", "8790"], { kind: "list", json: true, choice: { relay: null, workspace: null, port: 8790 } }],
    [["allow", "123456"], { kind: "allow", code: "123456", id: null, ...HOW }],
    [["allow", "123 456"], { kind: "allow", code: "123456", id: null, ...HOW }],
    [["allow", "123", "456"], { kind: "allow", code: "123456", id: null, ...HOW }],
    [["allow", "123-456", "abCd"], { kind: "allow", code: "123456", id: "abCd", ...HOW }],
    [["allow", "ab-d", "123", "456"], { kind: "allow", code: "123456", id: "ab-d", ...HOW }],
    [
      ["allow", "abcd", "--relay", "local"],
      { kind: "allow", code: null, id: "abcd", json: false, choice: { relay: "local", workspace: null, port: null } },
    ],
    [["allow", "--", "-abcd"], { kind: "allow", code: null, id: "-abcd", ...HOW }],
    [["deny", "abcd", "--json"], { kind: "deny", id: "abcd", ...HOW, json: true }],
    [["allow", "--help"], { kind: "help" }],
    [["deny", "-h"], { kind: "help" }],
  ])("[ST64] %j", ([[command = "", ...argv], order]) => {
    expect(readPendingArguments(command as PendingCommand, argv)).toEqual({ ok: true, value: order });
  });

  test.for<[string[], string]>([
    [["pending", "abcd"], "pimcp pending lists and takes no words: pimcp allow and pimcp deny decide."],
    [["allow"], "pimcp allow needs the code that the waiting page shows, or an ID where none is needed: pimcp pending lists both."],
    [["allow", "12345"], "The code of a waiting page has six digits, got 5. Nothing was decided."],
    [["allow", "123456", "1234"], "The code of a waiting page has six digits, got 10. Nothing was decided."],
    [["allow", "123456", "abcd", "efgh"], "pimcp allow decides one request at a time: pimcp allow CODE ID."],
    [["allow", "123456", "abc"], '"abc" is no ID of a request (4 characters or more): pimcp pending lists them.'],
    [["allow", ""], '"" is no ID of a request (4 characters or more): pimcp pending lists them.'],
    [["allow", "--yes"], "Unknown flag --yes. See pimcp allow --help."],
    [["allow", "--all"], "Unknown flag --all. See pimcp allow --help."],
    [["deny"], "pimcp deny needs the ID of a request, as pimcp pending lists them."],
    [["deny", "abcd", "efgh"], "pimcp deny decides one request at a time."],
    [["deny", "a/b\u001b"], '"a/b\\u001b" is no ID of a request (4 characters or more): pimcp pending lists them.'],
    [["pending", "--jsn"], "Unknown flag --jsn. Did you mean --json? See pimcp pending --help."],
    [["deny", "abcd", "--port", "x"], '--port must be a port number from 0 to 65535, got "x".'],
  ])("[ST3] [ST65] %j is answered with one sentence", ([[command = "", ...argv], sentence]) => {
    expect(readPendingArguments(command as PendingCommand, argv)).toEqual({ ok: false, error: sentence });
  });

  test("[ST9] the help names every flag, in lines of at most 100 characters", () => {
    for (const flag of ["--json", "--relay", "--port", "--help"]) expect(PENDING_HELP).toContain(flag);
    expect(PENDING_HELP.split("\n").filter((line) => line.length > 100)).toEqual([]);
  });
});

function waiting(id: string, codeRequired = true): PendingAuthorization {
  return {
    id,
    redirectHost: "claude.ai",
    redirectUri: "https://claude.ai/cb",
    clientId: "c",
    clientName: "Claude",
    scopeAsked: ["mcp"],
    scopeGranted: ["mcp"],
    allowedBefore: false,
    opened: { address: "203.0.113.7", country: "AT", browser: "Firefox", at: 0, sameAddress: true },
    codeRequired,
    expiresAt: 600_000,
  };
}

describe("which one is meant", () => {
  const one = waiting("abcdefgh1234");
  const two = waiting("abcdXYZW5678");
  const local = waiting("-local-567890", false);
  const allow = (cards: readonly PendingAuthorization[], code: string | null, id: string | null) => chooseToAllow(cards, { code, id }, TYPED);
  const all = "There are abcdef, abcdXY: pimcp pending --port 8778 shows them.";

  test("[ST65] the only one by its code alone, one of several by its ID too, one of a loopback issuer without a code", () => {
    expect(allow([one], "123456", null)).toEqual({ ok: true, value: one });
    expect(allow([one, two], "123456", "abcdX")).toEqual({ ok: true, value: two });
    expect(allow([one, two, local], null, "-local-567890")).toEqual({ ok: true, value: local });
    expect(allow([local], null, "local-")).toEqual({ ok: true, value: local });
    expect(chooseToDeny([one, two], "abcdef", TYPED)).toEqual({ ok: true, value: one });
  });

  test.for<[string, ReturnType<typeof allow>, string, string]>([
    [
      "a code with several",
      allow([one, two], "123456", null),
      "unclear",
      `2 apps wait, and which one is meant must be said: pimcp allow CODE ID --port 8778. ${all}`,
    ],
    ["a beginning of two", allow([one, two], "123456", "abcd"), "unclear", `abcd can be any of several. ${all}`],
    [
      "no code where one is needed",
      allow([one], null, "abcde"),
      "unclear",
      "abcdef needs the code that its waiting page shows: pimcp allow CODE abcdef --port 8778",
    ],
    [
      "a code where there is none",
      allow([local], "123456", null),
      "unclear",
      "local- has no code, so the one you typed is of something else: pimcp allow local- --port 8778",
    ],
    ["another id", allow([one], "123456", "zzzz"), "gone", "No request zzzz waits. There is abcdef: pimcp pending --port 8778 shows them."],
    ["nothing", allow([], "123456", null), "gone", "Nothing waits: start the connection in the app again."],
    ["nothing of that id", chooseToDeny([], "zzzz", TYPED), "gone", "Nothing waits: start the connection in the app again."],
  ])("[ST65] %s is never guessed", ([, choice, why, sentence]) => {
    expect(choice).toEqual({ ok: false, error: { why, sentence } });
  });

  test.for<[string, string[], string]>([
    ["abcdefghi", [], "abcdef"],
    ["abcdefghi", ["abcdefxyz"], "abcdefg"],
    ["123456789a", [], "123456789a"],
    ["--abcdefgh", [], "abcdef"],
    ["1234-6789a", ["zzz"], "1234-6789a"],
  ])("[ST64] of %s among %j the command line takes %s", ([id, others, short]) => {
    expect(shortId(id, [id, ...others])).toBe(short);
  });
});

describe("the agent's own terminal", () => {
  test("[ST67] says once that an app asks, and no more than a line in 30 seconds", () => {
    const clock = new ManualClock(0);
    const said: string[] = [];
    const { show, stop } = cardLines((line) => said.push(line), "pimcp", { clock, timers: clock });
    const [a, b, c] = [waiting("aaaa"), waiting("bbbb"), waiting("cccc")];
    show([]);
    show([a]);
    show([a]);
    expect(said).toEqual(["An app wants access (claude.ai): run pimcp pending"]);
    show([a, b]);
    show([a, b, c]);
    clock.advance(29_999);
    expect(said).toHaveLength(1);
    clock.advance(1);
    expect(said.slice(1)).toEqual(["2 apps want access: run pimcp pending"]);
    const d = waiting("dddd");
    show([d]);
    show([]);
    clock.advance(60_000);
    expect(said).toHaveLength(2);
    show([{ ...d, redirectHost: "\u001b[2Jevil" }]);
    expect(said.at(-1)).toBe("An app wants access (␛[2Jevil): run pimcp pending");
    show([a]);
    stop();
    clock.advance(60_000);
    expect(said).toHaveLength(3);
  });
});

test("[ST64] JSON is ASCII: what a stranger wrote cannot drive the terminal it is shown on", () => {
  expect(jsonLine({ name: "a\u202e\u009bé😀" })).toBe('{"name":"a\\u202e\\u009b\\u00e9\\ud83d\\ude00"}\n');
});
