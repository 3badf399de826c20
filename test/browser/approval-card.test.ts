import { expect, test } from "vitest";
import type { Locator, Page } from "playwright-core";
import { startUiServer } from "../../local-agent/ui-server/server.ts";
import { askFor } from "../support/approvals-under-test.ts";
import { EXAMPLE_INFO, exampleAuthorization, UNGUARDED } from "../support/desk-under-test.ts";
import { pageHarness, SECRET } from "../support/page-under-test.ts";
import { answerApprovals, exampleApproval } from "../support/scripted-desk.ts";
import { waitUntil } from "../support/wait-until.ts";

const harness = pageHarness();
const button = (page: Page | Locator, name: string | RegExp): Locator =>
  page.getByRole("button", typeof name === "string" ? { name, exact: true } : { name });
const command = (page: Page): Locator => page.getByRole("region", { name: "What would run" });
const SITTING = "Allow this exact command for the sitting";

test("[PG80] a card above the timeline shows who asks, the tool, the whole command and its other arguments", async () => {
  const text = `cat > notes.md <<'END'\n${"a line of the note\n".repeat(300)}END\nrm -rf build`;
  const { page, complaints, scripted, desk } = await harness.open();
  desk.callStarted({ callId: "1", tool: "ls", args: {}, client: "Claude", principalId: "grant:1", at: Date.now() });
  scripted.setApprovals([exampleApproval({ text, client: '“<img src=x onerror="alert(1)">\u202e”', beside: '{"timeout":600}' })]);
  const card = page.getByRole("article", { name: "bash" });
  await card.waitFor();
  expect(await command(page).innerText()).toBe(text);
  expect(await card.innerText()).toContain('asked by “<img src=x onerror="alert(1)">‹U+202E›”');
  expect(await page.getByRole("region", { name: "Its other arguments" }).innerText()).toBe('{"timeout":600}');
  expect(await command(page).evaluate((element) => element.scrollHeight > element.clientHeight)).toBe(true);
  await card.getByText("It goes on below: scroll in it").waitFor();
  expect((await card.boundingBox())?.y).toBeLessThan((await page.getByRole("log").boundingBox())?.y ?? 0);
  expect(await page.title()).toBe("(1) Approval asked · pi-relay");
  await page.getByRole("link", { name: "1 request waits" }).waitFor();
  expect(complaints).toEqual([]);
});

test("[PG81][PG82] what hides, reorders, imitates or pushes out of sight is marked, and a sentence says so", async () => {
  const { page, scripted, complaints } = await harness.open({ browser: { viewport: { width: 390, height: 800 } } });
  scripted.setApprovals([exampleApproval({ text: `\u0441url x\u202e${" ".repeat(500)}; rm -rf ~${"\n".repeat(100)}echo end \u200b` })]);
  expect(await command(page).innerText()).toBe("\u0441U+0441 looks like curl x‹U+202E›‹500 blanks›; rm -rf ~\n‹99 blank lines›\necho end ‹U+200B›");
  expect(await page.locator("mark.look-alike").innerText()).toBe("\u0441U+0441 looks like c");
  const text = await page.getByRole("article").innerText();
  for (const part of ["letters that look like others (1)", "cannot be seen (2)", "long runs of blanks"]) expect(text).toContain(part);
  expect(await command(page).evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBe(0);
  expect(complaints).toEqual([]);
});

test("[PG81] words written from right to left stand in the order of the command", async () => {
  const { page, scripted } = await harness.open();
  scripted.setApprovals([exampleApproval({ text: "mv \u05d0\u05d1\u05d2 -- 1/2 \u0634\u0633 3" })]);
  await command(page).waitFor();
  const lefts = await command(page).evaluate((element) => {
    const text = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    const found: number[] = [];
    for (let node = text.nextNode(); node !== null; node = text.nextNode()) {
      const range = document.createRange();
      range.selectNodeContents(node);
      found.push(range.getBoundingClientRect().left);
    }
    return found;
  });
  expect(lefts).toEqual(lefts.toSorted((a, b) => a - b));
  expect(lefts).toHaveLength(5);
  expect(await page.getByText("It goes on below").count()).toBe(0);
});

test("[PG83] a command longer than its card cannot be allowed before all of it was loaded; denying needs no more", async () => {
  const { page, scripted } = await harness.open();
  const whole = `${"echo x\n".repeat(5_000)}rm -rf ~`;
  let isAway = true;
  await page.route("**/api/approvals/*", (route) =>
    isAway ? route.fulfill({ status: 503, json: { error: "Not now: scripted." } }) : route.fulfill({ json: { text: whole, beside: "" } }),
  );
  const decisions = await answerApprovals(page, () => "allowed");
  scripted.setApprovals([exampleApproval({ text: whole.slice(0, 16_384), totalChars: whole.length })]);
  await waitUntil("Deny is alive", () => button(page, "Deny").isEnabled());
  expect(await button(page, "Allow once").isDisabled()).toBe(true);
  expect(await button(page, SITTING).isDisabled()).toBe(true);
  await button(page, "Show all 35,008 characters").click();
  await page.getByText("Not now: scripted.").waitFor();
  expect(await button(page, "Allow once").isDisabled()).toBe(true);
  isAway = false;
  await button(page, "Show all 35,008 characters").click();
  await waitUntil("all is shown", async () => (await command(page).innerText()) === whole);
  await button(page, "Allow once").click();
  await page.getByText("Allowed this once. It runs now.").waitFor();
  expect(decisions).toEqual([{ id: "approval-1", decision: "once" }]);
});

test("[PG84] each button sends its decision, and the reason of a denial goes with it and with nothing else", async () => {
  const { page, scripted } = await harness.open();
  const decisions = await answerApprovals(page, ({ decision }) => (decision === "deny" ? "denied" : "allowed"));
  scripted.setApprovals(["a", "b", "c"].map((id) => exampleApproval({ id, tool: `tool-${id}` })));
  const card = (id: string): Locator => page.getByRole("article", { name: `tool-${id}` });
  await card("a").getByLabel("If you deny, why").fill("Use the test database.");
  await button(card("a"), "Deny").click();
  await card("a").getByText("Denied. Nothing was run.").waitFor();
  await card("b").getByLabel("If you deny, why").fill("not sent");
  await button(card("b"), SITTING).click();
  await card("b").getByText("this exact command of this client from now on").waitFor();
  await button(card("c"), "Allow once").click();
  await card("c").getByText("Allowed this once.").waitFor();
  expect(decisions).toEqual([
    { id: "a", decision: "deny", reason: "Use the test database." },
    { id: "b", decision: "sitting" },
    { id: "c", decision: "once" },
  ]);
  await button(card("b"), "Dismiss").click();
  expect(await page.getByRole("article").count()).toBe(2);
});

test("[PG85] a new card takes no focus, Enter and Escape do nothing to it, and Deny comes before Allow (C19)", async () => {
  const { page, scripted } = await harness.open();
  const decisions = await answerApprovals(page, () => "allowed");
  await button(page, "Info").focus();
  scripted.setApprovals([exampleApproval()]);
  await waitUntil("the buttons are alive", () => button(page, "Allow once").isEnabled());
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Info");
  await page.locator("#approvals").focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  const reached: string[] = [];
  for (let presses = 0; presses < 5; presses++) {
    await page.keyboard.press("Tab");
    reached.push(await page.evaluate(() => document.activeElement?.ariaLabel ?? document.activeElement?.id.replace(/.+/, "reason") ?? ""));
    if (presses < 2) await page.keyboard.press("Escape");
  }
  expect(reached.slice(0, 2)).toEqual(["What would run", "reason"]);
  await page.getByLabel("If you deny, why").press("Enter");
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Deny");
  expect(decisions).toEqual([]);
  await page.keyboard.press("Tab");
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Allow once");
  await page.keyboard.press("Enter");
  await page.getByText("Allowed this once.").waitFor();
  expect(decisions).toEqual([{ id: "approval-1", decision: "once" }]);
});

test("[PG86] its buttons are dead for a moment after any card came, and alive after it", async () => {
  const { page, scripted, desk } = await harness.open();
  scripted.setApprovals([exampleApproval()]);
  await waitUntil("the buttons are alive", () => button(page, "Allow once").isEnabled());
  desk.setAuthorizations([exampleAuthorization({ codeRequired: false })]);
  await waitUntil("the buttons are dead", () => button(page, "Allow once").isDisabled());
  await waitUntil("the buttons are alive again", () => button(page, "Allow once").isEnabled());
  scripted.setApprovals([exampleApproval(), exampleApproval({ id: "second", tool: "write" })]);
  await waitUntil("the first card's buttons are dead", () => button(page, "Allow once").first().isDisabled());
  expect(await page.getByRole("article").count()).toBe(3);
});

test("[PG87] a double click sends one decision, and without an answer the card waits on with the reason (C09)", async () => {
  const { page, scripted } = await harness.open();
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  let isFirst = true;
  const decisions = await answerApprovals(page, async () => {
    await held;
    if (!isFirst) return "allowed";
    isFirst = false;
    return 503;
  });
  scripted.setApprovals([exampleApproval()]);
  await button(page, "Allow once").dblclick();
  await button(page, "Allowing …").waitFor();
  expect(await button(page, "Deny").isDisabled()).toBe(true);
  release();
  await page.getByText("The agent could not decide: scripted.").waitFor();
  expect(decisions).toHaveLength(1);
  await button(page, "Allow once").click();
  await page.getByText("Allowed this once.").waitFor();
  expect(decisions).toHaveLength(2);
});

test("[PG88] two open pages agree, and a card whose call is over says that nothing was run, until it is dismissed (C09, C10)", async () => {
  const { page, context, server, scripted } = await harness.open();
  scripted.setApprovals([
    exampleApproval({ id: "a", tool: "one" }),
    exampleApproval({ id: "b", tool: "two" }),
    exampleApproval({ id: "c", tool: "three" }),
  ]);
  const second = await context.newPage();
  await second.goto(server.url);
  await answerApprovals(page, () => "gone");
  await button(second.getByRole("article", { name: "two" }), "Deny").waitFor();
  scripted.endApproval("a", "withdrawn");
  scripted.endApproval("b", "allowed");
  for (const shown of [page, second]) {
    await shown.getByText("Its call is over, nothing was run.").waitFor();
    await shown.getByText("Allowed elsewhere. It runs now.").waitFor();
  }
  await button(page.getByRole("article", { name: "three" }), "Allow once").click();
  await page.getByText("It waits no longer: it was decided elsewhere, or its call is over.").waitFor();
  scripted.endApproval("c", "denied");
  await page.getByText("Denied elsewhere. Nothing was run.").waitFor();
  await second.getByText("Denied elsewhere. Nothing was run.").waitFor();
  expect(
    await page
      .getByRole("article")
      .getByRole("button", { name: /Allow|Deny/ })
      .count(),
  ).toBe(0);
  for (let left = 3; left > 0; left--) await button(page, "Dismiss").first().click();
  expect(await page.getByRole("article").count()).toBe(0);
});

test("[PG88] what was decided here takes a line and leaves by itself once nothing waits; what ended otherwise stays", async () => {
  const { page, scripted } = await harness.open();
  await answerApprovals(page, ({ decision }) => (decision === "deny" ? "denied" : "allowed"));
  scripted.setApprovals(["a", "b", "c"].map((id) => exampleApproval({ id, tool: `tool-${id}`, text: "one\ntwo\nthree\nfour" })));
  const card = (id: string): Locator => page.getByRole("article", { name: `tool-${id}` });
  const height = async (id: string): Promise<number> => (await card(id).boundingBox())?.height ?? 0;
  await waitUntil("the buttons are alive", () => button(card("a"), "Allow once").isEnabled());
  const whole = await height("a");
  await button(card("a"), "Allow once").click();
  await card("a").getByText("Allowed this once.").waitFor();
  expect(await height("a")).toBeLessThan(whole / 3);
  scripted.endApproval("b", "withdrawn");
  await waitUntil("the buttons are alive", () => button(card("c"), "Deny").isEnabled());
  expect(await card("a").count()).toBe(1);
  await button(card("c"), "Deny").click();
  await card("c").getByText("Denied. Nothing was run.").waitFor();
  await waitUntil("what was decided here has left", async () => (await page.getByRole("article").count()) === 1, 30_000);
  await card("b").getByText("Its call is over, nothing was run.").waitFor();
});

test("[PG88] a card that ended while the page was away says so when it is back, and nothing can be decided meanwhile", async () => {
  const { page, server, scripted, uiDir } = await harness.open();
  scripted.setApprovals([exampleApproval({ id: "a", tool: "one" })]);
  await waitUntil("Deny is alive", () => button(page, "Deny").isEnabled());
  await server.close();
  await waitUntil("Deny is dead", () => button(page, "Deny").isDisabled());
  scripted.setApprovals([exampleApproval({ id: "b", tool: "two" })]);
  const again = await startUiServer({ desk: scripted.desk, host: "127.0.0.1", port: server.port, secret: SECRET, uiDir });
  try {
    await page.getByRole("article", { name: "two" }).waitFor();
    await page.getByRole("article", { name: "one" }).getByText("It waits no longer").waitFor();
    expect(await page.title()).toBe("(1) Approval asked · pi-relay");
  } finally {
    await again.close();
  }
});

test("[PG83][PG84] with the agent's own gate: a long call is loaded whole and runs once allowed, and a withdrawn one does not", async () => {
  const { page, desk, complaints } = await harness.open({ desk: { approvals: { ...UNGUARDED, guarded: ["bash"] } } });
  const long = `${"echo x\n".repeat(5_000)}rm -rf ~`;
  const first = askFor(desk.cards.approvals, long, { args: { command: long, note: "n".repeat(20_000) } });
  await waitUntil("Deny is alive", () => button(page, "Deny").isEnabled());
  expect(await button(page, "Allow once").isDisabled()).toBe(true);
  await button(page, /^Show all [\d,]+ characters$/).click();
  await waitUntil("all is shown", async () => (await command(page).innerText()) === long);
  expect(await page.getByRole("region", { name: "Its other arguments" }).innerText()).toContain(`"${"n".repeat(20_000)}"`);
  await waitUntil("the button is alive", () => button(page, "Allow once").isEnabled());
  await button(page, "Allow once").click();
  expect(await first.answer).toEqual({ allowed: true });
  await page.getByText("Allowed this once. It runs now.").waitFor();
  await button(page, "Dismiss").click();
  const second = askFor(desk.cards.approvals, "sleep 9");
  await button(page, "Allow once").waitFor();
  second.end.abort();
  await page.getByText("Its call is over, nothing was run.").waitFor();
  expect(await second.answer).toMatchObject({ allowed: false });
  expect(complaints).toEqual([]);
});

test("[PG77] the info panel counts the calls that are allowed for the sitting, and has them wait for a click again", async () => {
  const { page, desk, complaints } = await harness.open({
    desk: { approvals: { ...UNGUARDED, guarded: ["bash"] }, info: { ...EXAMPLE_INFO, approve: ["bash"] } },
    browser: { viewport: { width: 1280, height: 860 } },
  });
  await page.getByText("Nothing is allowed for the sitting.").waitFor();
  const first = askFor(desk.cards.approvals, "make");
  await waitUntil("the button is alive", () => button(page, SITTING).isEnabled());
  await button(page, SITTING).click();
  expect(await first.answer).toEqual({ allowed: true });
  await page.getByText("1 exact call is allowed for the sitting, without a click.").waitFor();
  expect(await askFor(desk.cards.approvals, "make").answer).toEqual({ allowed: true });
  await button(page, "Ask me again").click();
  await page.getByText("Nothing is allowed for the sitting.").waitFor();
  void askFor(desk.cards.approvals, "make");
  await page.getByRole("article", { name: "bash" }).getByRole("button", { name: "Deny" }).waitFor();
  expect(complaints).toEqual([]);
});

test("[UI60] the row of a call says that it waits for a click, until it may run", async () => {
  const { page, desk, scripted } = await harness.open();
  desk.callStarted({ callId: "call-1", tool: "bash", args: { command: "make" }, client: "Claude", principalId: "grant:1", at: Date.now() });
  desk.callStarted({ callId: "call-2", tool: "bash", args: { command: "ls" }, client: "Claude", principalId: "grant:1", at: Date.now() });
  scripted.setApprovals([exampleApproval({ text: "make" })]);
  await button(page, /bash make waits for you not run yet$/).waitFor();
  await button(page, /bash ls .*running$/).waitFor();
  scripted.endApproval("approval-1", "allowed");
  await button(page, /bash make .*running$/).waitFor();
  expect(await button(page, /waits for you/).count()).toBe(0);
});
