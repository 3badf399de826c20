import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expandHome, expandPlaceholders, secretValue } from "../../../../local-agent/adapter/config/expansion.ts";

const env = { A: "1", EMPTY: "", NESTED: "${A}", MONEY: "$&$1" };

test.each<[string, string, readonly string[]]>([
  ["${A}-$env:A-{env:A}", "1-1-1", []],
  ["${MISSING}x$env:GONE", "x", ["MISSING", "GONE"]],
  ["${A:-2}${EMPTY:-2}${MISSING:-2}", "122", []],
  ["${MISSING:-}", "", []],
  ["${MISSING:-https://a/b?c=d}", "https://a/b?c=d", []],
  ["${NESTED}", "${A}", []],
  ["${MONEY}", "$&$1", []],
  ["${EMPTY}", "", []],
  ["$A ${A-1} ${} $env: ${A B}", "$A ${A-1} ${} $env: ${A B}", []],
])("[UC28] %s is %s", (text, expanded, missing) => {
  expect(expandPlaceholders(text, env)).toEqual({ text: expanded, missing });
});

test("[UC28] what a variable holds is never looked into again", () => {
  fc.assert(
    fc.property(fc.string(), (value) => {
      expect(expandPlaceholders("[${X}|$env:X|{env:X}]", { X: value }).text).toBe(`[${value}|${value}|${value}]`);
    }),
  );
});

test.each([
  ["~", "/home/me"],
  ["~/x", "/home/me/x"],
  ["~\\x", "/home/me\\x"],
  ["~other/x", "~other/x"],
  ["/~/x", "/~/x"],
])("[UC28] %s is the path %s", (path, expanded) => {
  expect(expandHome(path, "/home/me")).toBe(expanded);
});

describe("[UC28] a value that may be a command", () => {
  test.each([
    ["!pass show x", { kind: "command", command: "pass show x" }],
    ["!!x", { kind: "text", text: "!x" }],
    ["!!!x", { kind: "text", text: "!!x" }],
    ["x!y", { kind: "text", text: "x!y" }],
    ["", { kind: "text", text: "" }],
  ])("%j", (value, expected) => {
    expect(secretValue(value)).toEqual(expected);
  });
});

test("[UC28] what every object has is no variable", () => {
  for (const name of ["constructor", "toString", "__proto__"]) {
    expect(expandPlaceholders(`\${${name}}\${${name}:-x}$env:${name}`, {})).toEqual({ text: "x", missing: [name, name] });
  }
});
