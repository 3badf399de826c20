import { expect, test } from "vitest";
import { isWindowsInside, windowsObjection } from "../../../../local-agent/tools/windows-paths.ts";

const root = "C:\\w\\app";

test.each([
  "\\\\server\\share\\x",
  "//server/share/x",
  "\\\\?\\C:\\w\\app\\x",
  "\\\\.\\PhysicalDrive0",
  "\\??\\C:\\w",
  "//?/C:/w/app/x",
  "C:rel.txt",
  "D:",
  "c:..\\x",
  "C:\\w\\app\\file.txt:stream",
  "file.txt::$DATA",
  ".ssh::$INDEX_ALLOCATION\\id",
  "NUL",
  "nul.txt",
  "sub\\COM1.txt",
  "COM¹",
  "LPT9",
  "aux .c",
  "CONIN$",
  ".ssh.",
  ".ssh ",
  "dir.\\x",
  "a\u0001b",
  "what?.txt",
])("[CF16] objects to %j", (path) => {
  expect(windowsObjection(path, root)).toBeTypeOf("string");
});

test.each([
  "src\\a.ts",
  "src/a.ts",
  "C:\\w\\app\\x",
  "c:/W/APP/x",
  ".",
  "..\\x",
  ".ssh\\id",
  "console.log",
  "com10.txt",
  "nullable.ts",
  "PROGRA~1\\x",
  "",
])("[CF16] leaves %j to the real path", (path) => {
  expect(windowsObjection(path, root)).toBeUndefined();
});

test("[CF16] a root on a share keeps its own paths", () => {
  expect(windowsObjection("\\\\nas\\code\\app\\x.ts", "\\\\nas\\code\\app")).toBeUndefined();
  expect(windowsObjection("\\\\nas\\code\\app\\x.ts:s", "\\\\nas\\code\\app")).toContain("stream");
  expect(windowsObjection("\\\\nas\\code\\other\\x.ts", "\\\\nas\\code\\app")).toContain("share");
});

test("[CF16] inside means whole components, without case", () => {
  expect(isWindowsInside(root, "c:\\W\\APP\\x")).toBe(true);
  expect(isWindowsInside(root, "C:\\w\\app")).toBe(true);
  expect(isWindowsInside(root, "C:\\w\\app-evil\\x")).toBe(false);
  expect(isWindowsInside(root, "C:\\w")).toBe(false);
  expect(isWindowsInside(root, "D:\\w\\app\\x")).toBe(false);
  expect(isWindowsInside(root, "C:\\w\\app\\..x")).toBe(true);
});
