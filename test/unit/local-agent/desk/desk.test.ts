import { expect, test } from "vitest";
import type { DecisionOutcome } from "../../../../shared/authorization.ts";
import { outputChars } from "../../../../shared/bounded-output.ts";
import type { DeskEvent } from "../../../../shared/desk.ts";
import type { Timers } from "../../../../shared/ports.ts";
import type { Desk } from "../../../../local-agent/desk/desk.ts";
import { askFor } from "../../../support/approvals-under-test.ts";
import { deskUnderTest, exampleAuthorization, UNGUARDED } from "../../../support/desk-under-test.ts";

function start(desk: Desk, callId: string, at = 1_000): void {
  desk.callStarted({ callId, tool: "bash", args: { command: `echo ${callId}` }, client: "Claude", principalId: "grant:1", at });
}

function finish(desk: Desk, callId: string, text: string, state: "ok" | "failed" | "cancelled" = "ok"): void {
  desk.callFinished({ callId, outcome: { content: [{ type: "text", text }], isError: state !== "ok" }, at: 1_042, state });
}

test("a call goes from running to its end, with its duration", () => {
  const { desk } = deskUnderTest();
  const events: DeskEvent[] = [];
  desk.subscribe((event) => events.push(event));
  start(desk, "a");
  desk.callProgressed({ callId: "a", delta: "hi" });
  finish(desk, "a", "hi\n");
  expect(events.map((event) => event.t)).toEqual(["call", "output", "call"]);
  expect(desk.snapshot().timeline).toMatchObject([
    { callId: "a", tool: "bash", summary: "echo a", state: "ok", durationMs: 42, output: { head: "hi\n" } },
  ]);
});

test("[UI70] a client's name stands in quotes, the person's own token does not, but for the name they gave it", () => {
  const { desk } = deskUnderTest();
  for (const [callId, client, principalId] of [
    ["a", "static token", "token:0123"],
    ["b", "your token", "grant:1"],
    ["c", "Claude\n", "grant:2"],
    ["d", "LM Studio", "token:4567"],
  ] as const) {
    desk.callStarted({ callId, tool: "ls", args: {}, client, principalId, at: 1 });
  }
  expect(desk.snapshot().timeline.map((call) => call.client)).toEqual(["your token", "“your token”", "“Claude⏎”", "your token “LM Studio”"]);
});

test("[UI28] drops output that arrives after the end of its call", () => {
  const { desk } = deskUnderTest();
  start(desk, "a");
  finish(desk, "a", "done", "failed");
  desk.callProgressed({ callId: "a", delta: "late" });
  finish(desk, "a", "again");
  desk.callProgressed({ callId: "unknown", delta: "x" });
  expect(desk.snapshot().timeline).toMatchObject([{ state: "failed", output: { head: "done", tail: "" } }]);
});

test("[UI28] replaces streamed output by the result, but keeps it for a cancelled call", () => {
  const { desk } = deskUnderTest();
  for (const callId of ["a", "b"]) {
    start(desk, callId);
    desk.callProgressed({ callId, delta: "streamed" });
  }
  finish(desk, "a", "result");
  finish(desk, "b", "Cancelled.", "cancelled");
  expect(desk.snapshot().timeline.map((call) => call.output.head)).toEqual(["result", "streamed\nCancelled."]);
});

test("[UI24] keeps only the newest calls", () => {
  const { desk } = deskUnderTest({ maxCalls: 3 });
  for (const callId of ["a", "b", "c", "d", "e"]) start(desk, callId);
  expect(desk.snapshot().timeline.map((call) => call.callId)).toEqual(["c", "d", "e"]);
});

test("[UI24] the oldest calls give up their output when all of it is too large", () => {
  const { desk } = deskUnderTest({ maxTotalChars: 25_000 });
  for (const callId of ["a", "b", "c"]) {
    start(desk, callId);
    finish(desk, callId, callId.repeat(10_000));
  }
  const outputs = desk.snapshot().timeline.map((call) => call.output);
  expect(outputs[0]).toEqual({ head: "", tail: "", omittedChars: 10_000 });
  expect(outputs.slice(1).map(outputChars)).toEqual([10_000, 10_000]);
});

test("an image result is named, not carried", () => {
  const { desk } = deskUnderTest();
  start(desk, "a");
  desk.callFinished({
    callId: "a",
    outcome: { content: [{ type: "image", data: "A".repeat(4_096), mimeType: "image/png" }], isError: false },
    at: 2_000,
    state: "ok",
  });
  expect(desk.snapshot().timeline[0]?.output.head).toBe("[image/png, 3 KiB]");
});

test("[UI20] asks the relay once for two decisions made at the same time", async () => {
  const answer = Promise.withResolvers<DecisionOutcome>();
  const { desk, decisions } = deskUnderTest({ decide: () => answer.promise });
  desk.setAuthorizations([exampleAuthorization()]);
  const first = desk.decide({ id: "authorization-1", allow: true, code: "KITE-42" });
  const second = desk.decide({ id: "authorization-1", allow: true, code: "KITE-42" });
  answer.resolve({ outcome: "allowed" });
  expect(await Promise.all([first, second])).toEqual([{ outcome: "allowed" }, { outcome: "gone" }]);
  expect(await desk.decide({ id: "authorization-1", allow: false })).toEqual({ outcome: "gone" });
  expect(decisions).toHaveLength(1);
});

test("[UI21] never asks the relay about an authorization that does not wait", async () => {
  const { desk, decisions } = deskUnderTest();
  expect(await desk.decide({ id: "unknown", allow: true })).toEqual({ outcome: "gone" });
  expect(decisions).toEqual([]);
});

test("[UI22] a decision the relay does not answer in time fails and can be made again", async () => {
  const scheduled: (() => void)[] = [];
  const timers: Timers = {
    after(_delayMs, run) {
      scheduled.push(run);
      return () => {};
    },
  };
  const answers = [new Promise<DecisionOutcome>(() => {}), Promise.resolve<DecisionOutcome>({ outcome: "denied" })];
  const { desk } = deskUnderTest({ timers, decide: () => answers.shift()! });
  desk.setAuthorizations([exampleAuthorization()]);
  const unanswered = desk.decide({ id: "authorization-1", allow: true, code: "X" });
  scheduled[0]?.();
  await expect(unanswered).rejects.toThrow(/did not answer within 20 s.*decide again/);
  expect(desk.snapshot().authorizations).toHaveLength(1);
  expect(await desk.decide({ id: "authorization-1", allow: false })).toEqual({ outcome: "denied" });
});

test("[UI22] a decision that cannot be sent fails with a sentence", async () => {
  const { desk } = deskUnderTest({ decide: () => Promise.reject(new Error("socket closed")) });
  desk.setAuthorizations([exampleAuthorization()]);
  await expect(desk.decide({ id: "authorization-1", allow: true })).rejects.toThrow(/could not be reached/);
});

test("[UI23] a list sent before a decision does not bring its card back", async () => {
  const { desk } = deskUnderTest();
  const events: DeskEvent[] = [];
  desk.setAuthorizations([exampleAuthorization(), exampleAuthorization({ id: "authorization-2" })]);
  desk.subscribe((event) => events.push(event));
  await desk.decide({ id: "authorization-1", allow: false });
  desk.setAuthorizations([exampleAuthorization(), exampleAuthorization({ id: "authorization-2" })]);
  expect(desk.snapshot().authorizations.map(({ id }) => id)).toEqual(["authorization-2"]);
  expect(events[0]).toEqual({ t: "decided", id: "authorization-1", outcome: "denied" });
});

test("[HU85] a link that is not open withdraws the cards and refuses further ones, until it is open again", async () => {
  const { desk } = deskUnderTest({ approvals: { ...UNGUARDED, guarded: ["bash"] } });
  desk.setLink({ at: "open", since: 1 });
  const ends: string[] = [];
  desk.subscribe((event) => event.t === "approval_over" && void ends.push(event.end));
  const { answer } = askFor(desk.cards.approvals, "ls");
  expect(desk.snapshot().approvals.map(({ text }) => text)).toEqual(["ls"]);
  desk.setLink({ at: "waiting", since: 2, retryAt: 3, reason: "The network is away." });
  expect(await answer).toMatchObject({ allowed: false });
  expect(ends).toEqual(["withdrawn"]);
  expect((await askFor(desk.cards.approvals, "ls").answer).allowed).toBe(false);
  desk.setLink({ at: "open", since: 4 });
  void askFor(desk.cards.approvals, "pwd");
  await Promise.resolve();
  expect(desk.snapshot().approvals.map(({ text }) => text)).toEqual(["pwd"]);
});
