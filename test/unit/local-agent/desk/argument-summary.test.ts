import { expect, test } from "vitest";
import type { JsonObject } from "../../../../shared/json.ts";
import { MAX_SUMMARY_CHARS, summariseArguments } from "../../../../local-agent/desk/argument-summary.ts";

const EXAMPLES: readonly (readonly [string, JsonObject, string])[] = [
  ["bash", { command: "echo hi" }, "echo hi"],
  ["bash", { command: "cd a\nmake" }, "cd a⏎make"],
  ["powershell", { command: "Get-ChildItem" }, "Get-ChildItem"],
  ["read", { path: "src/a.ts" }, "src/a.ts"],
  ["read", { path: "src/a.ts", offset: 10 }, "src/a.ts:10"],
  ["read", { path: "src/a.ts", offset: 10, limit: 5 }, "src/a.ts:10–14"],
  ["read", { path: "src/a.ts", limit: 5 }, "src/a.ts:1–5"],
  ["write", { path: "b.txt", content: "one\ntwo\n" }, "b.txt · 2 lines"],
  ["write", { path: "b.txt", content: "" }, "b.txt · 0 lines"],
  ["edit", { path: "b.txt", edits: [{}, {}] }, "b.txt · 2 edits"],
  ["edit", { path: "b.txt", oldText: "a", newText: "b" }, "b.txt · 1 edit"],
  ["ls", {}, "."],
  ["grep", { pattern: "TODO", path: "src", glob: "*.ts" }, "TODO in src (*.ts)"],
  ["find", { pattern: "*.md" }, "*.md in ."],
  ["mystery", { a: 1, b: "two", c: [1, 2], d: { e: 1 }, f: null }, "a=1 b=two c=[2] d={…} f=null"],
];

test.each(EXAMPLES)("[UI26] summarises %s %j as one line", (tool, args, expected) => {
  expect(summariseArguments(tool, args)).toBe(expected);
});

test.each([
  ["bash", { command: 7 }],
  ["read", { path: null }],
  ["write", {}],
  ["edit", { path: ["a"] }],
  ["grep", { pattern: {} }],
  ["constructor", {}],
  ["__proto__", { __proto__: null }],
])("[UI26] summarises odd arguments of %s without failing", (tool, args) => {
  expect(summariseArguments(tool, args as JsonObject)).toBeTypeOf("string");
});

test("[UI26] bounds the summary of huge arguments", () => {
  expect(summariseArguments("bash", { command: "x".repeat(4_000_000) })).toHaveLength(MAX_SUMMARY_CHARS);
  expect(summariseArguments("other", { text: "😀".repeat(1_000_000) }).length).toBeLessThanOrEqual(MAX_SUMMARY_CHARS);
});

test("[UI27] writes out hidden characters of a command", () => {
  expect(summariseArguments("bash", { command: "rm \u202etxt.exe\u200b \u001b[2J" })).toBe("rm ‹U+202E›txt.exe‹U+200B› ␛[2J");
});
