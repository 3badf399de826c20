import { describe, expect, test } from "vitest";
import type { Sampler } from "../../local-agent/adapter/ports.ts";
import { createAttachedAsks } from "../../local-agent/daemon/attached-asks.ts";
import { attachedSampler } from "../../local-agent/daemon/upstream-answers.ts";
import { createPiSampler } from "../../local-agent/pi/pi-sampler.ts";
import { REMOTE } from "../support/pool-under-test.ts";
import { NO_FORMS } from "../support/scripted-forms.ts";
import { type ScriptedPi, scriptedPiHost } from "../support/scripted-pi-host.ts";
import { NO_MODEL, scriptedSampler } from "../support/scripted-sampler.ts";
import { ANSWER, describeSampler } from "./sampler.contract.ts";

describe.each([
  ["leave given once and for all", true],
  ["the person's leave each time", false],
])("Pi's models, with %s", (_what, autoApprove) => {
  describeSampler((scene) => ({
    sampler: samplerOf({ isAlone: scene === "unavailable" }, { sampling: scene === "available" ? null : false, autoApprove }),
    caller: { kind: "pi" },
  }));
});

test("[PI40] a session that Pi has replaced has no model to offer", async () => {
  const sampler = samplerOf({ isReplaced: true }, { sampling: null, autoApprove: false });
  expect(sampler.available).toBe(false);
  const question = {
    server: "asking",
    params: { messages: [], maxTokens: 1 },
    signal: new AbortController().signal,
  };
  await expect(sampler.sample({ ...question, caller: { kind: "pi" } })).rejects.toThrow("not available here");
});

describe("the models of sessions that use an agent's servers", () => {
  describeSampler((scene) => {
    const asks = createAttachedAsks();
    if (scene === "unavailable") return { sampler: attachedSampler(asks), caller: REMOTE };
    asks.add({ form: false, url: false, sampling: true });
    return { sampler: attachedSampler(asks), caller: { kind: "attached", forms: NO_FORMS, sampler: scriptedSampler(ANSWER) } };
  });
});

describe("a test's own", () => {
  describeSampler((scene) => ({ sampler: scene === "available" ? scriptedSampler(ANSWER) : NO_MODEL, caller: REMOTE }));
});

function samplerOf(pi: ScriptedPi, rules: { readonly sampling: boolean | null; readonly autoApprove: boolean }): Sampler {
  const model = { provider: "played", id: "model-1", name: "A model" };
  const complete = (_model: object, _prompt: object, { signal }: { readonly signal: AbortSignal }) =>
    Promise.resolve({ stopReason: signal.aborted ? "aborted" : "stop", content: [{ type: "text", text: ANSWER }] });
  const context = { model, modelRegistry: { getAvailable: () => [model], complete } };
  return createPiSampler(scriptedPiHost({ ...pi, picks: (_title, lines) => lines[1], context }), () => rules);
}
