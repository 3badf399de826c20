/** Guarded calls through the real surface and the real tool host: what is allowed runs, and nothing else. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ApprovalRequest } from "../../../shared/approval.ts";
import { approvalsUnderTest, type ApprovalsUnderTest } from "../../support/approvals-under-test.ts";
import { scriptedTools, text } from "../../support/scripted-tools.ts";
import {
  context,
  messages,
  reply,
  requestOf,
  surfaceUnderTest,
  toolCall,
  type SurfaceUnderTest,
  type TestContext,
} from "../../support/surface-under-test.ts";
import { toolHostUnderTest } from "../../support/tool-host-under-test.ts";
import { waitUntil } from "../../support/wait-until.ts";

const ERAS = ["legacy", "modern"] as const;
type Era = (typeof ERAS)[number];

interface Guarded extends ApprovalsUnderTest {
  readonly root: string;
  readonly call: (args: Record<string, unknown>, from?: TestContext, progressToken?: string) => ReturnType<SurfaceUnderTest["surface"]["handle"]>;
  readonly card: (count?: number) => Promise<string>;
}

let ids = 0;

async function guarded(era: Era, tool = "bash"): Promise<Guarded> {
  const { host, root } = await toolHostUnderTest();
  const under = approvalsUnderTest({ guarded: [tool] });
  const { surface } = surfaceUnderTest({}, { tools: host, gate: under.approvals, keepAliveMs: 50 });
  return {
    ...under,
    root,
    call(args, from = context(), progressToken) {
      ids += 1;
      return surface.handle(requestOf(era, toolCall(ids, tool, args, progressToken)), from);
    },
    async card(count = 1) {
      await waitUntil("the card is shown", () => under.approvals.list().length === count);
      return under.approvals.list().at(-1)?.id ?? "";
    },
  };
}

const appending = { command: "echo ran >> ran.txt" };

describe.each(ERAS)("a guarded call (%s)", (era) => {
  test("[HU80] [HU82] runs once when it is allowed, and not before", async () => {
    const { root, call, card, approvals } = await guarded(era);
    const answered = call(appending).then(reply);
    const id = await card();
    expect(existsSync(join(root, "ran.txt"))).toBe(false);
    const clicks = await Promise.all([1, 2, 3].map(() => approvals.decide({ id, decision: "once" })));
    expect(clicks.filter(({ outcome }) => outcome === "allowed")).toHaveLength(1);
    expect((await answered).result).toMatchObject({ isError: false });
    expect(readFileSync(join(root, "ran.txt"), "utf8")).toBe("ran\n");
  });

  test("[HU84] does not run when it is denied, and the client reads why", async () => {
    const { root, call, card, approvals } = await guarded(era);
    const answered = call(appending).then(reply);
    await approvals.decide({ id: await card(), decision: "deny", reason: "not on a Friday" });
    expect((await answered).result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("not on a Friday") }] });
    expect(existsSync(join(root, "ran.txt"))).toBe(false);
  });

  test("[HU85] does not run when its client left before the click", async () => {
    const { root, call, card, approvals } = await guarded(era);
    const from = context();
    const { response } = await call(appending, from);
    const id = await card();
    from.leave.abort(new Error("the client closed its connection"));
    expect(approvals.list()).toEqual([]);
    expect(await approvals.decide({ id, decision: "once" })).toEqual({ outcome: "gone" });
    await response.text().catch(() => undefined);
    expect(existsSync(join(root, "ran.txt"))).toBe(false);
  });

  test("[HU89] says in its progress what it waits for, and comments meanwhile", async () => {
    const { call, card, approvals } = await guarded(era);
    const { response } = await call({ command: "true" }, context(), "token");
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let read = "";
    const readUntil = async (part: string): Promise<void> => {
      while (!read.includes(part)) read += (await reader.read()).value ?? "";
    };
    await readUntil("waiting for the person's approval");
    await readUntil(": keep-alive");
    await approvals.decide({ id: await card(), decision: "once" });
    await readUntil('"isError":false');
    expect(read.indexOf(": keep-alive")).toBeLessThan(read.indexOf('"isError":false'));
  });

  test("[HU82] goes on after two cards in either order, each by its own click", async () => {
    const { root, call, card, approvals } = await guarded(era);
    const first = call({ command: "echo first >> ran.txt" }).then(reply);
    const firstId = await card();
    const second = call({ command: "echo second >> ran.txt" }).then(reply);
    const secondId = await card(2);
    await approvals.decide({ id: secondId, decision: "once" });
    await second;
    expect(readFileSync(join(root, "ran.txt"), "utf8")).toBe("second\n");
    await approvals.decide({ id: firstId, decision: "once" });
    await first;
    expect(readFileSync(join(root, "ran.txt"), "utf8")).toBe("second\nfirst\n");
  });
});

test("[HU85] a call whose exchange is over is withdrawn", async () => {
  const { root, call, card, approvals } = await guarded("modern");
  const from = context();
  const answered = call(appending, from).then(messages);
  const id = await card();
  from.end.abort(new Error("the exchange is over"));
  expect(await approvals.decide({ id, decision: "once" })).toEqual({ outcome: "gone" });
  await answered.catch(() => undefined);
  expect(existsSync(join(root, "ran.txt"))).toBe(false);
});

test("[HU81] what is shown is what the tool makes of the arguments, and what is run", async () => {
  const { root, call, card, approvals } = await guarded("legacy", "edit");
  writeFileSync(join(root, "a.txt"), "a\n");
  const answered = call({ path: "a.txt", edits: JSON.stringify([{ oldText: "a", newText: "b" }]) }).then(reply);
  await card();
  expect(JSON.parse(approvals.list()[0]?.text ?? "")).toEqual({ path: "a.txt", edits: [{ oldText: "a", newText: "b" }] });
  await approvals.decide({ id: approvals.list()[0]?.id ?? "", decision: "once" });
  expect((await answered).result).toMatchObject({ isError: false });
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("b\n");
});

test("[HU81] invalid arguments are refused without a card", async () => {
  const { call, approvals } = await guarded("legacy");
  expect((await call({ timeout: 3 }).then(reply)).result).toMatchObject({ isError: true });
  expect(approvals.list()).toEqual([]);
});

test("[HU81] nobody can change the arguments between the look and the run", async () => {
  const shown: ApprovalRequest[] = [];
  const gate = {
    guards: () => true,
    ask(request: ApprovalRequest) {
      shown.push(request);
      return Promise.resolve({ allowed: true } as const);
    },
  };
  const tools = scriptedTools({ bash: () => text("ran") });
  const { surface } = surfaceUnderTest({}, { tools, gate });
  await surface.handle(requestOf("legacy", toolCall(1, "bash", { command: "ls", env: [{ NAME: "x" }] })), context()).then(reply);
  const args = shown[0]?.args;
  expect(tools.seen[0]?.args).toBe(args);
  expect(isFrozenThroughout(args)).toBe(true);
});

function isFrozenThroughout(value: unknown): boolean {
  return typeof value !== "object" || value === null || (Object.isFrozen(value) && Object.values(value).every(isFrozenThroughout));
}

test("[HU81] arguments too deep to be shown are refused", async () => {
  const { approvals } = approvalsUnderTest();
  const { surface, tools } = surfaceUnderTest({ bash: () => text("ran") }, { gate: approvals });
  let deep: unknown = "x";
  for (let i = 0; i < 200; i++) deep = [deep];
  const answer = await surface.handle(requestOf("legacy", toolCall(1, "bash", { command: "ls", deep })), context()).then(reply);
  expect(answer.result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("Nothing was run") }] });
  expect(tools.seen).toEqual([]);
});

test("[HU80] a tool that is not guarded runs at once", async () => {
  const { approvals } = approvalsUnderTest({ guarded: ["write"] });
  const { surface } = surfaceUnderTest({ bash: () => text("ran") }, { gate: approvals });
  expect((await surface.handle(requestOf("legacy", toolCall(1, "bash")), context()).then(reply)).result).toMatchObject({ isError: false });
});
