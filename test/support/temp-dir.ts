import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A fresh directory (real path, 0700) that is removed when the test ends. */
export function tempDir(name = "pimcp"): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), `${name}-`)));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}
