import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import type { ToolCall, ToolOutcome } from "../../../../shared/tool.ts";
import { text, untilAborted } from "../../../support/scripted-tools.ts";
import { context, eventData, messages, reply, requestOf, surfaceUnderTest, toolCall } from "../../../support/surface-under-test.ts";
import { waitUntil } from "../../../support/wait-until.ts";

const ERAS = ["legacy", "modern"] as const;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A tool that answers when told to. */
function held(): { run: (call: ToolCall) => Promise<ToolOutcome>; finish: (outcome: ToolOutcome) => void; call: () => ToolCall } {
  let finish: (outcome: ToolOutcome) => void = () => {};
  let seen: ToolCall | undefined;
  const outcome = new Promise<ToolOutcome>((resolve) => (finish = resolve));
  return {
    run: (call) => ((seen = call), outcome),
    finish: (value) => finish(value),
    call: () => seen!,
  };
}

describe.each(ERAS)("a running call (%s)", (era) => {
  test("[MC8] sends a comment before the tool has answered", async () => {
    const tool = held();
    const { surface } = surfaceUnderTest({ slow: tool.run });
    const { response } = await surface.handle(requestOf(era, toolCall(1, "slow")), context());
    const reader = response.body!.getReader();
    const first = await reader.read();
    expect(new TextDecoder().decode(first.value)).toBe(": open\n\n");
    tool.finish(text("done"));
    expect(new TextDecoder().decode((await reader.read()).value)).toContain('"done"');
  });

  test("[MC9] writes comments while nothing else is written, always between events", async () => {
    const tool = held();
    const { surface } = surfaceUnderTest({ slow: tool.run }, { keepAliveMs: 20 });
    const { response } = await surface.handle(requestOf(era, toolCall(1, "slow", {}, 1)), context());
    const reading = response.text();
    await pause(90);
    tool.call().onProgress({ delta: "line\n" });
    await pause(90);
    tool.finish(text("x".repeat(500_000)));
    const stream = await reading;
    const parts = stream.split("\n\n");
    expect(parts.filter((part) => part.startsWith(":")).length).toBeGreaterThanOrEqual(4);
    expect(parts.every((part) => part === "" || part.startsWith(": ") || part.startsWith("event: message\ndata: {"))).toBe(true);
    expect(eventData(stream).map((data) => JSON.parse(data).id ?? JSON.parse(data).method)).toEqual(["notifications/progress", 1]);
  });

  test("[MC9] writes no comment while events flow", async () => {
    const tool = held();
    const { surface } = surfaceUnderTest({ slow: tool.run }, { keepAliveMs: 600 });
    const { response } = await surface.handle(requestOf(era, toolCall(1, "slow", {}, 1)), context());
    const reading = response.text();
    for (let i = 0; i < 4; i++) {
      tool.call()?.onProgress({ delta: `${i}\n` });
      await pause(300);
    }
    tool.finish(text("done"));
    expect(await reading).not.toContain("keep-alive");
  });

  test("[MC10] reports output as it comes: rising values, only what is new", async () => {
    const { surface, deltas } = surfaceUnderTest({
      chatty: async (call) => {
        for (const line of ["one\n", "two\n", "three\n"]) {
          call.onProgress({ delta: line });
          await pause(300);
        }
        return text("done");
      },
    });
    const all = await messages(await surface.handle(requestOf(era, toolCall(1, "chatty", {}, "tok")), context()));
    const reports = all.slice(0, -1).map((message) => message.params!);
    expect(reports.map((report) => report["progressToken"])).toEqual(["tok", "tok", "tok"]);
    expect(reports.map((report) => report["progress"])).toEqual([1, 2, 3]);
    expect(reports.map((report) => report["message"])).toEqual(["one\n", "two\n", "three\n"]);
    expect(deltas).toEqual(["one\n", "two\n", "three\n"]);
  });

  test("[MC10] a flood becomes few reports, and none without a token", async () => {
    const flood = async (call: ToolCall): Promise<ToolOutcome> => {
      for (let i = 0; i < 2000; i++) call.onProgress({ delta: `${i} ${"y".repeat(100)}\n` });
      await pause(300);
      return text("done");
    };
    const { surface } = surfaceUnderTest({ flood });
    const all = await messages(await surface.handle(requestOf(era, toolCall(1, "flood", {}, 0)), context()));
    expect(all.length).toBe(3);
    expect(all[1]!.params!["message"]).toMatch(/1999 y{100}\n$/);
    expect(String(all[1]!.params!["message"]).length).toBeLessThanOrEqual(1000);
    expect(await messages(await surface.handle(requestOf(era, toolCall(2, "flood")), context()))).toHaveLength(1);
  });

  test("[MC10] a client that does not read holds reports back", async () => {
    const tool = held();
    const { surface } = surfaceUnderTest({ slow: tool.run }, { keepAliveMs: 5 });
    const { response } = await surface.handle(requestOf(era, toolCall(1, "slow", {}, 1)), context());
    await pause(30);
    for (let i = 0; i < 4; i++) {
      tool.call().onProgress({ delta: "z".repeat(1000) });
      await pause(260);
    }
    tool.finish(text("done"));
    const stream = await response.text();
    expect(stream.length).toBeLessThan(70 * 1024);
    expect(stream).toContain('"done"');
  });

  test("[MC12] hands the exchange's own reason to the tool when the exchange is over", async () => {
    const { surface, tools, ended } = surfaceUnderTest({ wait: untilAborted });
    const own = context();
    const answer = await surface.handle(requestOf(era, toolCall(1, "wait")), own);
    await waitUntil("the tool runs", () => tools.seen.length === 1);
    const reason = new Error("deadline");
    own.end.abort(reason);
    expect(await messages(answer)).toEqual([]);
    expect(tools.seen[0]!.signal.reason).toBe(reason);
    await waitUntil("the call has ended", () => ended.length === 1);
    expect(ended[0]!.state).toBe("cancelled");
  });

  test("[MC12] runs nothing for an exchange that is over before it began", async () => {
    const { surface, tools } = surfaceUnderTest({ ok: () => text("ran") });
    const own = context();
    own.end.abort(new Error("too late"));
    await surface.handle(requestOf(era, toolCall(1, "ok")), own);
    await pause(10);
    expect(tools.seen).toEqual([]);
  });

  test("[MC14] [MC15] notifications/cancelled ends the named call and its stream at once, though the tool goes on", async () => {
    const tool = held();
    const { surface, ended } = surfaceUnderTest({ stubborn: tool.run });
    const answer = await surface.handle(requestOf(era, toolCall("7", "stubborn")), context());
    const reading = messages(answer);
    await waitUntil("the tool runs", () => tool.call() !== undefined);
    const startedAt = performance.now();
    const note = await surface.handle(
      requestOf(era, { method: "notifications/cancelled", params: { requestId: "7", reason: "user changed their mind" } }),
      context(),
    );
    expect(note.response.status).toBe(202);
    expect(await reading).toEqual([]);
    expect(performance.now() - startedAt).toBeLessThan(250);
    expect(String(tool.call().signal.reason)).toContain("user changed their mind");
    tool.finish(text("late"));
    await waitUntil("the call has ended", () => ended.length === 1);
    expect(ended[0]!.state).toBe("cancelled");
  });

  test.each([
    ["another principal", "grant:other", "7"],
    ["another id", "grant:1", "8"],
    ["the same digits as a number", "grant:1", 7],
  ])("[MC14] a cancel by %s changes nothing", async (_, id, requestId) => {
    const tool = held();
    const { surface } = surfaceUnderTest({ slow: tool.run });
    const answer = await surface.handle(requestOf(era, toolCall("7", "slow")), context("grant:1"));
    await waitUntil("the tool runs", () => tool.call() !== undefined);
    await surface.handle(requestOf(era, { method: "notifications/cancelled", params: { requestId } }), context(id));
    expect(tool.call().signal.aborted).toBe(false);
    tool.finish(text("done"));
    expect((await reply(answer)).result).toMatchObject({ content: [{ text: "done" }] });
  });

  test("[MC14] of two live calls with one id neither is cancelled; once one has settled the other is", async () => {
    const tools = [held(), held()];
    let next = 0;
    const { surface } = surfaceUnderTest({ slow: (call) => tools[next++]!.run(call) });
    const cancel = () => surface.handle(requestOf(era, { method: "notifications/cancelled", params: { requestId: 1 } }), context());
    const first = await surface.handle(requestOf(era, toolCall(1, "slow")), context());
    await waitUntil("the tool runs", () => next === 1);
    const second = await surface.handle(requestOf(era, toolCall(1, "slow")), context());
    await waitUntil("the tool runs", () => next === 2);
    await cancel();
    expect(tools.map((tool) => tool.call().signal.aborted)).toEqual([false, false]);
    tools[0]!.finish(text("first"));
    expect((await reply(first)).result).toMatchObject({ content: [{ text: "first" }] });
    await cancel();
    expect(tools[1]!.call().signal.aborted).toBe(true);
    expect(await messages(second)).toEqual([]);
  });
});

test("[MC13] a modern call ends with its client's connection", async () => {
  const { surface, tools } = surfaceUnderTest({ wait: untilAborted });
  const own = context();
  await surface.handle(requestOf("modern", toolCall(1, "wait")), own);
  await waitUntil("the tool runs", () => tools.seen.length === 1);
  own.leave.abort(new Error("closed"));
  expect(tools.seen[0]!.signal.reason).toMatchObject({ message: "closed" });
});

test("[MC13] a legacy call outlives its client's connection and settles normally", async () => {
  const tool = held();
  const { surface, ended } = surfaceUnderTest({ slow: tool.run });
  const own = context();
  const { response } = await surface.handle(requestOf("legacy", toolCall(1, "slow", {}, 1)), own);
  await waitUntil("the tool runs", () => tool.call() !== undefined);
  own.leave.abort(new Error("closed"));
  await response.body!.cancel();
  tool.call().onProgress({ delta: "still here\n" });
  await pause(20);
  expect(tool.call().signal.aborted).toBe(false);
  tool.finish(text("done"));
  await waitUntil("the call has ended", () => ended.length === 1);
  expect(ended[0]!.state).toBe("ok");
});

test("[MC13] a legacy call without a client ends at the limit", async () => {
  const { surface, tools, ended } = surfaceUnderTest({ wait: untilAborted }, { lifeMs: 60 });
  const own = context();
  await surface.handle(requestOf("legacy", toolCall(1, "wait")), own);
  own.leave.abort(new Error("closed"));
  await waitUntil("the call has ended", () => ended.length === 1);
  expect(String(tools.seen[0]!.signal.reason)).toContain("limit");
});

test.each(ERAS)("[MC12] leaves nothing behind on a signal that outlives its calls (%s)", async (era) => {
  const { surface, ended } = surfaceUnderTest({ ok: () => text("fine"), slow: () => pause(30).then(() => text("late")) });
  const own = context();
  const others = [
    { id: 3, method: "tools/list" },
    { id: 4, method: "no/such" },
    { method: "notifications/initialized" },
    toolCall(5, "nope"),
    toolCall(6, "ok"),
  ];
  for (const message of others) await messages(await surface.handle(requestOf(era, message), own));
  const left = await surface.handle(requestOf(era, toolCall(7, "slow")), { ...own, gone: new AbortController().signal });
  await left.response.body?.cancel();
  await waitUntil("all calls have ended", () => ended.length === 2);
  expect([getEventListeners(own.signal, "abort").length, getEventListeners(own.gone, "abort").length]).toEqual([0, 0]);
});
