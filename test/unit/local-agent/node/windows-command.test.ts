import { expect, test } from "vitest";
import { createProcessGroups } from "../../../../local-agent/node/process-groups.ts";
import { runProgram } from "../../../../local-agent/node/run-program.ts";
import { systemTimers } from "../../../../local-agent/node/system-time.ts";
import { nameableEnvironment, upstreamEnvironment } from "../../../../local-agent/node/upstream-environment.ts";
import { windowsStart } from "../../../../local-agent/node/windows-command.ts";
import { expandPlaceholders } from "../../../../local-agent/adapter/config/expansion.ts";

const Path = 'C:\\Program Files\\nodejs;.;bin;;\\tools;C:;C:tools;"D:\\my tools";\\\\host\\share';

/** A disk on which nothing differs by case. */
function started(command: string, files: readonly string[], env: Record<string, string> = { Path }, shell = false) {
  const there = new Set(files.map((file) => file.toLowerCase()));
  return windowsStart({ command, shell }, { env, isFile: (path) => there.has(path.toLowerCase()) })?.command ?? null;
}

test.each([
  ["a program", "node", "C:\\Program Files\\nodejs\\node.EXE"],
  ["a batch file", "npx", "C:\\Program Files\\nodejs\\npx.CMD"],
  ["its whole name", "npx.cmd", "C:\\Program Files\\nodejs\\npx.cmd"],
  ["a name with a dot", "my.tool", "C:\\Program Files\\nodejs\\my.tool.EXE"],
  ["a directory in quotes", "uvx", "D:\\my tools\\uvx.EXE"],
  ["a share", "far", "\\\\host\\share\\far.EXE"],
])("[UT8] finds %s on the search path, whatever the case of its name", (_what, command, file) => {
  expect(started(command, [file])).toBe(file);
  expect(started(command, [file], { PATH: Path })).toBe(file);
});

test("[UT8] never looks into the working directory, however the search path names it", () => {
  const planted = ["npx.cmd", "npx.exe", ".\\npx.cmd", "bin\\npx.cmd", "\\tools\\npx.cmd", "C:npx.cmd", "C:tools\\npx.cmd", "C:.\\npx.cmd"];
  expect(started("npx", planted)).toBeNull();
  expect(started("npx", planted, {})).toBeNull();
});

test("[UT8] takes the first directory, in it the first ending, and no file that needs a program of its own", () => {
  const all = ["D:\\my tools\\npx.exe", "C:\\Program Files\\nodejs\\npx.cmd", "C:\\Program Files\\nodejs\\npx.bat", "C:\\Program Files\\nodejs\\npx"];
  expect(started("npx", all)).toBe("C:\\Program Files\\nodejs\\npx.BAT");
  expect(started("npx", all, { Path, PathExt: ".CMD;.BAT" })).toBe("C:\\Program Files\\nodejs\\npx.CMD");
  const script = "C:\\Program Files\\nodejs\\tool.js";
  expect([started("tool", [script], { Path, PATHEXT: ".JS;.EXE" }), started("tool.js", [script], { Path, PATHEXT: ".JS" })]).toEqual([null, null]);
});

test.each(["C:\\bin\\npx.cmd", ".\\npx", "./npx", "bin/npx", "\\\\host\\share\\npx.exe"])("[UT8] leaves the path %s as it is", (path) => {
  expect(started(path, [])).toBe(path);
});

test("[UT8] tells every shell not to look there", () => {
  const told = { env: { A: "1", NoDefaultCurrentDirectoryInExePath: "1" } };
  const place = { env: { A: "1" }, isFile: () => true };
  expect(windowsStart({ command: "print token", shell: true }, place)).toEqual({ command: "print token", ...told });
  expect(windowsStart({ command: "C:\\npx.cmd", shell: false }, place)).toMatchObject(told);
});

test("[UT8] [UT2] what is not found is not started, and said to be missing", async () => {
  const groups = createProcessGroups(systemTimers, "win32");
  const { signal } = new AbortController();
  const run = { command: "npx", args: [], env: { Path: "C:\\nowhere" }, cwd: import.meta.dirname, timeoutMs: 10_000, maxBytes: 1024, signal };
  expect(await runProgram(run, { groups, timers: systemTimers })).toEqual({ ok: false, error: "was not found" });
});

test("[UT11] on Windows a variable is named in any case, and is there once", () => {
  const given = { Path: "C:\\bin", Key: "k", PI_AS_MCP_TOKEN: "t" };
  const text = "${PATH} ${path} $env:KEY {env:pi_as_mcp_token}";
  const windows = nameableEnvironment(given, "win32");
  expect(expandPlaceholders(text, windows)).toEqual({ text: "C:\\bin C:\\bin k ", missing: ["pi_as_mcp_token"] });
  expect(upstreamEnvironment(windows, "whole", "win32")).toEqual({ Path: "C:\\bin", Key: "k" });
  expect(expandPlaceholders(text, nameableEnvironment(given, "linux")).text).toBe("   ");
});
