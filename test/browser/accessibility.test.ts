import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { askFor } from "../support/approvals-under-test.ts";
import { exampleGrant, UNGUARDED } from "../support/desk-under-test.ts";
import { PAGE_STATES } from "../support/page-states.ts";
import { pageHarness } from "../support/page-under-test.ts";
import { waitUntil } from "../support/wait-until.ts";

const harness = pageHarness();
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe-core finds that is serious or critical: rule, and the elements. */
async function findings(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const results = await page.evaluate(() => (window as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run());
  const grave = results.violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  expect(results.passes.length).toBeGreaterThan(10);
  return grave.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ""}`));
}

test.each(PAGE_STATES.flatMap((state) => (["light", "dark"] as const).map((scheme) => ({ state, scheme, title: `${state.name}, ${scheme}` }))))(
  "[PG97] axe-core finds nothing serious: $title",
  async ({ state, scheme }) => {
    const conversation = state.conversation?.();
    const { page, server } = await harness.open({
      // The policy would stop the checker's own script; only here is it set aside.
      browser: { colorScheme: scheme, bypassCSP: true, viewport: { width: 1280, height: 860 } },
      ...(conversation === undefined ? {} : { conversation }),
      ...(state.prepare === undefined ? {} : { prepare: state.prepare }),
    });
    await state.reach(page, server);
    // Buttons are dead, and pale, for a moment after a card came.
    await waitUntil(
      "cards are steady",
      async () => (await page.locator(".card button.deny:disabled").count()) === 0 || state.name === "disconnected",
    );
    expect(await findings(page)).toEqual([]);
  },
);

interface Read {
  readonly state: string;
  readonly part: (page: Page) => Locator;
  readonly inOrder: readonly string[];
}

/** What a screen reader is given, in the order in which a person needs it. */
const READ: readonly Read[] = [
  {
    state: "approval",
    part: (page) => page.getByRole("region", { name: "Calls that wait for you" }),
    inOrder: [
      "Waits for your approval: bash of “Claude”",
      'article "bash"',
      'heading "bash"',
      "letters that look like others (2)",
      'region "What would run"',
      "U+0441 looks like c",
      'region "Its other arguments"',
      'textbox "If you deny, why (the agent reads it)"',
      'button "Deny"',
      'button "Allow once"',
      'button "Allow this exact command for the sitting"',
    ],
  },
  {
    state: "authorization",
    part: (page) => page.getByRole("region", { name: "Requests for access" }),
    inOrder: [
      "Access asked: claude.ai",
      'article "claude.ai"',
      'heading "claude.ai"',
      "calls itself “Claude”",
      "never allowed before",
      "run any command as you",
      "Chrome on macOS, Germany",
      "same public address as this workstation: yes",
      "Did you start this just now",
      'textbox "The code its waiting page shows"',
      'button "Deny"',
      'button "Allow"',
    ],
  },
  {
    state: "conversation",
    part: (page) => page.getByRole("main"),
    inOrder: [
      'heading "Conversation"',
      'searchbox "Search the timeline"',
      'checkbox "Hide tools"',
      'log "Conversation and tool calls"',
      "text: “Claude”",
      "I looked at the slow page.",
      '- text: "You:"',
      "Take the first one, please.",
      "text: read",
      "order by' src | head 840 ms done",
      'npm test 840 ms failed" [expanded]',
      "expected 50 rows, got 51",
      "math: O ( n log",
      'button "Copy this code"',
      'article "Question of “Claude”"',
      'list "Answers to choose from"',
      'button "Yes, add it"',
      'textbox "Another answer"',
      'button "1 question waits"',
      'textbox "Message"',
      'button "Add image"',
      "to “Claude” answers Shall I add the index",
      'button "Send"',
    ],
  },
  {
    state: "info",
    part: (page) => page.getByRole("complementary", { name: "Info" }),
    inOrder: [
      "alert",
      "set a token.",
      'heading "Apps with access"',
      "“Claude” at",
      'button "Remove',
      "term: Folder",
      'button "Copy https://relay.example.workers.dev/mcp"',
      "term: Person",
      "term: Wait for your click",
    ],
  },
];

test.each(READ.map((read) => ({ read, name: read.state })))(
  "[PG98] the accessibility tree reads in the order in which it is needed: $name",
  async ({ read }) => {
    const state = PAGE_STATES.find(({ name }) => name === read.state);
    const conversation = state?.conversation?.();
    const { page, server } = await harness.open({
      browser: { viewport: { width: 1280, height: 860 } },
      ...(conversation === undefined ? {} : { conversation }),
      ...(state?.prepare === undefined ? {} : { prepare: state.prepare }),
    });
    await state?.reach(page, server);
    const part = read.part(page);
    // What draws markdown is loaded after the words.
    if (read.state === "conversation") await part.getByRole("button", { name: "Copy this code" }).waitFor();
    const tree = await part.ariaSnapshot();
    let from = 0;
    const missing = read.inOrder.filter((words) => {
      const at = tree.indexOf(words, from);
      if (at !== -1) from = at + words.length;
      return at === -1;
    });
    expect(missing.map((words) => `${words} is not where it belongs in\n${tree}`)).toEqual([]);
  },
);

test("[PG99] with the keyboard alone a call is denied with a reason, another one allowed, and an app's access taken back", async () => {
  const { page, desk, revocations } = await harness.open({
    desk: { approvals: { ...UNGUARDED, guarded: ["bash"] } },
    prepare: ({ grants }) => void grants.push(exampleGrant()),
    browser: { viewport: { width: 1280, height: 860 } },
  });
  await page.getByRole("button", { name: "Remove", exact: true }).waitFor();
  const first = askFor(desk.cards.approvals, "rm -rf build");
  const second = askFor(desk.cards.approvals, "npm test");
  const [denied, allowed] = [page.getByRole("article").first(), page.getByRole("article").last()];
  await waitUntil(
    "the buttons are alive",
    async () => (await page.getByRole("article").count()) === 2 && (await allowed.getByRole("button", { name: "Deny" }).isEnabled()),
  );
  await tabTo(page, "textbox", "If you deny, why (the agent reads it)");
  await page.keyboard.type("Keep the build.");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  expect(await first.answer).toEqual({ allowed: false, text: expect.stringContaining("Keep the build.") as string });
  await denied.getByText("Denied. Nothing was run.").waitFor();
  await waitUntil("the buttons are alive again", () => allowed.getByRole("button", { name: "Allow once" }).isEnabled());
  await tabTo(page, "button", "Allow once");
  await page.keyboard.press("Space");
  expect(await second.answer).toEqual({ allowed: true });
  await tabTo(page, "button", "Remove");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Keep" }).waitFor();
  expect(revocations).toEqual([]);
  await tabTo(page, "button", "Yes, remove");
  await page.keyboard.press("Enter");
  await waitUntil("it was taken back", () => revocations.length === 1);
});

/** Presses Tab until the element with this role and name has the focus. */
async function tabTo(page: Page, role: "button" | "textbox", name: string): Promise<void> {
  const wanted = page.getByRole(role, { name, exact: true });
  for (let presses = 0; presses < 80; presses++) {
    await page.keyboard.press("Tab");
    for (const element of await wanted.all()) if (await element.evaluate((element) => element === document.activeElement)) return;
  }
  throw new Error(`Tab never reached ${role} ${name}`);
}
