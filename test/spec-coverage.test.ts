import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

/** Holds docs/spec against the tests: a rule nobody proves and a number nobody stated are both errors. */
describe("the numbered rules of docs/spec", () => {
  const stated = readAll("docs/spec", ".md").flatMap(statedRules);
  const cited = [".test.ts", ".contract.ts"].flatMap((suffix) => readAll("test", suffix)).flatMap(citedRules);

  test("are each stated once", () => {
    expect(stated.filter((rule, index) => stated.indexOf(rule) !== index)).toEqual([]);
  });

  test("are each cited by the title of a test, and no other number is", () => {
    expect(compare(stated, cited)).toEqual({ statedButNotCited: [], citedButNotStated: [] });
  });
});

describe("the comparison", () => {
  const document = ["- **CF1** One thing.", "- **CF2** Another.", "As **CF9** says, or `- **CF8**`."].join("\n");
  /** Written in two halves, so that these examples are no citations themselves. */
  const titled = (call: string, title: string) => `${call}("${title}", () => {});`;

  test("reads rules at the beginning of a list item only", () => {
    expect(statedRules(document)).toEqual(["CF1", "CF2"]);
  });

  test.each([
    ["a test", titled("test", "[CF1] holds"), ["CF1"]],
    ["two numbers", titled("it", "[CF1] [CF2] holds"), ["CF1", "CF2"]],
    ["a group", titled("describe", "[CF1]"), ["CF1"]],
    ["a title on its own line", `test(\n  "[CF1] holds",`, ["CF1"]],
    ["a table", `test.each([1, 2])("[CF1] holds for %d",`, ["CF1"]],
    ["a condition", `test.skipIf(process.platform === "win32")("[CF1] holds",`, ["CF1"]],
    ["a test that is not run", titled("test.skip", "[CF1] holds"), []],
    ["a test to be written", `test.todo("[CF1] holds")`, []],
    ["a comment", "// [CF1] holds", []],
    ["another string", `const rule = "[CF1]";`, []],
    ["a test in a comment", `  // ${titled("test", "[CF1] holds")}`, []],
  ])("reads %s", (_what, source, expected) => {
    expect(citedRules(source)).toEqual(expected);
  });

  test("names a rule that no title cites", () => {
    expect(compare(["CF1", "CF2"], ["CF1", "CF1"])).toEqual({ statedButNotCited: ["CF2"], citedButNotStated: [] });
  });

  test("names a number that no page states", () => {
    expect(compare(["CF1"], ["CF1", "CF10"])).toEqual({ statedButNotCited: [], citedButNotStated: ["CF10"] });
  });
});

function statedRules(document: string): string[] {
  return [...document.matchAll(/^- \*\*([A-Z]{2}\d+)\*\* /gm)].map(([, rule]) => rule ?? "");
}

/** Numbers in square brackets in the titles of tests and groups that run. */
function citedRules(source: string): string[] {
  const code = source.replace(/^\s*\/\/.*$/gm, "");
  const titles = code.matchAll(/(?:\b(?:test|it|describe)(?:\.(?:only|concurrent|sequential|fails))?\(|\)\()\s*(["'`])((?:\\.|(?!\1)[^\n])*)\1/g);
  return [...titles].flatMap(([, , title]) => [...(title ?? "").matchAll(/\[([A-Z]{2}\d+)\]/g)].map(([, rule]) => rule ?? ""));
}

function compare(stated: readonly string[], cited: readonly string[]) {
  return {
    statedButNotCited: stated.filter((rule) => !cited.includes(rule)).toSorted(),
    citedButNotStated: [...new Set(cited)].filter((rule) => !stated.includes(rule)).toSorted(),
  };
}

function readAll(folder: string, suffix: string): string[] {
  const root = join(import.meta.dirname, "..", folder);
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(suffix) && !name.includes("node_modules") && name !== "spec-coverage.test.ts")
    .map((name) => readFileSync(join(root, name), "utf8"));
}
