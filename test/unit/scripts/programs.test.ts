import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { entryOf, npmCommand, pinnedNode } from "../../../scripts/run/programs.mjs";
import { tempDir } from "../../support/temp-dir.ts";

const root = join(import.meta.dirname, "../../..");

test.for<[string, string]>([
  ["tsc", "typescript"],
  ["vitest", "vitest"],
  ["oxlint", "oxlint"],
  ["oxfmt", "oxfmt"],
  ["knip", "knip"],
  ["wrangler", "wrangler"],
])("[ST30] %s of %s is a file that Node runs, on every platform", ([program, packageName]) => {
  const entry = entryOf(root, program, packageName);
  expect(entry.startsWith(join(root, "node_modules", packageName))).toBe(true);
  expect(existsSync(entry)).toBe(true);
});

test("[ST35] a program that is not installed is one sentence", () => {
  expect(() => entryOf(tempDir(), "tsc", "typescript")).toThrow("typescript is not installed: run npm ci.");
});

const NODE = "C:\\Program Files\\nodejs\\node.exe";
const BESIDE_NODE = "C:\\Program Files\\nodejs\\node_modules\\npm\\bin\\npm-cli.js";
const ON_PATH = "D:\\npm\\node_modules\\npm\\bin\\npm-cli.js";
const only = (place: string) => (path: string) => path === place;

test.for<[string, Parameters<typeof npmCommand>[0], string[]]>([
  [
    "the npm that started this",
    { env: { npm_execpath: "/x/npm-cli.js" }, node: "/n", platform: "linux", exists: () => true },
    ["/n", "/x/npm-cli.js"],
  ],
  ["not another package manager", { env: { npm_execpath: "/x/yarn.js" }, node: "/n", platform: "linux", exists: () => true }, ["npm"]],
  ["on Windows the one beside Node", { env: {}, node: NODE, platform: "win32", exists: only(BESIDE_NODE) }, [NODE, BESIDE_NODE]],
  ["on Windows the one on the PATH", { env: { PATH: "C:\\x;;D:\\npm" }, node: NODE, platform: "win32", exists: only(ON_PATH) }, [NODE, ON_PATH]],
])("[ST31] dependencies are installed by %s", ([, from, command]) => {
  expect(npmCommand(from)).toEqual(command);
});

test("[ST30] the pinned Node is named by its path", () => {
  expect(pinnedNode("/c", "linux")).toBe("/c/node_modules/.bin/node");
  expect(pinnedNode("/c", "win32")).toBe("/c/node_modules/node/bin/node.exe");
});
