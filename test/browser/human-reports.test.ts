/**
 * What users of other programs ran into at the page on which they answer and approve, tried on ours: the real program, its
 * relay, and the page in a browser. A row's number names the report in our collection; the rest is in
 * test/e2e/human-reports.test.ts.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser, BrowserContext, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { callTool, said } from "../support/agent-requests.ts";
import { launchChromium } from "../support/chromium.ts";
import { startPimcp, type Pimcp } from "../support/pimcp.ts";
import { waitUntil } from "../support/wait-until.ts";

let browser: Browser;
let agent: Pimcp;
beforeAll(async () => {
  [browser, agent] = await Promise.all([launchChromium(), startPimcp({ args: ["--human", "--approve", "bash"] })]);
});
afterAll(async () => {
  await browser.close();
  await agent.stop();
  await agent.home.remove();
});

async function newContext(): Promise<BrowserContext> {
  const context = await browser.newContext({ reducedMotion: "reduce" });
  onTestFinished(() => context.close());
  context.setDefaultTimeout(20_000);
  return context;
}

async function open(context?: BrowserContext): Promise<Page> {
  const page = await (context ?? (await newContext())).newPage();
  await page.goto(agent.pageUrl());
  await page.getByRole("button", { name: "Alerts" }).waitFor();
  return page;
}

const card = (page: Page, command: string): Locator => page.getByRole("article", { name: "bash" }).filter({ hasText: command });
const allow = (of: Locator): Locator => of.getByRole("button", { name: "Allow once" });
const ran = (name: string): boolean => existsSync(join(agent.home.root, name));
const alive = (button: Locator): Promise<void> => waitUntil("the button is alive", () => button.isEnabled());

test("[HU82] [HU83] two cards, the page reloaded between them: each call goes on once, and a click in another tab says that it came too late (C09)", async () => {
  const context = await newContext();
  const page = await open(context);
  const other = await open(context);
  const first = callTool(agent, "bash", { command: "echo 1 >> first" });
  const second = callTool(agent, "bash", { command: "echo 2 >> second" });
  await alive(allow(card(other, "echo 1")));
  await allow(card(page, "echo 1")).dblclick();
  expect(await first).toMatchObject({ isError: false });
  await card(other, "echo 1").getByText("Allowed elsewhere. It runs now.").waitFor();
  await page.reload();
  await card(page, "echo 2").waitFor();
  expect(await card(page, "echo 1").count()).toBe(0);
  expect(ran("second")).toBe(false);
  for (const shown of [page, other]) await alive(allow(card(shown, "echo 2")));
  // The slower tab may find its button gone.
  const clicks = [page, other].map((shown) =>
    allow(card(shown, "echo 2"))
      .click({ timeout: 3000 })
      .catch(() => undefined),
  );
  await Promise.all(clicks);
  expect(await second).toMatchObject({ isError: false });
  for (const shown of [page, other]) {
    const outcome = card(shown, "echo 2").getByRole("status");
    await outcome.filter({ hasText: /^Allowed|^It waits no longer/ }).waitFor();
  }
  expect(said(await callTool(agent, "read", { path: "first" }))).toBe("1\n");
  expect(said(await callTool(agent, "read", { path: "second" }))).toBe("2\n");
});

test.for(["legacy", "modern"] as const)("[HU85] a %s client that is gone before the click: nothing runs, and the card says so (C10)", async (era) => {
  const page = await open();
  const client = new AbortController();
  const lost = callTool(agent, "bash", { command: `touch ${era}` }, { era, signal: client.signal }).catch(() => "left");
  await alive(allow(card(page, `touch ${era}`)));
  client.abort();
  expect(await lost).toBe("left");
  await allow(card(page, `touch ${era}`)).click();
  await card(page, `touch ${era}`)
    .getByText("nothing was run")
    .or(card(page, `touch ${era}`).getByText("Nothing was allowed by this page."))
    .waitFor();
  await sleep(500);
  expect(ran(era)).toBe(false);
});

test("[HU82] Enter, Escape and a closed window decide nothing: the card waits, without the focus, until it is denied (C19)", async () => {
  const context = await newContext();
  const page = await open(context);
  const waiting = callTool(agent, "bash", { command: "touch by-key" });
  await alive(allow(card(page, "touch by-key")));
  for (const key of ["Enter", "Escape", " "]) await page.keyboard.press(key);
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("BODY");
  await page.close({ runBeforeUnload: true });
  await sleep(300);
  expect(ran("by-key")).toBe(false);
  const again = await open(context);
  const deny = card(again, "touch by-key").getByRole("button", { name: "Deny", exact: true });
  await alive(deny);
  expect(await again.evaluate(() => document.activeElement?.textContent)).not.toBe("Allow once");
  await deny.click();
  expect(await waiting).toMatchObject({ isError: true });
  expect(ran("by-key")).toBe(false);
});

test("[HU64] a click on an answer is the result of the call that waits, long before its time is over (C08)", async () => {
  const page = await open();
  const answer = callTool(agent, "human_ask", { text: "Confirm here?", options: ["Go", "Stop"] });
  await page.getByRole("timer", { name: "Time left" }).waitFor();
  await page
    .getByRole("article", { name: /^Question of/ })
    .getByRole("button", { name: "Go", exact: true })
    .click();
  expect(said(await answer)).toBe("Go");
});
