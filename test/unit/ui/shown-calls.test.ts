import { expect, test } from "vitest";
import type { TimelineCall } from "../../../shared/desk.ts";
import { NO_OUTPUT } from "../../../shared/bounded-output.ts";
import { hasSeveralClients, hiddenNote, shownCalls } from "../../../ui/shown-calls.ts";

function call(state: TimelineCall["state"], client = "“Claude”"): TimelineCall {
  return { callId: state, tool: "bash", summary: "x", client, startedAt: 0, state, durationMs: null, output: NO_OUTPUT };
}

const EVERY = [call("ok"), call("failed"), call("running"), call("cancelled")];

test("[UI62] failed only leaves the failed calls and says how many it hides", () => {
  const shown = shownCalls(EVERY, "failed");
  expect(shown.calls.map(({ state }) => state)).toEqual(["failed"]);
  expect(hiddenNote(shown)).toBe("3 other calls are hidden.");
  expect(hiddenNote(shownCalls(EVERY.slice(0, 2), "failed"))).toBe("1 other call is hidden.");
  expect(hiddenNote(shownCalls([call("ok")], "failed"))).toBe("1 call is hidden.");
  expect(hiddenNote(shownCalls(EVERY, "all"))).toBeUndefined();
});

test("[UI60] clients are told apart once there is more than one", () => {
  expect(hasSeveralClients([])).toBe(false);
  expect(hasSeveralClients(EVERY)).toBe(false);
  expect(hasSeveralClients([...EVERY, call("ok", "your token")])).toBe(true);
});
