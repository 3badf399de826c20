/** The page over the desk's own conversation and a store on disk: nothing here is scripted but the client. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createConversation, type Conversation } from "../../local-agent/desk/conversation.ts";
import { openLocalHumanStore } from "../../local-agent/node/local-human-store.ts";
import { silentLog } from "../../local-agent/node/log-sinks.ts";
import { openOutboxFile } from "../../local-agent/node/outbox-file.ts";
import { systemClock as clock, systemTimers as timers } from "../../local-agent/node/system-time.ts";
import { pageHarness } from "../support/page-under-test.ts";
import { blackPng } from "../support/png.ts";
import { CLAUDE } from "../support/scripted-conversation.ts";
import { tempDir } from "../support/temp-dir.ts";

const harness = pageHarness();

function conversation(): Conversation {
  const dir = tempDir();
  const store = openLocalHumanStore({ dir, clock, timers });
  const outbox = openOutboxFile(join(dir, "outbox.jsonl"));
  const opened = createConversation({ store, outbox, clock, timers, log: silentLog, newId: randomUUID });
  onTestFinished(() => {
    opened.close();
    outbox.close();
    store.close();
  });
  return opened;
}

test("[PG60] [PG68] [PG70] [PG71] person and client talk through the desk, and a reload shows the same", async () => {
  const talk = conversation();
  const { page, complaints } = await harness.open({ desk: { conversation: talk } });
  const log = page.getByRole("log");
  const { channel } = talk;
  const wait = (questionId: string | null) =>
    channel.wait({ client: CLAUDE, x: null, questionId, budgetMs: 20_000, signal: new AbortController().signal, probe: () => {} });
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  expect(await channel.say({ client: CLAUDE, category: "done", text: "The **tests** pass." })).toBe("shown");
  await log.locator("strong").getByText("tests").waitFor();

  const asked = await channel.ask({ client: CLAUDE, text: "Push it?", options: ["Yes", "No"] });
  if (asked === "too_many") throw new Error("one question is not too many");
  const answered = wait(asked.questionId);
  await page.getByRole("article").getByRole("button", { name: "Yes" }).click();
  expect(await answered).toMatchObject({ at: "messages", messages: [{ text: "Yes", questionId: asked.questionId }] });
  await page.getByRole("article").getByText("Answered.").waitFor();
  await log.getByText("read", { exact: true }).waitFor();

  await page.locator('input[type="file"]').setInputFiles([{ name: "a.png", mimeType: "image/png", buffer: blackPng(8, 8) }]);
  await page.getByRole("list", { name: "Images of this message" }).getByRole("img").waitFor();
  await page.getByRole("textbox", { name: "Message" }).fill("Look at this");
  await page.keyboard.press("Enter");
  await log.getByRole("img", { name: "image 1" }).waitFor();
  await log.getByText("queued").waitFor();
  expect(await wait(null)).toMatchObject({ at: "messages", messages: [{ text: "Look at this", images: [{ mimeType: "image/png" }] }] });

  await page.reload();
  await log.getByRole("img", { name: "image 1" }).waitFor();
  // Until the part that draws markdown has come, words stand there as they were written.
  await log.locator("strong").getByText("tests").waitFor();
  expect(await log.innerText()).toMatch(/The tests pass\.[^]*Push it\?[^]*Yes[^]*Look at this/);
  expect(complaints).toEqual([]);
});
