import { expect, test } from "vitest";
import { createFairShare } from "../../../../local-agent/mcp/fair-share.ts";
import { context, legacyRequest, surfaceUnderTest } from "../../../support/surface-under-test.ts";
import { untilAborted } from "../../../support/scripted-tools.ts";

test("[MC23] a client's places come back when its calls end, and are not another's", () => {
  const share = createFairShare(2);
  const first = share.take("a");
  expect([share.take("a"), share.take("a"), share.take("b")].map((leave) => leave !== undefined)).toEqual([true, false, true]);
  first?.();
  expect(share.take("a")).toBeDefined();
});

test("[MC23] calls that run on without their client count, and the next is told that nothing was run", async () => {
  const under = surfaceUnderTest({ wait: untilAborted });
  const callOf = (id: number) => legacyRequest({ id, method: "tools/call", params: { name: "wait", arguments: {} } });
  const contexts = Array.from({ length: 32 }, () => context("grant:1"));
  const answers = await Promise.all(contexts.map((each, id) => under.surface.handle(callOf(id), each)));
  for (const each of contexts) each.leave.abort();
  const next = await under.surface.handle(callOf(99), context("grant:1"));
  expect(await next.response.text()).toContain("nothing was run");
  expect(under.tools.seen).toHaveLength(32);
  for (const each of contexts) each.end.abort();
  for (const answer of answers) await answer.response.body?.cancel();
});
