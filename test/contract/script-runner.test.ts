import { describe } from "vitest";
import { createScriptRunner } from "../../local-agent/node/script-worker.ts";
import { describeScriptRunner } from "./script-runner.contract.ts";

describe("in a process", () => {
  describeScriptRunner((options) => createScriptRunner({ place: "process", ...options }));
});
describe("in a thread", () => {
  describeScriptRunner((options) => createScriptRunner({ place: "thread", ...options }));
});
