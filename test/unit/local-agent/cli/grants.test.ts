import { describe, expect, test } from "vitest";
import type { AgentClaim } from "../../../../local-agent/daemon/agent-lock.ts";
import { readGrantsArguments } from "../../../../local-agent/cli/grants-arguments.ts";
import { grantsNamed } from "../../../../local-agent/cli/named-grants.ts";
import { chooseAgent } from "../../../../local-agent/cli/choose-agent.ts";
import type { AgentChoice } from "../../../../local-agent/cli/command-words.ts";

const ANY = { relay: null, workspace: null, port: null };
const read = (line: string) => {
  const [command = "", ...argv] = line.split(" ");
  return readGrantsArguments(command as "grants" | "revoke", argv);
};

describe("the command line", () => {
  test.for<[string, object]>([
    ["grants", { kind: "list", json: false, choice: ANY }],
    [
      "grants --json --relay https://r.example/mcp --port=8790",
      { kind: "list", json: true, choice: { relay: "https://r.example", workspace: null, port: 8790 } },
    ],
    ["revoke abcd efgh --json", { kind: "revoke", which: { ids: ["abcd", "efgh"] }, json: true, choice: ANY }],
    ["revoke --all --relay local", { kind: "revoke", which: { ids: "all" }, json: false, choice: { relay: "local", workspace: null, port: null } }],
    ["grants --workspace pi", { kind: "list", json: false, choice: { relay: null, workspace: "pi", port: null } }],
    [
      "revoke --all --workspace default",
      { kind: "revoke", which: { ids: "all" }, json: false, choice: { relay: null, workspace: "default", port: null } },
    ],
    ["revoke --help", { kind: "help" }],
    ["grants -h", { kind: "help" }],
  ])("[ST62] %s", ([line, order]) => {
    expect(read(line)).toEqual({ ok: true, value: order });
  });

  test.for<[string, string]>([
    ["revoke", "pimcp revoke needs the id of a grant, as pimcp grants lists them, or --all."],
    ["revoke --all a", "Name ids or --all, not both."],
    ["revoke a/bcd", '"a/bcd" is no id of a grant (4 characters or more): pimcp grants lists them.'],
    ["revoke abcd abc", '"abc" is no id of a grant (4 characters or more): pimcp grants lists them.'],
    [`revoke ${Array.from({ length: 501 }, () => "abcd").join(" ")}`, "pimcp revoke takes at most 500 ids at once, got 501; --all means all."],
    ["grants a", "pimcp grants lists and takes no ids: pimcp revoke ID takes access back."],
    ["grants --jsn", "Unknown flag --jsn. Did you mean --json? See pimcp grants --help."],
    ["revoke --al", "Unknown flag --al. Did you mean --all? See pimcp revoke --help."],
    [
      "grants --workspace P",
      '--workspace must be 1 to 32 lower-case letters, digits and hyphens, without a hyphen at either end; default is the one without a name, got "P".',
    ],
    ["grants --port x", '--port must be a port number from 0 to 65535, got "x".'],
  ])("[ST3] %s is answered with one sentence", ([line, sentence]) => {
    expect(read(line)).toEqual({ ok: false, error: sentence });
  });
});

describe("which grants are meant", () => {
  const grants = ["abcd1234", "abcd5678", "abcd12345", "wxyz0000"].map((id) => ({
    id,
    clientId: "c",
    clientName: "n",
    redirectHost: "r.example",
    scope: ["mcp"],
    createdAt: 0,
    lastUsedAt: null,
    expiresAt: 1,
  }));
  const unclear = (word: string, ids: string) => ({
    why: "unclear",
    sentence: `${word} can be any of ${ids}, so nothing was taken back: type more of the one that is meant.`,
  });

  test.for<[string[], ReturnType<typeof grantsNamed>]>([
    [["wxyz"], { ok: true, value: ["wxyz0000"] }],
    [["wxyz0000", "wxyz", "abcd5"], { ok: true, value: ["wxyz0000", "abcd5678"] }],
    [["abcd1234"], { ok: true, value: ["abcd1234"] }],
    [["zzzz"], { ok: false, error: { why: "unknown", unknown: ["zzzz"] } }],
    [["wxyz", "zzzz", "zzzz", "yyyy"], { ok: false, error: { why: "unknown", unknown: ["zzzz", "yyyy"] } }],
    [["wxyz00001"], { ok: false, error: { why: "unknown", unknown: ["wxyz00001"] } }],
  ])("[ST62] of the beginnings %j", ([words, chosen]) => {
    expect(grantsNamed(grants, words)).toEqual(chosen);
  });

  test("[ST62] a beginning of several means none of them, nor what stands beside it", () => {
    expect(grantsNamed(grants, ["wxyz", "abcd"])).toEqual({ ok: false, error: unclear("abcd", "abcd1234, abcd5678, abcd12345") });
    expect(grantsNamed(grants, ["abcd123"])).toEqual({ ok: false, error: unclear("abcd123", "abcd1234, abcd12345") });
    expect(grantsNamed([], ["abcd"])).toEqual({ ok: false, error: { why: "unknown", unknown: ["abcd"] } });
  });
});

describe("of the agents that run", () => {
  const claim = (serves: string, pid: number, control: string | null = `/run/${pid}`): AgentClaim => ({
    pid,
    began: "",
    root: "/srv",
    pageFile: null,
    serves,
    control,
  });
  const local = claim("http://127.0.0.1:8777", 1);
  const deployed = claim("https://r.example", 2);

  test("[ST63] the only one is asked, and of several the one that is named", () => {
    expect(chooseAgent([local], ANY)).toBe("/run/1");
    expect(chooseAgent([local, deployed], { relay: "https://r.example", workspace: null, port: null })).toBe("/run/2");
    expect(chooseAgent([local, deployed], { relay: "local", workspace: null, port: null })).toBe("/run/1");
    expect(chooseAgent([local, deployed, claim("http://127.0.0.1:9000", 3)], { relay: null, workspace: null, port: 8777 })).toBe("/run/1");
  });

  test("[ST63] workspaces of one relay are told apart, the one without a name among them", () => {
    const [one, other] = [claim("https://r.example/w/one", 4), claim("https://r.example/w/other", 5)];
    const embedded = claim("http://127.0.0.1:8777/w/one", 6);
    const choose = (workspace: string, relay: string | null = "https://r.example") =>
      chooseAgent([deployed, one, other, embedded], { relay, workspace, port: null });
    expect([choose("one"), choose("other"), choose("default"), choose("one", "local")]).toEqual(["/run/4", "/run/5", "/run/2", "/run/6"]);
    expect(() => choose("one", null)).toThrow(
      "Several agents are running: https://r.example/w/one (process 4, root /srv), http://127.0.0.1:8777/w/one",
    );
    expect(() => choose("oth")).toThrow("No running agent is the one of --relay https://r.example and --workspace oth. There is https://r.example (");
    expect(() => chooseAgent([deployed, one], { relay: "https://r.example", workspace: null, port: null })).toThrow("Several agents");
  });

  test.for<[readonly AgentClaim[], AgentChoice, string]>([
    [[], ANY, "No agent with a relay is running on this machine: start one with pimcp."],
    [
      [local, deployed],
      ANY,
      "Several agents are running: http://127.0.0.1:8777 (process 1, root /srv, --port 8777), https://r.example (process 2, root /srv). Choose one with --relay URL, --workspace NAME or --port PORT.",
    ],
    [
      [local],
      { relay: "https://r.example", workspace: null, port: 1 },
      "No running agent is the one of --relay https://r.example and --port 1. There is http://127.0.0.1:8777 (process 1, root /srv, --port 8777).",
    ],
    [[claim("https://r.example", 2, null)], ANY, "The running agent (process 2) is of a version that cannot be asked: start it anew."],
  ])("[ST63] %o with %o is one sentence", ([claims, choice, sentence]) => {
    expect(() => chooseAgent(claims, choice)).toThrow(sentence);
  });
});
