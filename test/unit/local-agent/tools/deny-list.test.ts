import { expect, test } from "vitest";
import { deniedBy, excludeGlobs, readDenyEntry, type DenyRule } from "../../../../local-agent/tools/deny-list.ts";

const base = { home: "/home/ada", windows: false };

function rule(entry: string): DenyRule {
  const read = readDenyEntry(entry, base);
  if (!read.ok || read.value.kind !== "anywhere") throw new Error(`not a name: ${entry}`);
  return { names: read.value.names, anchored: false, shown: entry };
}

test("[CF9] matches whole names in a row at any depth, whatever their case", () => {
  const rules = [rule(".ssh"), rule(".config/gcloud"), rule(".netrc")];
  const denied = [[".ssh"], ["a", ".SSH", "id"], [".config", "gcloud", "x"], ["a", "b", ".Config", "GCLOUD"], [".netrc"]];
  const open = [[], [".sshd"], ["my.ssh"], [".config"], [".config", "x", "gcloud"], ["gcloud"], [".netrc.bak"]];
  expect(denied.filter((path) => deniedBy(rules, path) === undefined)).toEqual([]);
  expect(open.filter((path) => deniedBy(rules, path) !== undefined)).toEqual([]);
});

test("[CF9] letters that case-insensitive disks take for others are folded too", () => {
  expect(deniedBy([rule(".ssh")], [".ſsh", "id"])).toBe(".ssh");
  expect(deniedBy([rule("k")], ["\u212a"])).toBe("k");
  expect(deniedBy([rule("caf\u00e9")], ["cafe\u0301"])).toBe("caf\u00e9");
});

test("[CF12] absolute and home entries are places, relative ones are names", () => {
  expect(readDenyEntry("/srv/app/secret", base)).toEqual({ ok: true, value: { kind: "place", path: "/srv/app/secret", shown: "/srv/app/secret" } });
  expect(readDenyEntry("~/code/keys", base)).toMatchObject({ ok: true, value: { kind: "place", path: "/home/ada/code/keys" } });
  expect(readDenyEntry("./a//b/", base)).toMatchObject({ ok: true, value: { kind: "anywhere", names: ["a", "b"] } });
  expect(readDenyEntry("C:\\keys", { ...base, windows: true })).toMatchObject({ ok: true, value: { kind: "place", path: "C:/keys" } });
});

test.each(["..", "../x", "a/../b", "*.pem", "key?", "[a]", "", ".", "/..", "a\0b"])("[CF12] refuses the entry %j with a sentence", (entry) => {
  expect(readDenyEntry(entry, base)).toEqual({ ok: false, error: expect.stringMatching(/^deny entry .*: ./) as string });
});

test("[CF11] exclusions for ripgrep reach from the search directory", () => {
  const anywhere = [rule(".ssh"), rule(".config/gcloud")];
  expect(excludeGlobs(anywhere, [])).toEqual(["!**/.ssh", "!**/.config/gcloud"]);
  expect(excludeGlobs(anywhere, ["a", ".config"])).toEqual(["!**/.ssh", "!**/.config/gcloud", "!/gcloud"]);
  const anchored: DenyRule = { names: ["a", "b", "c"], anchored: true, shown: "/root/a/b/c" };
  expect(excludeGlobs([anchored], [])).toEqual(["!/a/b/c"]);
  expect(excludeGlobs([anchored], ["a"])).toEqual(["!/b/c"]);
  expect(excludeGlobs([anchored], ["x"])).toEqual([]);
  expect(excludeGlobs([anchored], ["x", "a"])).toEqual([]);
});

test("[CF12] an anchored rule closes one place only", () => {
  const anchored: DenyRule = { names: ["a", "b"], anchored: true, shown: "/root/a/b" };
  expect(deniedBy([anchored], ["a", "b", "c"])).toBeDefined();
  expect(deniedBy([anchored], ["x", "a", "b"])).toBeUndefined();
});
