import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { clickToPaint, fillConversation, fillTimeline, STREAMED_CHARS, streamOutput } from "../support/busy-page.ts";
import { pageHarness } from "../support/page-under-test.ts";
import { scriptedConversation } from "../support/scripted-conversation.ts";
import { waitUntil } from "../support/wait-until.ts";

const harness = pageHarness();

interface Size {
  readonly nodes: number;
  readonly text: number;
}
const sizeOf = (page: Page): Promise<Size> =>
  page.evaluate(() => ({ nodes: document.querySelectorAll("*").length, text: document.body.textContent?.length ?? 0 }));

test("[PG95] 1,000 calls and 5 MB of streaming output: keys and clicks are answered meanwhile, and what is drawn stays bounded", async () => {
  const conversation = scriptedConversation();
  fillConversation(conversation, 400);
  const { page, desk, complaints } = await harness.open({
    conversation,
    prepare: ({ desk }) => fillTimeline(desk, 1_000),
    browser: { viewport: { width: 1280, height: 860 } },
  });
  await page.getByRole("button", { name: /bash echo 1000 / }).waitFor({ state: "attached" });
  const before = await sizeOf(page);
  const streaming = streamOutput(desk);
  await page.getByText("compiling a file").first().waitFor({ state: "attached" });
  let answered = 0;
  const draft = page.getByLabel("Message", { exact: true });
  const box = (await draft.count()) > 0 ? draft : page.getByRole("textbox").last();
  while (!streaming.isOver()) {
    await box.pressSequentially("a");
    await clickToPaint(page, "Info");
    answered += 1;
  }
  await streaming.over;
  expect(answered).toBeGreaterThan(1);
  expect(await box.inputValue()).toBe("a".repeat(answered));
  await waitUntil("all of it arrived", async () =>
    (
      await page
        .locator(".omitted")
        .first()
        .innerText()
        .catch(() => "")
    ).includes("are not kept here"),
  );
  const after = await sizeOf(page);
  // One more row, its output, and the panel that was opened or closed.
  expect(after.nodes - before.nodes).toBeLessThan(200);
  expect(after.text - before.text).toBeLessThan(STREAMED_CHARS / 50);
  for (let index = 0; index < 30; index++) {
    desk.callStarted({ callId: `more-${index}`, tool: "ls", args: {}, client: "Claude", principalId: "grant:1", at: Date.now() });
  }
  await waitUntil("the newest came", async () => (await page.getByRole("button", { name: /^\d\d:\d\d ls / }).count()) === 30);
  expect(await page.locator("li.call").count()).toBe(1_000);
  expect(complaints).toEqual([]);
});
