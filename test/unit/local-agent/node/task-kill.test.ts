import { expect, test } from "vitest";
import { taskKill } from "../../../../local-agent/node/task-kill.ts";

test("[UT8] a tree of processes is ended by the system's own program, never by one of its name in the working directory", () => {
  const args = ["/F", "/T", "/PID", "42"];
  expect(taskKill(42, { SystemRoot: "D:\\Win" })).toEqual({ file: "D:\\Win\\System32\\taskkill.exe", args });
  expect(taskKill(42, {})).toEqual({ file: "C:\\Windows\\System32\\taskkill.exe", args });
});
