import type { ChildProcess } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createProcessGroups, type ProcessGroups } from "../../../local-agent/node/process-groups.ts";
import { runProgram } from "../../../local-agent/node/run-program.ts";
import { systemTimers } from "../../../local-agent/node/system-time.ts";
import { tempDir } from "../../support/temp-dir.ts";

test("[UT14] what left the group and holds the output makes no finished command late, and keeps nothing open", async () => {
  const cwd = tempDir();
  writeFileSync(
    join(cwd, "leaves.mjs"),
    `import { spawn } from "node:child_process";
     import { writeFileSync } from "node:fs";
     const stays = spawn(process.execPath, ["-e", "setTimeout(() => {}, 60_000)"], { detached: true, stdio: ["ignore", "inherit", "ignore"] });
     writeFileSync("pid", String(stays.pid));
     stays.unref();
     process.stdout.write("the value");`,
  );
  onTestFinished(() => void process.kill(Number(readFileSync(join(cwd, "pid"), "utf8")), "SIGKILL"));
  const real = createProcessGroups(systemTimers);
  const children: ChildProcess[] = [];
  const groups: ProcessGroups = {
    start(...program) {
      const owned = real.start(...program);
      children.push(owned.child);
      return owned;
    },
  };
  const { signal } = new AbortController();
  const run = { command: process.execPath, args: ["leaves.mjs"], env: {}, cwd, timeoutMs: 10_000, maxBytes: 1024, signal };
  expect(await runProgram(run, { groups, timers: systemTimers })).toEqual({ ok: true, value: "the value" });
  expect(children.map(({ stdout }) => stdout?.destroyed)).toEqual([true]);
});
