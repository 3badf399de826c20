import { expect, test } from "vitest";
import { createRelayCalls } from "../../../../local-agent/daemon/relay-calls.ts";
import { createRelayHumanStore, OUTDATED_RELAY } from "../../../../local-agent/daemon/relay-human-store.ts";
import { StoreUnreachable, type HumanNews } from "../../../../shared/human/store.ts";
import type { Timers } from "../../../../shared/ports.ts";
import type { CallFrame } from "../../../../shared/wire/frames.ts";

/** A link whose other end is the test: it sees each call and replies when it likes. */
function linked() {
  const sent: CallFrame[] = [];
  const due: (() => void)[] = [];
  const timers: Timers = {
    after(_ms, run) {
      due.push(run);
      return () => due.splice(due.indexOf(run), 1);
    },
  };
  const warnings: string[] = [];
  const heard: HumanNews[] = [];
  const store = createRelayHumanStore((message) => warnings.push(message));
  store.subscribe((news) => heard.push(news));
  let isUp = true;
  const calls = createRelayCalls({
    timers,
    send: (call) => isUp && sent.push(call) > 0,
    onPending: () => undefined,
    onGrantsChanged: () => undefined,
    human: store,
  });
  return {
    store,
    calls,
    sent,
    warnings,
    heard,
    /** Every timer that runs is over. */
    timeOut: () => [...due].forEach((run) => run()),
    cut() {
      isUp = false;
      calls.linkLost();
      store.linkLost();
    },
    timersLeft: () => due.length,
  };
}

const HISTORY = { entries: [], more: false };

test("[HU78] a call goes over the link that stands, and its checked result comes back", async () => {
  const { store, calls, sent, timersLeft } = linked();
  store.welcomed(calls);
  const asked = store.ask("human.history", { before: null });
  const [call] = sent;
  expect(call).toMatchObject({ t: "call", method: "human.history", params: { before: null } });
  calls.replied({ t: "reply", id: call?.id ?? "", ok: true, result: HISTORY });
  expect(await asked).toEqual(HISTORY);
  expect(timersLeft()).toBe(0);
});

test.for<[string, (link: ReturnType<typeof linked>) => void]>([
  ["the link falls", (link) => link.cut()],
  ["no answer comes in time", (link) => link.timeOut()],
])("[HU78] when %s, nothing is known to have been kept", async ([, happen]) => {
  const link = linked();
  link.store.welcomed(link.calls);
  const asked = link.store.ask("human.history", { before: null });
  happen(link);
  await expect(asked).rejects.toThrow(StoreUnreachable);
  expect(link.timersLeft()).toBe(0);
});

test("[HU78] before the first welcome and after a loss nothing is sent", async () => {
  const link = linked();
  await expect(link.store.ask("human.history", { before: null })).rejects.toThrow(/^The relay cannot be reached right now/);
  link.store.welcomed(link.calls);
  link.cut();
  await expect(link.store.ask("human.history", { before: null })).rejects.toThrow(StoreUnreachable);
  expect(link.sent).toEqual([]);
});

test("[HU78] every welcome and every loss is said once, and to whoever comes later", async () => {
  const link = linked();
  link.store.linkLost();
  link.store.welcomed(link.calls);
  link.cut();
  link.store.linkLost();
  link.store.welcomed(link.calls);
  expect(link.heard.map(({ t }) => t)).toEqual(["reachable", "unreachable", "reachable"]);
  const late: HumanNews[] = [];
  link.store.subscribe((news) => late.push(news));
  await Promise.resolve();
  expect(late).toEqual([{ t: "reachable" }]);
});

test("[HU78] news of the relay reach the conversation; what is none is refused", () => {
  const { calls, heard } = linked();
  const marks = [{ id: "0".repeat(32), state: "read", repeat: false }];
  expect(calls.called({ t: "call", id: "1", method: "human.marks", params: { marks } })).toMatchObject({ id: "1", ok: true });
  expect(calls.called({ t: "call", id: "2", method: "human.entries", params: { entries: [] } })).toMatchObject({ ok: true });
  expect(heard).toEqual([
    { t: "marks", marks },
    { t: "entries", entries: [] },
  ]);
  for (const [method, params] of [
    ["human.marks", { marks: [{ id: 1 }] }],
    ["human.entries", {}],
    ["human.else", {}],
  ] as const) {
    expect(calls.called({ t: "call", id: "3", method, params })).toMatchObject({ ok: false });
  }
});

test("[HU79] a relay from before there were conversations is said once, and asked again only after another welcome", async () => {
  const link = linked();
  link.store.welcomed(link.calls);
  const both = [link.store.ask("human.history", { before: null }), link.store.ask("human.history", { before: 1 })];
  for (const { id } of link.sent) {
    link.calls.replied({ t: "reply", id, ok: false, message: 'this relay knows no call "human.history": update it with "npm run deploy"' });
  }
  const outcomes = await Promise.allSettled(both);
  expect(outcomes.map((outcome) => (outcome.status === "rejected" ? String(outcome.reason) : "kept"))).toEqual(
    outcomes.map(() => `StoreUnreachable: ${OUTDATED_RELAY}`),
  );
  await expect(link.store.ask("human.history", { before: null })).rejects.toThrow(OUTDATED_RELAY);
  expect([link.warnings, link.sent.length, link.heard.map(({ t }) => t)]).toEqual([[OUTDATED_RELAY], 2, ["reachable", "unreachable"]]);
  link.store.welcomed(link.calls);
  void link.store.ask("human.history", { before: null }).catch(() => undefined);
  expect(link.sent).toHaveLength(3);
});

test("[HU78] another refusal is a defect and no reason to wait", async () => {
  const { store, calls, sent } = linked();
  store.welcomed(calls);
  const asked = store.ask("human.history", { before: null });
  calls.replied({ t: "reply", id: sent[0]?.id ?? "", ok: false, message: "human.history: before: Invalid type" });
  await expect(asked).rejects.not.toThrow(StoreUnreachable);
});
