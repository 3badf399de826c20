import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { preparePrivateDirectory, readOrMint, readPrivateFile, writePrivateFile } from "../../../../local-agent/daemon/config-dir.ts";
import { findDirectories } from "../../../../local-agent/node/state-directories.ts";
import { tempDir } from "../../../support/temp-dir.ts";

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

test("[ST10] settings and state live below the XDG directories; a relative variable is ignored", () => {
  expect(findDirectories({ XDG_CONFIG_HOME: "/c", XDG_STATE_HOME: "/s" }, "/home/p")).toEqual({ config: "/c/pimcp", state: "/s/pimcp" });
  expect(findDirectories({ XDG_CONFIG_HOME: "c" }, "/home/p")).toEqual({ config: "/home/p/.config/pimcp", state: "/home/p/.local/state/pimcp" });
});

test("[ST11] directories are private, also one that was open before", () => {
  const dir = join(tempDir(), "a", "pimcp");
  expect(modeOf(preparePrivateDirectory(dir))).toBe("700");
  chmodSync(dir, 0o755);
  expect(modeOf(preparePrivateDirectory(dir))).toBe("700");
});

test("[ST11] a directory that cannot be made is one sentence", () => {
  const file = join(tempDir(), "file");
  writeFileSync(file, "");
  expect(() => preparePrivateDirectory(join(file, "pimcp"))).toThrow(/^Cannot use the directory .*ENOTDIR.*XDG_CONFIG_HOME/);
});

test("[ST11] files are 0600 and replaced whole", () => {
  const path = join(tempDir(), "token");
  writePrivateFile(path, "one");
  writePrivateFile(path, "two");
  expect([modeOf(path), readPrivateFile(path)]).toEqual(["600", "two"]);
});

test.for([0o640, 0o604, 0o644])("[ST12] a key file with mode %o is refused with the command that closes it", (mode) => {
  const path = join(tempDir(), "key");
  writeFileSync(path, "secret");
  chmodSync(path, mode);
  expect(() => readPrivateFile(path)).toThrow(`${path} can be read by other accounts: run chmod 600 ${path}`);
});

test("[ST12] a directory or an endless file in place of a key is refused", () => {
  const dir = tempDir();
  mkdirSync(join(dir, "key"));
  expect(() => readPrivateFile(join(dir, "key"))).toThrow("is not a regular file");
  writeFileSync(join(dir, "big"), "x".repeat(70_000), { mode: 0o600 });
  expect(() => readPrivateFile(join(dir, "big"))).toThrow("too long for a secret");
});

test("[ST13] a secret is minted once and kept; an empty file does not count", () => {
  const dir = tempDir();
  const first = readOrMint(join(dir, "token"));
  expect(first).toMatch(/^[\w-]{43}$/);
  expect(readOrMint(join(dir, "token"))).toBe(first);
  writeFileSync(join(dir, "empty"), "", { mode: 0o600 });
  expect(readOrMint(join(dir, "empty"), () => "minted")).toBe("minted");
  expect(readdirSync(dir).toSorted()).toEqual(["empty", "token"]);
});

test("[ST13] of two starts at the same moment the later one takes the secret of the first", () => {
  const path = join(tempDir(), "token");
  const late = readOrMint(path, () => {
    writePrivateFile(path, "from the other start");
    return "mine";
  });
  expect(late).toBe("from the other start");
});
