import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";
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

test("[PG98] the accessibility tree of a call that waits reads in the order in which it is decided", async () => {
  const approval = PAGE_STATES.find(({ name }) => name === "approval");
  const { page } = await harness.open(approval?.prepare === undefined ? {} : { prepare: approval.prepare });
  await page.getByRole("article", { name: "bash" }).waitFor();
  const tree = await page.getByRole("region", { name: "Calls that wait for you" }).ariaSnapshot();
  const read = [
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
  ];
  const places = read.map((part) => [part, tree.indexOf(part)] as const);
  expect(places.filter(([, at]) => at === -1)).toEqual([]);
  expect(places.map(([, at]) => at)).toEqual(places.map(([, at]) => at).toSorted((a, b) => a - b));
});

test("[PG99] with the keyboard alone a call is denied with a reason, another one allowed, and an app's access taken back", async () => {
  const { page, desk, revocations } = await harness.open({
    desk: { approvals: { ...UNGUARDED, guarded: ["bash"] } },
    prepare: ({ grants }) => void grants.push(exampleGrant()),
    browser: { viewport: { width: 1280, height: 860 } },
  });
  await page.getByRole("button", { name: "Remove", exact: true }).waitFor();
  const first = askFor(desk.approvals, "rm -rf build");
  const second = askFor(desk.approvals, "npm test");
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
