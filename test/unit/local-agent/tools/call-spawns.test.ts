import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { callSpawns, type SearchMemory } from "../../../../local-agent/tools/call-spawns.ts";
import { openConfinedRoot } from "../../../../local-agent/tools/confined-root.ts";
import { tempDir } from "../../../support/temp-dir.ts";

const carriers = { mark: "f".repeat(32), label: "call-1" };

test("[CF11] exclusions follow every glob of the caller and precede the end of options, in the real directory", async () => {
  const base = tempDir("spawns");
  mkdirSync(join(base, "sub"));
  const root = await openConfinedRoot({ root: base, deny: [".ssh", join(base, "sub/keys")] });
  const search: SearchMemory = { target: { path: join(base, "sub"), directory: true } };
  const start = {
    command: "rg",
    args: ["--hidden", "--glob", ".ssh/**", "--", "--pre=x", "."],
    options: { cwd: join(base, "alias"), env: { A: "1" } },
  };
  expect(callSpawns(root, carriers, search).rules.adapt(start)).toEqual({
    command: "rg",
    args: ["--hidden", "--glob", ".ssh/**", "--no-ignore-messages", "--iglob", "!**/.ssh", "--iglob", "!/keys", "--", "--pre=x", "."],
    options: { cwd: join(base, "sub"), env: { A: "1", [`PIMCP_MARK_${carriers.mark}`]: "call-1" } },
  });
});

test("[CF11] a search started in an unexpected way is not started", async () => {
  const root = await openConfinedRoot({ root: tempDir("spawns"), deny: [".ssh"] });
  const spawns = callSpawns(root, carriers, { target: { path: root.path, directory: true } });
  expect(() => spawns.rules.adapt({ command: "rg", args: ["pattern", "."], options: {} })).toThrow("cannot be confined");
  expect(spawns.searchWasConfined()).toBe(false);
});
