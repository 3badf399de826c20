import { expect, test } from "vitest";
import { handleControl } from "../../../../local-agent/daemon/control-requests.ts";
import { deskUnderTest, EXAMPLE_INFO, exampleAuthorization } from "../../../support/desk-under-test.ts";

function asked() {
  const { desk } = deskUnderTest();
  desk.setLink({ at: "open", since: 0 });
  let reloads = 0;
  const tokens = {
    async reload() {
      await Promise.resolve();
      reloads++;
    },
  };
  return { parts: { desk, tokens, pending: () => Promise.resolve([]) }, desk, reloads: () => reloads };
}

test("[ST64] the relay is asked what waits: it knows what has run out, and the pages learn of it too", async () => {
  const { parts, desk } = asked();
  const [early, late] = [exampleAuthorization({ id: "early" }), exampleAuthorization({ id: "late" })];
  desk.setAuthorizations([early, late]);
  const list = await handleControl({ ...parts, pending: () => Promise.resolve([late]) }, { method: "authorization.list" });
  expect(list).toMatchObject({ pending: [late] });
  expect(desk.snapshot().authorizations).toEqual([late]);
  const unanswered = handleControl(
    { ...parts, pending: () => Promise.reject(new Error("the relay did not answer")) },
    { method: "authorization.list" },
  );
  await expect(unanswered).rejects.toThrow("the relay did not answer");
});

test("[ST74] whoever has tokens read anew hears where they hold", async () => {
  const { parts, reloads } = asked();
  expect(await handleControl(parts, { method: "tokens.reload" })).toEqual({ mcpUrls: EXAMPLE_INFO.mcpUrls });
  expect(reloads()).toBe(1);
});
