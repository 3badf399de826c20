/** The guided acceptance of `npm run accept`, with a script in place of the person: it acts on the real page, as its steps ask. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { play } from "../accept/play.ts";
import { STEPS, type Step } from "../accept/steps.ts";
import { callTool } from "../support/agent-requests.ts";
import { launchChromium } from "../support/chromium.ts";
import { startPimcp } from "../support/pimcp.ts";
import { noisePng } from "../support/png.ts";
import { waitUntil } from "../support/wait-until.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());

/** Counts the notes that the page plays. */
const RECORDER = `
  window.notes = 0;
  const Real = window.OscillatorNode;
  window.OscillatorNode = class extends Real {
    constructor(context, options) { super(context, options); window.notes++; }
  };
`;

interface Sitting {
  readonly page: Page;
  /** The agent need not pause longer. */
  readonly goOn: () => void;
}

const notesOf = (page: Page): Promise<number> => page.evaluate(() => (window as unknown as { notes: number }).notes);
const question = (page: Page, words: string): Locator => page.getByRole("article", { name: /^Question of/ }).filter({ hasText: words });
const yes = (card: Locator): Promise<void> => card.getByRole("button", { name: "Yes", exact: true }).click();

async function write(page: Page, text: string): Promise<void> {
  const box = page.getByRole("textbox", { name: "Message" });
  await box.fill(text);
  await box.press("Enter");
}

/** What the person does at each step, by its title. */
const PERSON: Readonly<Record<string, (sitting: Sitting) => Promise<void>>> = {
  "Markdown and LaTeX are shown": async ({ page }) => {
    const card = question(page, "Is the message above shown");
    await page.getByRole("heading", { name: "Acceptance" }).waitFor();
    await page.getByRole("listitem").filter({ hasText: "a list" }).last().waitFor();
    await page.getByRole("button", { name: /copy/i }).first().waitFor();
    expect(await page.locator(".katex").count()).toBe(2);
    await yes(card);
  },
  "An answer of one's own words arrives as it was typed": async ({ page }) => {
    const card = question(page, "Please type this word");
    const word = await card.locator("code").innerText();
    await card.getByRole("textbox", { name: "Your answer" }).fill(word);
    await card.getByRole("button", { name: "Answer", exact: true }).click();
  },
  "What is typed while the agent is busy arrives together": async ({ page, goOn }) => {
    await page.locator("li.entry").filter({ hasText: "I am busy for 15 seconds now" }).waitFor();
    for (const word of ["one", "two", "three"]) await write(page, word);
    const own = (word: string): Locator => page.locator("li.own").filter({ hasText: word });
    for (const word of ["one", "two", "three"]) await own(word).getByText("queued", { exact: true }).waitFor();
    goOn();
    await own("three").getByText("read", { exact: true }).waitFor();
  },
  "A command waits for its card, and runs once it is allowed": async ({ page }) => {
    const card = page.getByRole("article", { name: "bash" }).filter({ hasText: "echo yes > allowed" });
    await card.getByRole("button", { name: "Allow once" }).click();
    await card.getByText("Allowed this once.").waitFor();
    await card.getByRole("button", { name: "Dismiss" }).click();
  },
  "A denied command does not run, and the reason reaches the agent": async ({ page }) => {
    const card = page.getByRole("article", { name: "bash" }).filter({ hasText: "echo no > denied" });
    await card.getByLabel("If you deny, why").fill("not today");
    await card.getByRole("button", { name: "Deny", exact: true }).click();
    await card.getByText("Denied. Nothing was run.").waitFor();
  },
  "Nothing is lost when the page is reloaded": async ({ page }) => {
    const ask = question(page, "Please reload this page");
    await ask.waitFor();
    const texts = (): Promise<string[]> => page.locator("li.entry .bubble").allInnerTexts();
    const rows = (): Promise<number> => page.getByText("echo yes > allowed").count();
    const before = [await texts(), await rows()];
    await page.reload();
    await ask.waitFor();
    await expect.poll(async () => [await texts(), await rows()], { timeout: 10_000 }).toEqual(before);
    await yes(ask);
  },
  "An image reaches the agent": async ({ page }) => {
    await question(page, "Please paste or drop any picture").waitFor();
    await page.getByRole("textbox", { name: "Message" }).evaluate((box, base64) => {
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      const clipboardData = new DataTransfer();
      clipboardData.items.add(new File([bytes], "picture.png", { type: "image/png" }));
      box.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
    }, noisePng(8, 8).toString("base64"));
    await page.getByRole("button", { name: "Remove image 1" }).waitFor();
    await page.getByRole("button", { name: "Send", exact: true }).click();
  },
  "Sounds, once they are switched on": async ({ page }) => {
    await question(page, "Please switch the bell on").waitFor();
    const bell = page.getByRole("button", { name: "Alerts" });
    await bell.click();
    await waitUntil("the bell is on", async () => (await bell.getAttribute("aria-pressed")) === "true");
    const before = await notesOf(page);
    await yes(question(page, "Please switch the bell on"));
    await question(page, "Did you hear three different sounds").waitFor();
    await waitUntil("three sounds were made", async () => (await notesOf(page)) >= before + 3);
    await yes(question(page, "Did you hear three different sounds"));
  },
};

test("[EE35] every step passes when the person does what it asks", { timeout: 180_000 }, async () => {
  await using agent = await startPimcp({ args: ["--human", "--approve", "bash"] });
  const context = await browser.newContext({ reducedMotion: "reduce" });
  context.setDefaultTimeout(30_000);
  const page = await context.newPage();
  await page.addInitScript(RECORDER);
  await page.goto(agent.pageUrl());
  await page.getByRole("button", { name: "Alerts" }).waitFor();
  let paused = Promise.withResolvers<void>();
  const steps = STEPS.map((step): Step => ({
    title: step.title,
    run: async (remote) => {
      paused = Promise.withResolvers<void>();
      const [problem] = await Promise.all([step.run(remote), PERSON[step.title]?.({ page, goOn: () => paused.resolve() })]);
      return problem;
    },
  }));
  expect(STEPS.map(({ title }) => title)).toEqual(Object.keys(PERSON));
  const printed: string[] = [];
  // The long pause is over when the person has written; the short ones only tell the sounds apart.
  const pause = (ms: number): Promise<void> => (ms > 5000 ? Promise.race([paused.promise, sleep(60_000)]) : sleep(ms / 3));
  const remote = { root: agent.home.root, pause, call: (name: string, args: Record<string, unknown>) => callTool(agent, name, args) };
  const failed = await play(remote, (line) => printed.push(line), steps);
  expect({ failed, printed: printed.filter((line) => line.includes("FAILED")) }).toEqual({ failed: [], printed: [] });
  await page
    .locator("li.entry")
    .filter({ hasText: `All ${STEPS.length} steps passed. Thank you.` })
    .waitFor();
  await context.close();
});
