import { expect, test } from "vitest";
import { explainKept, takeNpmCall } from "../../../../local-agent/cli/npm-call.ts";

const FLAGS = ["root", "port", "stdio", "no-oauth", "json", "dry-run"];
const NPMS_OWN = ["cache", "no-audit", "json", "user-agent"];

test.for<[string, readonly string[], readonly string[], string | null]>([
  ["start", [], ["--root", "x"], null],
  ["start", ["root"], ["../x"], "npm kept --root for itself: put -- in front, as in npm start -- --root ../x"],
  ["start", ["root"], ["a b"], 'npm kept --root for itself: put -- in front, as in npm start -- --root "a b"'],
  ["start", ["stdio"], [], "npm kept --stdio for itself: put -- in front, as in npm start -- --stdio"],
  ["start", ["no-oauth"], [], "npm kept --no-oauth for itself: put -- in front, as in npm start -- --no-oauth"],
  ["start", ["root", "port"], ["../x", "9"], "npm kept --root and --port for itself: put -- in front, as in npm start -- --root --port …"],
  ["deploy", ["dry-run"], [], "npm kept --dry-run for itself: put -- in front, as in npm run deploy -- --dry-run"],
])("[ST30] npm %s that kept %o and left %o", ([script, kept, argv, sentence]) => {
  expect(explainKept({ script, kept: [...NPMS_OWN, ...kept] }, FLAGS, argv)).toBe(sentence);
});

test("[ST30] what is known of npm is taken off the environment", () => {
  const env = { PIMCP_NPM: '{"script":"start","kept":["root"]}', A: "1" };
  expect(takeNpmCall(env)).toEqual({ script: "start", kept: ["root"] });
  expect(env).toEqual({ A: "1" });
  expect(takeNpmCall(env)).toBeNull();
});
