import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import type { Grant } from "../../shared/authorization.ts";
import { exampleGrant, type DeskUnderTest } from "../support/desk-under-test.ts";
import { pageHarness } from "../support/page-under-test.ts";

const harness = pageHarness();
const section = (page: Page) => page.getByRole("region", { name: "Apps with access" });
const entries = (page: Page) => section(page).getByRole("listitem");
const button = (page: Page, name: string) => section(page).getByRole("button", { name, exact: true });
const two = ({ grants }: DeskUnderTest): void =>
  void grants.push(
    exampleGrant(),
    exampleGrant({
      id: "grant-2",
      clientName: "<img src=x onerror=alert(1)>\u202eevil",
      redirectHost: "other.example",
      lastUsedAt: null,
      scope: ["mcp", "<b>\u200b"],
    }),
  );

test("[UI71] lists who has access, in their own quoted words, as text", async () => {
  const { page, desk, grants, complaints } = await harness.open({ prepare: two });
  await entries(page).nth(1).waitFor();
  expect(await entries(page).nth(0).innerText()).toMatch(
    /^“Claude” at claude\.ai\s+allowed \d{4}-\d\d-\d\d \d\d:\d\d · used in the last hour · ends \d{4}-\d\d-\d\d \d\d:\d\d unless the app renews it · scope mcp\s+id grant-1\s+Remove$/,
  );
  const strange = await entries(page).nth(1).innerText();
  for (const part of ["“<img src=x onerror=alert(1)>‹U+202E›evil”", "other.example", "never used", "scope mcp, <b>‹U+200B›", "id grant-2"])
    expect(strange).toContain(part);
  grants.push(exampleGrant({ id: "grant-3", clientName: "Cursor", redirectHost: "cursor://anysphere" }));
  desk.grantsChanged();
  await section(page).getByText("cursor://anysphere").waitFor();
  expect(complaints).toEqual([]);
});

test("[UI71] two of one name and address are told apart by what pimcp revoke takes", async () => {
  const { page, revocations } = await harness.open({
    prepare: ({ grants }) => void grants.push(exampleGrant({ id: "Xk3fQ0aLz9PvT1bn" }), exampleGrant({ id: "Xk3fQ0aLz9PvT1bm" })),
  });
  const last = entries(page).filter({ hasText: "id Xk3fQ0aLz9PvT1bm" });
  await last.getByRole("button", { name: "Remove", exact: true }).click();
  await last.getByRole("button", { name: "Yes, remove", exact: true }).click();
  await expect.poll(() => entries(page).count()).toBe(1);
  expect(revocations).toEqual([{ ids: ["Xk3fQ0aLz9PvT1bm"] }]);
  expect(await entries(page).innerText()).toContain("id Xk3fQ0aLz9PvT1bn");
});

test("[UI71] [UI66] the list fits a phone's width, whatever is in it", async () => {
  const long = "a".repeat(400);
  const { page } = await harness.open({
    browser: { viewport: { width: 375, height: 740 } },
    prepare: ({ grants }) => void grants.push(exampleGrant({ id: long, clientName: long, redirectHost: long, scope: [long] })),
  });
  await page.getByRole("button", { name: "Info", exact: true }).click();
  await entries(page).first().waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
});

test("[UI71] says that nobody has, and asks anew when the panel is opened", async () => {
  const { page, grants } = await harness.open();
  await section(page).getByText("None. Clients with the token are not listed.").waitFor();
  grants.push(exampleGrant());
  await page.getByRole("button", { name: "Info", exact: true }).click();
  await page.getByRole("button", { name: "Info", exact: true }).click();
  await expect.poll(() => entries(page).count()).toBe(1);
});

test("[UI73] Remove asks once more, and a double click or Keep removes nothing", async () => {
  const { page, grants, revocations, complaints } = await harness.open({ prepare: two });
  const first = entries(page).first();
  await first.getByRole("button", { name: "Remove" }).dblclick();
  await first.getByRole("button", { name: "Remove", exact: true }).waitFor();
  await first.getByRole("button", { name: "Remove" }).click();
  expect(await first.getByRole("button").first().innerText()).toBe("Keep");
  await page.keyboard.press("Enter");
  await first.getByRole("button", { name: "Remove", exact: true }).waitFor();
  expect(revocations).toEqual([]);
  await first.getByRole("button", { name: "Remove" }).click();
  await first.getByRole("button", { name: "Yes, remove", exact: true }).click();
  await expect.poll(() => entries(page).count()).toBe(1);
  expect(await entries(page).innerText()).toContain("other.example");
  expect([revocations, grants.map(({ id }) => id)]).toEqual([[{ ids: ["grant-1"] }], ["grant-2"]]);
  expect(await button(page, "Remove all").count()).toBe(0);
  expect(complaints).toEqual([]);
});

test("[UI73] Remove all asks once more, and every open page sees that nobody is left", async () => {
  const { page, context, server, revocations } = await harness.open({ prepare: two });
  const other = await context.newPage();
  await other.goto(server.url);
  await entries(other).nth(1).waitFor();
  await button(page, "Remove all").click();
  expect(revocations).toEqual([]);
  await button(page, "Yes, remove all").click();
  for (const each of [page, other]) await section(each).getByText("None. Clients with the token").waitFor();
  expect(revocations).toEqual([{ ids: "all" }]);
});

test("[UI73] a failure is said, and the list stays", async () => {
  const kept: Grant[] = [exampleGrant()];
  const away = (): Promise<never> => Promise.reject(new Error("the relay is not connected right now"));
  const { page } = await harness.open({ desk: { grants: { list: () => Promise.resolve(kept), revoke: away } } });
  await button(page, "Remove").click();
  await button(page, "Yes, remove").click();
  await section(page).getByText("The relay could not be asked: the relay is not connected right now.").waitFor();
  expect(await entries(page).count()).toBe(1);
});

test("[UI73] while the relay is away nothing can be removed", async () => {
  const { page, desk } = await harness.open({ prepare: two });
  await entries(page).nth(1).waitFor();
  desk.setLink({ at: "waiting", since: Date.now(), retryAt: Date.now() + 60_000, reason: "gone" });
  await expect.poll(() => button(page, "Remove all").isDisabled()).toBe(true);
});
