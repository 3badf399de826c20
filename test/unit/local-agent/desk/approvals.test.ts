import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { DecisionUnrecorded } from "../../../../local-agent/desk/approvals.ts";
import { APPROVAL_HEAD_CHARS } from "../../../../shared/approval.ts";
import { deskUnderTest } from "../../../support/desk-under-test.ts";
import { approvalsUnderTest, askFor } from "../../../support/approvals-under-test.ts";

const textOf = (answer: object): string => ("text" in answer ? String(answer.text) : "");

test("[HU80] guards the named tools and no others", () => {
  const { approvals } = approvalsUnderTest({ guarded: ["bash", "write"] });
  expect(["bash", "write", "read", "Bash", "toString"].map((tool) => approvals.guards(tool))).toEqual([true, true, false, false, false]);
});

test("[HU82] [HU83] a call waits without an end for its click, and passes with it once", async () => {
  const { approvals, events } = approvalsUnderTest();
  const { answer } = askFor(approvals, "echo hi");
  expect(await Promise.race([answer, sleep(300).then(() => "waits")])).toBe("waits");
  const [card] = approvals.list();
  const id = card?.id ?? "";
  const both = await Promise.all([approvals.decide({ id, decision: "once" }), approvals.decide({ id, decision: "once" })]);
  expect(both.map(({ outcome }) => outcome).toSorted()).toEqual(["allowed", "gone"]);
  expect(await answer).toEqual({ allowed: true });
  expect(approvals.list()).toEqual([]);
  expect(events.filter(({ t }) => t === "approval_over")).toEqual([{ t: "approval_over", id, end: "allowed" }]);
  expect(await approvals.decide({ id, decision: "deny" })).toEqual({ outcome: "gone" });
});

test("[HU83] an unknown id is gone", async () => {
  const { approvals } = approvalsUnderTest();
  expect(await approvals.decide({ id: "nothing", decision: "sitting" })).toEqual({ outcome: "gone" });
});

test("[HU84] a denied call is told the reason as it was written, that nothing was run, and not to work around it", async () => {
  const { approvals, trail } = approvalsUnderTest();
  const { answer } = askFor(approvals, "rm -rf build");
  await approvals.decide({ id: approvals.list()[0]?.id ?? "", decision: "deny", reason: "Use `make clean` — it keeps the cache.\nThanks" });
  const text = textOf(await answer);
  expect(text).toContain("Use `make clean` — it keeps the cache.\nThanks");
  expect(text).toContain("Nothing was run");
  expect(text).toContain("another tool or another spelling");
  expect(JSON.stringify(trail)).not.toContain("make clean");
  expect(trail.at(-1)).toMatchObject({ event: "approval.denied", reasonChars: 45 });
});

test.each([[[0, 1]], [[1, 0]]])("[HU83] two cards are independent, decided in the order %j", async (order) => {
  const { approvals } = approvalsUnderTest();
  const asked = [askFor(approvals, "first"), askFor(approvals, "second")];
  const cards = approvals.list();
  expect(cards.map(({ text }) => text)).toEqual(["first", "second"]);
  for (const which of order) {
    const outcome = await approvals.decide({ id: cards[which]?.id ?? "", decision: which === 0 ? "once" : "deny" });
    expect(outcome).toEqual({ outcome: which === 0 ? "allowed" : "denied" });
  }
  expect((await Promise.all(asked.map(({ answer }) => answer))).map(({ allowed }) => allowed)).toEqual([true, false]);
});

describe("[HU85] a card is withdrawn, and a later click is gone,", () => {
  test("when its call ends", async () => {
    const { approvals, events, trail } = approvalsUnderTest();
    const { answer, end } = askFor(approvals, "sleep 1");
    const id = approvals.list()[0]?.id ?? "";
    end.abort(new Error("the call ran for 60 minutes, which is the limit"));
    expect(textOf(await answer)).toContain("the call ran for 60 minutes");
    expect(events.at(-2)).toEqual({ t: "approval_over", id, end: "withdrawn" });
    expect(await approvals.decide({ id, decision: "once" })).toEqual({ outcome: "gone" });
    expect(trail.map(({ event }) => event)).toEqual(["approval.asked", "approval.withdrawn"]);
  });

  test("when its client's access is taken back, whatever the relay says to that; others wait on", async () => {
    const { desk } = deskUnderTest({ grants: { list: () => Promise.resolve([]), revoke: () => Promise.reject(new Error("away")) } });
    desk.setLink({ at: "open", since: 1 });
    const ask = (principalId: string) => askFor(desk.cards.approvals, `echo ${principalId}`, { principalId });
    const [one, two, token] = [ask("grant:1"), ask("grant:2"), ask("token:1")];
    const ids = desk.cards.approvals.list().map(({ id }) => id);
    await expect(desk.revoke({ ids: ["1"] })).rejects.toThrow("away");
    expect(textOf(await one.answer)).toContain("takes back this client's access");
    expect(await desk.cards.approvals.decide({ id: ids[0] ?? "", decision: "once" })).toEqual({ outcome: "gone" });
    expect(desk.cards.approvals.list()).toHaveLength(2);
    await expect(desk.revoke({ ids: "all" })).rejects.toThrow("away");
    expect(textOf(await two.answer)).toContain("Nothing was run");
    expect(desk.cards.approvals.list().map(({ id }) => id)).toEqual([ids[2]]);
    desk.cards.approvals.withdrawAll("the test ends");
    await token.answer;
  });

  test("when its client turns out to have left at the moment of the click", async () => {
    const { approvals, trail } = approvalsUnderTest();
    const end = new AbortController();
    let probes = 0;
    const probe = (): void => {
      probes += 1;
      if (probes === 2) setTimeout(() => end.abort(new Error("the client is gone")), 20);
    };
    const { answer } = askFor(approvals, "touch x", { signal: end.signal, probe });
    expect(await approvals.decide({ id: approvals.list()[0]?.id ?? "", decision: "once" })).toEqual({ outcome: "gone" });
    expect((await answer).allowed).toBe(false);
    expect(trail.map(({ event }) => event)).toEqual(["approval.asked", "approval.withdrawn"]);
  });

  test("while its decision is written down", async () => {
    const written = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const { approvals } = approvalsUnderTest({
      audit: {
        record(event) {
          if (event.event !== "approval.allowed_once") return Promise.resolve();
          asked.resolve();
          return written.promise;
        },
      },
    });
    const { answer, end } = askFor(approvals, "touch x");
    const decided = approvals.decide({ id: approvals.list()[0]?.id ?? "", decision: "once" });
    await asked.promise;
    end.abort();
    written.resolve();
    expect(await decided).toEqual({ outcome: "gone" });
    expect((await answer).allowed).toBe(false);
  });

  test("when all are, and while they are suspended none is raised", async () => {
    const { approvals } = approvalsUnderTest();
    const asked = [askFor(approvals, "one"), askFor(approvals, "two", { principalId: "grant:2" })];
    const ids = approvals.list().map(({ id }) => id);
    approvals.suspend("the connection to the relay was lost");
    for (const { answer } of asked) expect(textOf(await answer)).toContain("the connection to the relay was lost");
    expect(await Promise.all(ids.map((id) => approvals.decide({ id, decision: "once" })))).toEqual([{ outcome: "gone" }, { outcome: "gone" }]);
    expect((await askFor(approvals, "three").answer).allowed).toBe(false);
    approvals.resume();
    void askFor(approvals, "four");
    await Promise.resolve();
    expect(approvals.list().map(({ text }) => text)).toEqual(["four"]);
  });
});

test("[HU85] a call that is over raises no card", async () => {
  const { approvals, events } = approvalsUnderTest();
  expect((await askFor(approvals, "late", { signal: AbortSignal.abort() }).answer).allowed).toBe(false);
  expect(events).toEqual([]);
});

describe("[HU86] allowed for the sitting", () => {
  async function allowed() {
    const under = approvalsUnderTest();
    const { answer } = askFor(under.approvals, "npm test", { args: { command: "npm test", timeout: 5 } });
    await under.approvals.decide({ id: under.approvals.list()[0]?.id ?? "", decision: "sitting" });
    await answer;
    return under;
  }

  test("the same call of the same client passes without a card, and is written down", async () => {
    const { approvals, trail } = await allowed();
    const again = askFor(approvals, "", { args: { timeout: 5, command: "npm test" } });
    expect(await again.answer).toEqual({ allowed: true });
    expect(approvals.list()).toEqual([]);
    expect(trail.map(({ event }) => event)).toEqual(["approval.asked", "approval.allowed_sitting", "approval.passed"]);
  });

  test.each([
    ["another command", { args: { command: "npm test ", timeout: 5 } }],
    ["other arguments", { args: { command: "npm test", timeout: 6 } }],
    ["an argument less", { args: { command: "npm test" } }],
    ["a number as text", { args: { command: "npm test", timeout: "5" } }],
    ["another client", { args: { command: "npm test", timeout: 5 }, principalId: "grant:2" }],
    ["another tool", { args: { command: "npm test", timeout: 5 }, tool: "powershell" }],
  ])("%s waits", async (_what, more) => {
    const { approvals } = await allowed();
    void askFor(approvals, "", more);
    await Promise.resolve();
    expect(approvals.list()).toHaveLength(1);
  });

  test("a card that already waits for the same call still waits", async () => {
    const { approvals } = approvalsUnderTest();
    const asked = [askFor(approvals, "npm test"), askFor(approvals, "npm test")];
    await approvals.decide({ id: approvals.list()[0]?.id ?? "", decision: "sitting" });
    expect((await asked[0]?.answer)?.allowed).toBe(true);
    expect(approvals.list()).toHaveLength(1);
  });

  test("[HU95] is forgotten when the person says so, and that is written down", async () => {
    const { approvals, trail, events } = await allowed();
    expect(approvals.sitting.count()).toBe(1);
    approvals.sitting.forget();
    approvals.sitting.forget();
    void askFor(approvals, "", { args: { command: "npm test", timeout: 5 } });
    await Promise.resolve();
    expect(approvals.list()).toHaveLength(1);
    expect(events.filter(({ t }) => t === "remembered")).toEqual([
      { t: "remembered", remembered: 1 },
      { t: "remembered", remembered: 0 },
    ]);
    expect(trail.filter(({ event }) => event === "approvals.forgotten")).toEqual([{ event: "approvals.forgotten", calls: 1 }]);
  });

  test("is forgotten by the next start", async () => {
    await allowed();
    const { approvals } = approvalsUnderTest();
    void askFor(approvals, "", { args: { command: "npm test", timeout: 5 } });
    await Promise.resolve();
    expect(approvals.list()).toHaveLength(1);
  });
});

describe("[HU87] no more wait than can be looked at:", () => {
  test("ten of one client", async () => {
    const { approvals } = approvalsUnderTest();
    for (let i = 0; i < 10; i++) void askFor(approvals, `n${i}`);
    expect(textOf(await askFor(approvals, "n10").answer)).toContain("10 calls of this client already wait");
    void askFor(approvals, "other", { principalId: "grant:2" });
    await Promise.resolve();
    expect(approvals.list()).toHaveLength(11);
  });

  test("fifty in all", async () => {
    const { approvals } = approvalsUnderTest();
    for (let i = 0; i < 50; i++) void askFor(approvals, `n${i}`, { principalId: `grant:${i}` });
    expect(textOf(await askFor(approvals, "n50", { principalId: "grant:new" }).answer)).toContain("50 calls already wait");
    expect(approvals.list()).toHaveLength(50);
  });
});

describe("[HU88] a decision that cannot be written down", () => {
  const audit = { record: () => Promise.reject(new Error("the audit log cannot be written (ENOSPC).")) };

  test("allows nothing, and the person and the client are told", async () => {
    const { approvals } = approvalsUnderTest({ audit });
    const { answer } = askFor(approvals, "echo hi");
    const decided = approvals.decide({ id: approvals.list()[0]?.id ?? "", decision: "sitting" });
    await expect(decided).rejects.toThrow(DecisionUnrecorded);
    await expect(decided).rejects.toThrow("ENOSPC");
    expect(textOf(await answer)).toContain("could not be written");
    void askFor(approvals, "echo hi");
    await Promise.resolve();
    expect(approvals.list()).toHaveLength(1);
  });

  test("still denies", async () => {
    const { approvals } = approvalsUnderTest({ audit });
    const { answer } = askFor(approvals, "echo hi");
    expect(await approvals.decide({ id: approvals.list()[0]?.id ?? "", decision: "deny" })).toEqual({ outcome: "denied" });
    expect((await answer).allowed).toBe(false);
  });

  test("stops a call that was allowed for the sitting before", async () => {
    let isFull = false;
    const { approvals } = approvalsUnderTest({ audit: { record: () => (isFull ? Promise.reject(new Error("full")) : Promise.resolve()) } });
    const { answer } = askFor(approvals, "echo hi");
    await approvals.decide({ id: approvals.list()[0]?.id ?? "", decision: "sitting" });
    await answer;
    isFull = true;
    expect((await askFor(approvals, "echo hi").answer).allowed).toBe(false);
  });
});

describe("[HU81] a card shows", () => {
  async function cardOf(tool: string, args: Record<string, string | number>) {
    const { approvals } = approvalsUnderTest({ guarded: [tool] });
    void askFor(approvals, "", { tool, args });
    await Promise.resolve();
    const [card] = approvals.list();
    if (card === undefined) throw new Error("no card was raised");
    return { card, whole: approvals.whole(card.id) };
  }

  test("a shell's command as it came, hidden characters and all, and what stands beside it", async () => {
    const { card } = await cardOf("bash", { command: "echo \u202e\u0000 'x'\n# \u200b", timeout: 3 });
    expect(card).toMatchObject({ text: "echo \u202e\u0000 'x'\n# \u200b", beside: '{\n  "timeout": 3\n}', client: "“Ada's app”" });
    expect(card.totalChars).toBe(card.text.length);
  });

  test("of another tool every argument", async () => {
    const { card } = await cardOf("write", { path: "a.txt", content: "x" });
    expect(card).toMatchObject({ text: '{\n  "path": "a.txt",\n  "content": "x"\n}', beside: "" });
  });

  test("the beginning of a long one, and the whole by its id", async () => {
    const command = `${"x".repeat(APPROVAL_HEAD_CHARS - 1)}😀${"y".repeat(100_000)}`;
    const { card, whole } = await cardOf("bash", { command });
    expect(card.text).toBe("x".repeat(APPROVAL_HEAD_CHARS - 1));
    expect(card.totalChars).toBe(command.length);
    expect(whole).toEqual({ text: command, beside: "" });
  });

  test("that something is left out also when it stands beside the command", async () => {
    const { card } = await cardOf("bash", { command: "ls", note: "z".repeat(APPROVAL_HEAD_CHARS) });
    expect(card.totalChars).toBeGreaterThan(card.text.length);
  });

  test("nothing once it is over", async () => {
    const { approvals } = approvalsUnderTest();
    const { end } = askFor(approvals, "ls");
    const id = approvals.list()[0]?.id ?? "";
    end.abort();
    expect(approvals.whole(id)).toBeNull();
  });
});

test("[HU90] the trail has hashes and sizes, never what was asked", async () => {
  const { approvals, trail } = approvalsUnderTest();
  void askFor(approvals, "curl https://secret.example");
  await Promise.resolve();
  expect(JSON.stringify(trail)).not.toContain("secret.example");
  expect(trail[0]).toMatchObject({
    event: "approval.asked",
    tool: "bash",
    principal: "grant:1",
    argsSha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});

test("[HU90] the trail has the arguments when that was asked for, up to a bound", async () => {
  const { approvals, trail } = approvalsUnderTest({ auditFull: true });
  void askFor(approvals, "echo hi");
  void askFor(approvals, "x".repeat(100_000));
  await Promise.resolve();
  expect(trail[0]).toMatchObject({ args: { command: "echo hi" } });
  expect(trail[1]).not.toHaveProperty("args");
  expect(JSON.stringify(trail[1]).length).toBeLessThan(70_000);
});
