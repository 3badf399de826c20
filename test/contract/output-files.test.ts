import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { silentLog } from "../../local-agent/node/log-sinks.ts";
import { createOutputFiles } from "../../local-agent/node/output-files.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { memoryOutputFiles } from "../support/memory-output-files.ts";
import { tempDir } from "../support/temp-dir.ts";
import { describeOutputFiles } from "./output-files.contract.ts";

describe("files on disk", () => {
  describeOutputFiles(() => ({
    files: createOutputFiles({ directory: join(tempDir(), "kept"), timers: new ManualClock(), log: silentLog }),
    read: readPrivate,
  }));
});

describe("files in memory", () => {
  describeOutputFiles(() => {
    const files = memoryOutputFiles();
    return { files, read: (path) => files.read(path) };
  });
});

/** [CL25] */
function readPrivate(path: string): Buffer | null {
  if (!existsSync(path)) return null;
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(path, "..")).mode & 0o777).toBe(0o700);
  return readFileSync(path);
}
