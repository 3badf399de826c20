import { expect, onTestFinished, test } from "vitest";
import type { Locator, Page } from "playwright-core";
import { startUiServer } from "../../local-agent/ui-server/server.ts";
import { pageHarness } from "../support/page-under-test.ts";
import { blackPng } from "../support/png.ts";
import { asked, CLAUDE, entryId, said, scriptedConversation, typed, type ScriptedConversation } from "../support/scripted-conversation.ts";
import { waitUntil } from "../support/wait-until.ts";

const harness = pageHarness();
const box = (page: Page): Locator => page.getByRole("textbox", { name: "Message" });
const log = (page: Page): Locator => page.getByRole("log");
const problem = (page: Page): Locator => page.getByRole("region", { name: "Write" }).getByRole("alert");
const sent = ({ posts }: ScriptedConversation): string[] =>
  posts.filter(({ path }) => path === "/api/say").map(({ body }) => (body as { text: string }).text);
const sentIds = ({ posts }: ScriptedConversation): string[] => posts.map(({ body }) => (body as { id: string }).id);

test("[PG60] [PG70] words and calls are one timeline; own words say what became of them", async () => {
  const at = Date.now() - 60_000;
  const conversation = scriptedConversation({
    entries: [
      said(1, "Hello", { at }),
      typed(2, "**as typed**\n  twice", { at: at + 1_000 }),
      said(3, "Late", { at: at + 3_000, whileAway: true, category: "error" }),
    ],
    unsent: [{ kind: "typed", id: entryId(9), at: at + 9_000, text: "not yet", images: [], to: CLAUDE, questionId: null }],
  });
  const { page, desk, complaints } = await harness.open({ conversation });
  desk.callStarted({ callId: "1", tool: "ls", args: {}, client: "Claude", principalId: "grant:1", at: at + 2_000 });
  await log(page).getByRole("button", { name: /ls/ }).waitFor();
  const text = await log(page).innerText();
  expect(text).toMatch(
    /Hello[^]*\*\*as typed\*\*\n {2}twice[^]*queued[^]*ls[^]*said while the workstation was away, at \d\d:\d\d[^]*Late[^]*not yet[^]*waiting for the relay/,
  );
  expect(text).not.toContain("error");
  conversation.marks([{ id: entryId(2), state: "read", repeat: true }]);
  await log(page).getByText("read · again").waitFor();
  conversation.set({ unsent: [] });
  conversation.entry(typed(9, "not yet", { at: at + 9_000, state: "delivered" }));
  await log(page).getByText("delivered").waitFor();
  expect(await log(page).getByText("not yet").count()).toBe(1);
  expect(complaints).toEqual([]);
});

test("[PG61] calls can be hidden, and the search finds, counts and is cleared", async () => {
  const conversation = scriptedConversation({ entries: [said(1, "apples"), said(2, "pears"), typed(3, "more apples")] });
  const { page, desk } = await harness.open({ conversation });
  desk.callStarted({ callId: "1", tool: "bash", args: { command: "cut apples" }, client: "Claude", principalId: "grant:1", at: Date.now() });
  const row = log(page).getByRole("button", { name: /cut apples/ });
  await row.waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("APPLES");
  await page.getByText("3 of 4").waitFor();
  expect(await log(page).innerText()).not.toContain("pears");
  await page.getByLabel("Hide tools").check();
  await page.getByText("2 of 3").waitFor();
  expect(await row.count()).toBe(0);
  await page.getByRole("searchbox").focus();
  await page.keyboard.press("Escape");
  await log(page).getByText("pears").waitFor();
  await box(page).focus();
  await page.keyboard.type("a/b");
  expect(await box(page).inputValue()).toBe("a/b");
});

test("[PG61] older entries are loaded on demand, and what is in view stays there", async () => {
  const conversation = scriptedConversation({ entries: Array.from({ length: 60 }, (_, index) => said(101 + index, `newer ${101 + index}`)) });
  conversation.older = Array.from({ length: 80 }, (_, index) => said(21 + index, `older ${21 + index}`));
  const { page } = await harness.open({ conversation, browser: { viewport: { width: 1280, height: 800 } } });
  const button = page.getByRole("button", { name: "Load earlier" });
  await button.scrollIntoViewIfNeeded();
  const first = log(page).getByText("newer 101", { exact: true });
  const before = (await first.boundingBox())?.y ?? 0;
  await button.click();
  await log(page).getByText("older 100", { exact: true }).waitFor();
  expect(Math.abs(((await first.boundingBox())?.y ?? 0) - before)).toBeLessThan(60);
  await button.click();
  await log(page).getByText("older 21", { exact: true }).waitFor();
  await waitUntil("nothing older is offered", async () => (await button.count()) === 0);
});

test("[PG66] [PG67] Enter sends in order, Shift+Enter makes a line, an input method is left alone", async () => {
  const conversation = scriptedConversation();
  conversation.answer("/api/say", { afterMs: 400 });
  const { page, complaints } = await harness.open({ conversation });
  await box(page).focus();
  const height = async (): Promise<number> => (await box(page).boundingBox())?.height ?? 0;
  const low = await height();
  await page.keyboard.type("one");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("more");
  expect(await height()).toBeGreaterThan(low);
  await page.evaluate(() => document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", isComposing: true, bubbles: true })));
  await page.evaluate(() => document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", keyCode: 229, bubbles: true })));
  expect(conversation.posts).toEqual([]);
  await page.keyboard.press("Enter");
  await page.keyboard.type("two");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  await log(page).getByText("two", { exact: true }).waitFor();
  expect(sent(conversation)).toEqual(["one\nmore", "two"]);
  expect(await box(page).inputValue()).toBe("");
  expect(await box(page).evaluate((element) => element === document.activeElement)).toBe(true);
  await box(page).fill("a".repeat(65_537));
  await page.getByText("1 bytes too long: a message holds 64 KiB").waitFor();
  expect(await page.getByRole("button", { name: "Send" }).isDisabled()).toBe(true);
  expect(complaints).toEqual([]);
});

test("[PG66] on a touch screen Enter makes a line", async () => {
  const conversation = scriptedConversation();
  const { page } = await harness.open({ conversation, browser: { hasTouch: true, isMobile: true, viewport: { width: 390, height: 844 } } });
  await box(page).focus();
  await page.keyboard.type("one");
  await page.keyboard.press("Enter");
  await page.keyboard.type("two");
  expect(await box(page).inputValue()).toBe("one\ntwo");
  await page.getByRole("button", { name: "Send" }).tap();
  await log(page).getByText("one").waitFor();
  expect(sent(conversation)).toEqual(["one\ntwo"]);
});

test("[PG67] nothing typed is lost: not by a full queue, not by a cut connection, not by a reload", async () => {
  const conversation = scriptedConversation();
  conversation.answer("/api/say", { body: { outcome: "full" } }, { isCut: true }, { isCut: true });
  const { page } = await harness.open({ conversation });
  await box(page).fill("precious");
  await box(page).press("Enter");
  await problem(page).getByText("10,000 messages wait already").waitFor();
  expect(await box(page).inputValue()).toBe("precious");
  await box(page).press("Enter");
  await problem(page).getByText("The agent could not be reached.").waitFor();
  await page.reload();
  await waitUntil("the draft is back", async () => (await box(page).inputValue()) === "precious");
  await box(page).press("Enter");
  await problem(page).getByText("The agent could not be reached.").waitFor();
  await box(page).press("Enter");
  await log(page).getByText("precious").waitFor();
  await waitUntil("the box is empty", async () => (await box(page).inputValue()) === "");
  expect(sent(conversation)).toEqual(Array.from({ length: 4 }, () => "precious"));
  expect(new Set(sentIds(conversation)).size).toBe(1);
});

test("[PG67] what was written in a tab that was closed, or whose agent was started anew, is in the box of the next one, and of no other", async () => {
  const conversation = scriptedConversation();
  const { page, context, server, scripted, uiDir } = await harness.open({ conversation });
  const openAt = async (address: string): Promise<Page> => {
    const tab = await context.newPage();
    await tab.goto(address);
    await box(tab).waitFor();
    return tab;
  };
  await box(page).fill("precious");
  await page.reload();
  const beside = await openAt(server.url);
  expect(await box(beside).inputValue()).toBe("");
  const closed = page.waitForEvent("close");
  await page.close({ runBeforeUnload: true });
  await closed;
  const next = await openAt(server.url);
  expect(await box(next).inputValue()).toBe("precious");
  await problem(next).getByText("You wrote this in another tab").waitFor();
  expect(await box(await openAt(server.url)).inputValue()).toBe("");

  await server.close();
  const secret = "another-secret-of-the-next-start";
  const again = await startUiServer({ desk: conversation.wrap(scripted.desk), host: "127.0.0.1", port: server.port, secret, uiDir });
  onTestFinished(() => again.close());
  await next.getByRole("heading", { name: "of an earlier start" }).waitFor();
  const afterwards = await openAt(again.url);
  expect(await box(afterwards).inputValue()).toBe("precious");
  await box(afterwards).press("Enter");
  await log(afterwards).getByText("precious").waitFor();
  expect(sent(conversation)).toEqual(["precious"]);
});

test("[PG67] a message whose answer was lost is not sent twice", async () => {
  const conversation = scriptedConversation();
  conversation.answer("/api/say", { isCut: true });
  const { page } = await harness.open({ conversation });
  await box(page).fill("arrived");
  await box(page).press("Enter");
  await problem(page).getByText("could not be reached").waitFor();
  conversation.entry(typed(1, "arrived", { id: sentIds(conversation)[0] ?? "" }));
  await waitUntil("the box is empty", async () => (await box(page).inputValue()) === "");
  expect(sent(conversation)).toHaveLength(1);
});

test("[PG68] images come by button, paste and drop, are shown, removable and refused with a reason", async () => {
  const conversation = scriptedConversation();
  const { page, complaints } = await harness.open({ conversation });
  const png = blackPng(8, 8);
  const choose = (name: string, mimeType: string, buffer: Buffer) => page.locator('input[type="file"]').setInputFiles([{ name, mimeType, buffer }]);
  await choose("a.svg", "image/svg+xml", Buffer.from("<svg/>"));
  await problem(page).getByText("Only PNG, JPEG, GIF and WebP images can be sent.").waitFor();
  await box(page).evaluate((element) => {
    const files = new DataTransfer();
    files.items.add(new File([new Uint8Array(5 * 1024 * 1024 + 1)], "big.png", { type: "image/png" }));
    element.dispatchEvent(new DragEvent("drop", { dataTransfer: files, bubbles: true, cancelable: true }));
  });
  await problem(page).getByText("5 MiB at most").waitFor();
  await choose("a.png", "image/png", png);
  const shown = page.getByRole("list", { name: "Images of this message" }).getByRole("img");
  await shown.first().waitFor();
  for (const kind of ["paste", "drop"]) {
    await box(page).evaluate(
      (element, [kind, bytes]) => {
        const files = new DataTransfer();
        files.items.add(new File([new Uint8Array(bytes)], "b.png", { type: "image/png" }));
        const event =
          kind === "paste"
            ? new ClipboardEvent("paste", { clipboardData: files, bubbles: true, cancelable: true })
            : new DragEvent("drop", { dataTransfer: files, bubbles: true, cancelable: true });
        element.dispatchEvent(event);
      },
      [kind, [...png]] as const,
    );
  }
  await waitUntil("three images", async () => (await shown.count()) === 3);
  expect(await shown.first().evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBe(8);
  await page.getByRole("button", { name: "Remove image 2" }).click();
  await waitUntil("two images", async () => (await shown.count()) === 2);
  conversation.answer("/api/images", { status: 415, body: { error: "That is no image." } });
  await choose("c.png", "image/png", png);
  await problem(page).getByText("That is no image.").waitFor();
  await page.getByRole("button", { name: "Send" }).click();
  await waitUntil("both are in the timeline", async () => (await log(page).getByRole("img").count()) === 2);
  const said = conversation.posts.at(-1)?.body as { images: { id: string }[] } | undefined;
  expect(said?.images).toHaveLength(2);
  expect(complaints.filter((complaint) => !complaint.includes("status of 415"))).toEqual([]);
});

test("[PG69] the box says to whom words go, and lets the person choose", async () => {
  const other = { principalId: "grant:2", name: "Claude" };
  const conversation = scriptedConversation({ clients: [{ ...CLAUDE, lastAt: Date.now() }] });
  const { page } = await harness.open({ conversation });
  const write = page.getByRole("region", { name: "Write" });
  await write.getByText("to “Claude”").waitFor();
  conversation.entry(asked(1, "Which colour?"));
  await write.getByText("answers Which colour?").waitFor();
  conversation.set({
    clients: [
      { ...CLAUDE, lastAt: Date.now() },
      { ...other, lastAt: 1 },
    ],
    waiting: { client: other, questionId: null, since: Date.now(), until: Date.now() + 30_000 },
  });
  const to = write.getByRole("combobox", { name: "to" });
  await to.waitFor();
  expect(await to.getByRole("option").allInnerTexts()).toEqual(["“Claude” (…nt:2), who waits", "“Claude” (…nt:1)", "“Claude” (…nt:2)"]);
  await box(page).fill("x");
  await box(page).press("Enter");
  await to.selectOption("grant:1");
  await box(page).fill("y");
  await box(page).press("Enter");
  await waitUntil("both are sent", () => conversation.posts.length === 2);
  expect(conversation.posts.map(({ body }) => (body as { to: unknown }).to)).toEqual(["grant:2", "grant:1"]);
});

test("[PG71] [PG72] a question is answered once, from whichever tab, by option or in own words", async () => {
  const conversation = scriptedConversation({
    entries: [asked(1, "First?", ["Yes", "No"]), ...Array.from({ length: 30 }, (_, index) => said(index + 2, `line ${index}`))],
  });
  const { page, context, server, complaints } = await harness.open({ conversation, browser: { viewport: { width: 1280, height: 800 } } });
  const second = await context.newPage();
  await second.goto(server.url);
  await second.getByRole("button", { name: "1 question waits" }).waitFor();
  await page.getByRole("button", { name: "1 question waits" }).click();
  const card = page.getByRole("article", { name: "Question of “Claude”" });
  expect(await card.evaluate((element) => element === document.activeElement)).toBe(true);
  conversation.answer("/api/answer", { afterMs: 300 });
  await card.getByRole("button", { name: "No", exact: true }).dblclick();
  await card.getByText("Answered.").waitFor();
  expect(conversation.posts).toHaveLength(1);
  expect(conversation.posts[0]?.body).toMatchObject({ questionId: entryId(1), text: "No" });
  await card.getByRole("button", { name: "No (your answer)" }).waitFor();
  await second.getByRole("article").getByText("Answered.").waitFor();
  await waitUntil("nothing waits", async () => (await page.getByRole("button", { name: /question.* wait/ }).count()) === 0);

  conversation.entry(asked(40, "Second?", []));
  conversation.entry(asked(41, "Third?", ["A"], { state: "withdrawn" }));
  conversation.entry(asked(42, "Fourth?", ["A"], { expiresAt: Date.now() - 1 }));
  await page.getByText("Withdrawn: the app took it back, or lost its access.").waitFor();
  await page.getByText("Expired without an answer.").waitFor();
  conversation.answer("/api/answer", { body: { outcome: "answered" } });
  const open = page.getByRole("article").filter({ hasText: "Second?" });
  await open.getByRole("textbox", { name: "Your answer" }).fill("in my words");
  await open.getByRole("textbox", { name: "Your answer" }).press("Enter");
  await open.getByText("Already answered, so this answer was not sent.").waitFor();
  expect(complaints).toEqual([]);
});

test("[PG71] a begun answer outlives a search and a reload, and is shown when another tab was faster", async () => {
  const conversation = scriptedConversation({ entries: [said(1, "apples"), asked(2, "Why?"), asked(3, "Else?")] });
  const { page } = await harness.open({ conversation });
  const field = page.getByRole("article").filter({ hasText: "Why?" }).getByRole("textbox", { name: "Your answer" });
  await field.fill("because of this");
  await page.getByRole("searchbox").fill("apples");
  await waitUntil("the card is out of the way", async () => (await field.count()) === 0);
  await page.getByRole("searchbox").fill("");
  await field.waitFor();
  expect(await field.inputValue()).toBe("because of this");
  await page.reload();
  await field.waitFor();
  expect(await field.inputValue()).toBe("because of this");
  conversation.entry(typed(4, "faster", { questionId: entryId(2) }));
  conversation.entry(asked(2, "Why?", [], { state: "answered" }));
  const unsent = page.getByText("What you had written was not sent:");
  await unsent.waitFor();
  await page.getByRole("article").getByText("because of this").waitFor();
  await page.getByRole("button", { name: "Discard" }).click();
  await waitUntil("it is gone", async () => (await page.getByText("because of this").count()) === 0);

  const other = page.getByRole("article").filter({ hasText: "Else?" });
  await other.getByRole("textbox", { name: "Your answer" }).fill("sent");
  await other.getByRole("button", { name: "Answer" }).click();
  await other.getByText("Answered").waitFor();
  expect(await unsent.count()).toBe(0);
});

test("[PG71] an answer that failed can be sent again, as the same one", async () => {
  const conversation = scriptedConversation({ entries: [asked(1, "Go on?", ["Yes", "No"])] });
  conversation.answer("/api/answer", { isCut: true });
  const { page } = await harness.open({ conversation });
  const card = page.getByRole("article");
  await card.getByRole("button", { name: "Yes" }).click();
  await card.getByText("The agent could not be reached.").waitFor();
  await card.getByRole("button", { name: "Yes" }).click();
  await card.getByText("Answered.").waitFor();
  expect(new Set(sentIds(conversation)).size).toBe(1);
});

test("[PG73] [PG71] new words are announced, take no focus, and everything is done with the keyboard alone", async () => {
  const conversation = scriptedConversation({ entries: [said(1, "old words")] });
  const { page } = await harness.open({ conversation });
  await box(page).focus();
  const announced = page.locator("p.unseen[role=status]");
  conversation.entry(asked(2, "Shall I?", ["Yes", "No"]));
  await announced.getByText("“Claude” asks: Shall I? Answers: Yes; No.").waitFor({ state: "attached" });
  expect(await announced.innerText()).not.toContain("old words");
  expect(await box(page).evaluate((element) => element === document.activeElement)).toBe(true);
  expect(await log(page).getAttribute("aria-live")).toBe("off");
  await page.keyboard.press("Shift+Tab");
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("1 question waits");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Yes");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByRole("article").getByText("Answered.").waitFor();
  expect(conversation.posts[0]?.body).toMatchObject({ text: "No" });
});

test.each([
  ["a desk", { width: 1280, height: 800 }],
  ["a phone", { width: 390, height: 844 }],
])("[PG74] on %s the end stays in view until the person scrolls away, then a button leads back", async (_what, viewport) => {
  const conversation = scriptedConversation({
    entries: Array.from({ length: 60 }, (_, index) => said(index + 1, `line ${index}\n\n- with\n- a list`)),
  });
  const { page } = await harness.open({ conversation, browser: { viewport } });
  const isInView = (text: string): Promise<boolean> =>
    log(page)
      .getByText(text, { exact: true })
      .evaluate((element) => element.getBoundingClientRect().bottom <= (document.querySelector(".desk-end")?.getBoundingClientRect().top ?? 0));
  await log(page).getByText("line 59", { exact: true }).waitFor();
  await waitUntil("the last one is in view", () => isInView("line 59"));
  conversation.entry(said(61, "newest"));
  await log(page).getByText("newest", { exact: true }).waitFor();
  await waitUntil("the new one is in view", () => isInView("newest"));
  await log(page)
    .hover({ position: { x: 100, y: 50 } })
    .catch(() => undefined);
  await page.mouse.move(200, 300);
  await page.mouse.wheel(0, -1_500);
  await page.getByRole("button", { name: "To the end" }).waitFor();
  conversation.entry(said(62, "latest"));
  const button = page.getByRole("button", { name: "New messages" });
  await button.waitFor();
  expect(await isInView("latest")).toBe(false);
  await button.click();
  await waitUntil("the latest one is in view", () => isInView("latest"));
  await waitUntil("the button is gone", async () => (await button.count()) === 0);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBe(0);
});

test.each([
  ["a desk", { width: 1280, height: 800 }],
  ["a phone", { width: 390, height: 844 }],
])("[PG74] on %s images that come later do not push the end out of view", async (_what, viewport) => {
  const png = blackPng(200, 200);
  const images = [1, 2, 3].map((n) => ({ id: entryId(500 + n), mimeType: "image/png" as const, bytes: png.length }));
  const conversation = scriptedConversation({ entries: Array.from({ length: 20 }, (_, index) => said(index + 1, `line ${index}`)) });
  const { page, context } = await harness.open({ conversation, browser: { viewport } });
  await log(page).getByText("line 19", { exact: true }).waitFor();
  await context.route("**/api/images/*", async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 100 * Number(route.request().url().slice(-1))));
    await route.fulfill({ contentType: "image/png", body: png });
  });
  conversation.entry(typed(21, "pictures", { images }));
  conversation.entry(said(22, "the last"));
  await waitUntil("the images are there", async () => (await log(page).locator("img").count()) === 3);
  await waitUntil("the last one is in view", () =>
    log(page)
      .getByText("the last", { exact: true })
      .evaluate((element) => element.getBoundingClientRect().bottom <= (document.querySelector(".desk-end")?.getBoundingClientRect().top ?? 0)),
  );
  expect(await page.getByRole("button", { name: "To the end" }).count()).toBe(0);
});

test("[PG75] with 1,000 entries a key press changes nothing of the timeline, and a piece of output its own row alone", async () => {
  const words = "Some **words** with `code`, $x^2$ and [a link](https://example.com).\n\n- one\n- two\n\n```ts\nconst a = 1;\n```";
  const conversation = scriptedConversation({
    entries: Array.from({ length: 1_000 }, (_, index) => (index % 3 === 2 ? typed(index + 1, "mine") : said(index + 1, words))),
  });
  const { page, desk } = await harness.open({ conversation, browser: { viewport: { width: 1280, height: 800 } } });
  await log(page).locator("math").last().waitFor();
  desk.callStarted({ callId: "1", tool: "bash", args: { command: "make" }, client: "Claude", principalId: "grant:1", at: Date.now() - 5_000 });
  desk.callProgressed({ callId: "1", delta: "first" });
  await log(page).getByText("first").waitFor();
  await box(page).focus();
  await page.evaluate(() => {
    const changed: string[] = [];
    Object.assign(window, { changed });
    const rowOf = (node: Node): Element | null | undefined => (node instanceof Element ? node : node.parentElement)?.closest("[role=log] li");
    const observer = new MutationObserver((records) => records.forEach(({ target }) => changed.push(rowOf(target)?.textContent ?? "no row")));
    const timeline = document.querySelector("[role=log]");
    if (timeline !== null) observer.observe(timeline, { subtree: true, childList: true, characterData: true, attributes: true });
  });
  const takeChanged = (): Promise<string[]> => page.evaluate(() => (window as unknown as { changed: string[] }).changed.splice(0));
  // The running call counts its own seconds; nothing else may move.
  const foreign = (rows: readonly string[]): string[] => rows.filter((row) => !row.includes("make"));
  await box(page).pressSequentially("ten keys!!");
  expect(foreign(await takeChanged())).toEqual([]);
  desk.callProgressed({ callId: "1", delta: "second" });
  await log(page).getByText("second").waitFor();
  const rows = await takeChanged();
  expect(rows.some((row) => row.includes("second"))).toBe(true);
  expect(foreign(rows)).toEqual([]);
});

test("[PG75] a page without a conversation does not load what draws markdown, and has no box", async () => {
  const { page, desk } = await harness.open();
  desk.callStarted({ callId: "1", tool: "ls", args: {}, client: "Claude", principalId: "grant:1", at: Date.now() });
  await log(page).getByRole("button", { name: /ls/ }).waitFor();
  const scripts = await page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => name));
  expect(scripts.filter((name) => name.includes("rich-content"))).toEqual([]);
  expect(await box(page).count()).toBe(0);
});
