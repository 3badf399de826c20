import { expect, test } from "vitest";
import { handleControl } from "../../../../local-agent/daemon/control-requests.ts";
import { deskUnderTest, EXAMPLE_INFO, exampleAuthorization } from "../../../support/desk-under-test.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

function asked() {
  const clock = new ManualClock(0);
  const { desk } = deskUnderTest({ clock });
  desk.setLink({ at: "open", since: 0 });
  let reloads = 0;
  const tokens = {
    async reload() {
      await Promise.resolve();
      reloads++;
    },
  };
  return { parts: { desk, tokens, clock }, clock, desk, reloads: () => reloads };
}

test("[ST64] a request that has expired is listed no more, though the relay still counts it", async () => {
  const { parts, clock, desk } = asked();
  const [early, late] = [exampleAuthorization({ id: "early", expiresAt: 600_000 }), exampleAuthorization({ id: "late", expiresAt: 600_001 })];
  desk.setAuthorizations([early, late]);
  const pending = async () => ((await handleControl(parts, { method: "authorization.list" })) as { readonly pending: unknown }).pending;
  clock.advance(599_999);
  expect(await pending()).toEqual([early, late]);
  clock.advance(1);
  expect(await pending()).toEqual([late]);
  clock.advance(1);
  expect(await pending()).toEqual([]);
});

test("[ST74] whoever has tokens read anew hears where they hold", async () => {
  const { parts, reloads } = asked();
  expect(await handleControl(parts, { method: "tokens.reload" })).toEqual({ mcpUrls: EXAMPLE_INFO.mcpUrls });
  expect(reloads()).toBe(1);
});
