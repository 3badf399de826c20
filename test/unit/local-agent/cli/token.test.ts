import { describe, expect, test } from "vitest";
import { WORKSPACE_SPELLING } from "../../../../shared/workspace.ts";
import { readTokenArguments, TOKEN_HELP } from "../../../../local-agent/cli/token-arguments.ts";

const NOW = new Date(2026, 10, 30, 12).getTime();
const HOUR = 60 * 60_000;
const wish = (changes: object = {}) => ({
  kind: "create",
  wish: { name: "LM Studio", expiresAt: null, scope: ["mcp"], ...changes },
  json: false,
  workspace: null,
});

describe("the command line", () => {
  test.for<[string[], object]>([
    [["create", "LM Studio"], wish()],
    [["create", "LM Studio", "--expires", "30d", "--json"], { ...wish({ expiresAt: NOW + 30 * 24 * HOUR }), json: true }],
    [["create", "--expires=12h", "--scope", "mcp", "LM Studio"], wish({ expiresAt: NOW + 12 * HOUR })],
    [["create", "LM Studio", "--expires", "2027-01-31"], wish({ expiresAt: new Date(2027, 1, 1).getTime() })],
    [["create", "LM Studio", "--expires", "2026-11-30"], wish({ expiresAt: new Date(2026, 11, 1).getTime() })],
    [["create", "é".repeat(60)], wish({ name: "é".repeat(60) })],
    [["list"], { kind: "list", json: false, workspace: null }],
    [["list", "--json"], { kind: "list", json: true, workspace: null }],
    [["revoke", "0123abcd", "LM Studio"], { kind: "revoke", which: ["0123abcd", "LM Studio"], json: false, workspace: null }],
    [["revoke", "--all", "--json"], { kind: "revoke", which: "all", json: true, workspace: null }],
    [["create", "LM Studio", "--workspace", "proj"], { ...wish(), workspace: "proj" }],
    [["list", "--workspace", "default"], { kind: "list", json: false, workspace: null }],
    [["revoke", "--all", "--workspace=proj"], { kind: "revoke", which: "all", json: false, workspace: "proj" }],
    [["--help"], { kind: "help" }],
    [["create", "-h"], { kind: "help" }],
    [["help"], { kind: "help" }],
  ])("[ST70] %j", ([argv, order]) => {
    expect(readTokenArguments(argv, NOW)).toEqual({ ok: true, value: order });
  });

  const name = (text: string) => `A token's name has visible characters and single spaces between them only, got ${JSON.stringify(text)}.`;
  const expiry = "--expires must be days or hours such as 30d or 12h, or a date such as 2027-01-31, got";
  test.for<[string[], string]>([
    [[], "pimcp token needs to know what to do: create, list or revoke. See pimcp token --help."],
    [["crate", "x"], "Unknown command pimcp token crate: create, list or revoke. Did you mean pimcp token create? See pimcp token --help."],
    [["create"], "pimcp token create needs a name to know the token by, such as the client's."],
    [["create", ""], "A token's name has 1 to 60 characters, got 0."],
    [["create", "a".repeat(61)], "A token's name has 1 to 60 characters, got 61."],
    [["create", "LM", "Studio"], 'pimcp token create takes one name: put it in quotes, "LM Studio".'],
    [["create", " a"], name(" a")],
    [["create", "a  b"], name("a  b")],
    [["create", "a\u00a0b"], name("a‹U+00A0›b")],
    [["create", "a\nb"], name("a⏎b")],
    [["create", "a\u202eb"], name("a‹U+202E›b")],
    [["create", "a", "--scope", "admin"], '--scope can only be mcp, which is all there is, got "admin".'],
    [["create", "a", "--scope"], '--scope can only be mcp, which is all there is, got "".'],
    [["create", "a", "--expires", "soon"], `${expiry} "soon".`],
    [["create", "a", "--expires", "30"], `${expiry} "30".`],
    [["create", "a", "--expires", "30m"], `${expiry} "30m".`],
    [["create", "a", "--expires", "-1d"], `${expiry} "-1d".`],
    [["create", "a", "--expires", "2027-02-30"], `${expiry} "2027-02-30".`],
    [["create", "a", "--expires", "2027-1-31"], `${expiry} "2027-1-31".`],
    [["create", "a", "--expires"], `${expiry} "".`],
    [["create", "a", "--expires", "0d"], '--expires must lie in the future, got "0d".'],
    [["create", "a", "--expires", "2026-11-29"], '--expires must lie in the future, got "2026-11-29".'],
    [["create", "a", "--expires", "999999d"], '--expires can be at most 10 years away, got "999999d"; without it a token does not expire.'],
    [["create", "a", "--all"], "--all means nothing to pimcp token create: leave it out."],
    [["create", "a", "--expirs", "1d"], "Unknown flag --expirs. Did you mean --expires? See pimcp token --help."],
    [["list", "--workspace", "../x"], `--workspace must be ${WORKSPACE_SPELLING}; default is the one without a name, got "../x".`],
    [["list", "a"], "pimcp token list takes no names: it lists all."],
    [["list", "--expires", "1d"], "--expires means nothing to pimcp token list: leave it out."],
    [["revoke"], "pimcp token revoke needs an ID or a name, as pimcp token list shows them, or --all."],
    [["revoke", "a", "--all"], "Name tokens or --all, not both."],
  ])("[ST3] [ST72] %j is answered with one sentence", ([argv, sentence]) => {
    expect(readTokenArguments(argv, NOW)).toEqual({ ok: false, error: sentence });
  });

  test("[ST9] the help names every flag, in lines of at most 100 characters", () => {
    for (const flag of ["--expires", "--scope", "--workspace", "--all", "--json", "--help"]) expect(TOKEN_HELP).toContain(flag);
    expect(TOKEN_HELP.split("\n").filter((line) => line.length > 100)).toEqual([]);
  });
});
