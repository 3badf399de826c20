import { createHash } from "node:crypto";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openTrustedServers } from "../../../../local-agent/daemon/trusted-servers.ts";
import { tempDir } from "../../../support/temp-dir.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");

test("[TR3] the last five hundred that were allowed stay so, however long their names are", async () => {
  const dir = tempDir();
  const file = join(dir, "trusted-servers.json");
  const trusted = Array.from({ length: 500 }, (_, index) => ({ entrySha256: hash(`${index}`), server: "\u0001".repeat(200) }));
  writeFileSync(file, JSON.stringify({ version: 1, trusted }, null, 2), { mode: 0o600 });
  const memory = openTrustedServers(dir);
  expect(memory.has(hash("0"))).toBe(true);
  await memory.add({ entrySha256: hash("one more"), server: "\u0001".repeat(1_000_000) });
  expect(["0", "1", "499", "one more"].map((name) => memory.has(hash(name)))).toEqual([false, true, true, true]);
  expect(readFileSync(file, "utf8").length).toBeLessThan(1024 * 1024);
});

test("[TR3] a file that makes no sense trusts nothing", () => {
  const dir = tempDir();
  for (const text of ["", "{", "[]", '{"version":2,"trusted":[]}', '{"version":1,"trusted":{}}', '{"version":1,"trusted":[5,{"server":"a"}]}']) {
    writeFileSync(join(dir, "trusted-servers.json"), text, { mode: 0o600 });
    expect(openTrustedServers(dir).has(hash("a"))).toBe(false);
  }
});

test("[TR3] [TR6] a file that others may write trusts nothing, and keeping a decision says what is wrong with it", async () => {
  const dir = tempDir();
  const file = join(dir, "trusted-servers.json");
  writeFileSync(file, JSON.stringify({ version: 1, trusted: [{ entrySha256: hash("a"), server: "a" }] }), { mode: 0o600 });
  const memory = openTrustedServers(dir);
  expect(memory.has(hash("a"))).toBe(true);
  chmodSync(file, 0o666);
  expect(memory.has(hash("a"))).toBe(false);
  await expect(memory.add({ entrySha256: hash("b"), server: "b" })).rejects.toThrow(file);
});
