import { expect, test } from "vitest";
import type { Locator, Page } from "playwright-core";
import type { PendingAuthorization } from "../../shared/authorization.ts";
import { exampleAuthorization, type DeskUnderTest } from "../support/desk-under-test.ts";
import { pageHarness, SECRET } from "../support/page-under-test.ts";
import { waitUntil } from "../support/wait-until.ts";

const harness = pageHarness();
const withOne = ({ desk }: DeskUnderTest): void => desk.setAuthorizations([exampleAuthorization()]);
const withoutCode = ({ desk }: DeskUnderTest): void => desk.setAuthorizations([exampleAuthorization({ codeRequired: false })]);
const card = (page: Page, name = "claude.ai"): Locator => page.getByRole("article", { name });
const button = (page: Page, name: string): Locator => page.getByRole("button", { name, exact: true });
const newAddress = (page: Page): Locator => page.getByRole("region", { name: "New address" }).locator("code");
const code = (page: Page): Locator => page.getByLabel("The code its waiting page shows");

test("[UI40][UI41][UI42] shows everything the person decides on", async () => {
  const { page, complaints } = await harness.open({ prepare: withOne });
  expect(await card(page).getByRole("heading").textContent()).toBe("claude.ai");
  const text = await card(page).innerText();
  for (const part of [
    "calls itself “Claude”, described at claude.ai",
    "first time: never allowed before",
    "read and write files in /home/ada/projects/engine and run any command as you",
    "Access ends after 30 days without use, or when you remove it under Info.",
    "Access goes to this site.",
    "Chrome on macOS, Germany, 1",
    "203.0.113.9 · same public address as this workstation: yes",
    "asked for mcp, openid; gets mcp",
    "Did you start this just now, in that app?",
    "expires in 9:",
  ]) {
    expect(text).toContain(part);
  }
  await card(page).getByText("Details", { exact: true }).click();
  const details = await card(page).getByRole("group").innerText();
  for (const part of [
    "https://claude.ai/api/mcp/auth_callback",
    "https://claude.ai/oauth/mcp-oauth-client-metadata",
    "Scope asked\nmcp, openid",
    "Scope granted\nmcp",
  ]) {
    expect(text).not.toContain(part);
    expect(details).toContain(part);
  }
  expect(complaints).toEqual([]);
});

test("[UI40] the host of a client's document stands apart from its name, and a client without one cannot make it up", async () => {
  const forged = "Claude”, described at claude.ai";
  const { page } = await harness.open({
    prepare: ({ desk }) =>
      desk.setAuthorizations([
        exampleAuthorization({ id: "a", redirectHost: "one.example", clientName: forged, clientId: "https://evil.example/claude.ai" }),
        exampleAuthorization({ id: "b", redirectHost: "two.example", clientName: forged, clientId: "Zq1_registered" }),
        exampleAuthorization({ id: "c", redirectHost: "three.example", clientId: "https://claude.ai@evil.example/<img src=x>" }),
        exampleAuthorization({ id: "d", redirectHost: "four.example", clientId: "http://claude.ai/client" }),
      ]),
  });
  const callers = page.locator(".caller > span:first-child");
  await callers.nth(3).waitFor();
  expect(await callers.allInnerTexts()).toEqual([
    `calls itself “${forged}”, described at evil.example`,
    `calls itself “${forged}”`,
    "calls itself “Claude”, described at an address that cannot be read",
    "calls itself “Claude”",
  ]);
  expect(await callers.locator("strong").allInnerTexts()).toEqual(["evil.example", "an address that cannot be read"]);
});

test("[UI41][UI42] says when it was allowed before, and when the address differs or is not known", async () => {
  const opened = exampleAuthorization().opened;
  const { page, desk } = await harness.open();
  desk.setAuthorizations([
    exampleAuthorization({ id: "a", redirectHost: "one.example", allowedBefore: true, opened: { ...opened, sameAddress: false } }),
    exampleAuthorization({ id: "b", redirectHost: "two.example", opened: { ...opened, sameAddress: null } }),
  ]);
  expect(await card(page, "one.example").innerText()).toMatch(/allowed before[^]*same public address as this workstation: no/);
  expect(await card(page, "two.example").innerText()).toContain("same public address as this workstation: unknown");
});

const ON_LOOPBACK: Partial<PendingAuthorization> = {
  redirectHost: "127.0.0.1:9999",
  redirectUri: "http://127.0.0.1:9999/callback",
  scopeAsked: ["mcp"],
  codeRequired: false,
  opened: { address: "127.0.0.1", country: "", browser: "Chrome on Linux", at: Date.now(), sameAddress: true },
};

test("[UI40][UI41][UI42] a program on this computer is named as one, and what it says of itself is kept short", async () => {
  const { page } = await harness.open({ prepare: ({ desk }) => desk.setAuthorizations([exampleAuthorization(ON_LOOPBACK)]) });
  const text = await card(page, "A program on this computer (127.0.0.1:9999)").innerText();
  expect(text).toContain("on this computer, Chrome on Linux");
  expect(text).not.toMatch(/scope|same public address|Access goes/i);
});

test("[UI40][UI42] on loopback of another computer it is not called this one", async () => {
  const { codeRequired: _, ...elsewhere } = ON_LOOPBACK;
  const { page } = await harness.open({ prepare: ({ desk }) => desk.setAuthorizations([exampleAuthorization(elsewhere)]) });
  const text = await card(page, "A program where the waiting page is open (127.0.0.1:9999)").innerText();
  expect(text).not.toContain("on this computer");
  expect(text).toContain("127.0.0.1 · same public address as this workstation: yes");
});

const BY_HAND: Partial<PendingAuthorization> = {
  redirectHost: "oauth-redirect.example.com",
  redirectUri: "https://oauth-redirect.example.com/r/my-project-1234?from=dialog",
  clientId: "pimcp-h05_kLnEyqe0",
  clientName: "A name that means nothing",
  scopeAsked: ["mcp"],
};

test.each(["dark", "light"] as const)(
  "[UI74] a new address of the client set up by hand stands there in full, with what allowing means, %s",
  async (scheme) => {
    const { page, complaints } = await harness.open({
      browser: { colorScheme: scheme },
      prepare: ({ desk }) => desk.setAuthorizations([exampleAuthorization({ ...BY_HAND, configured: "new", allowedBefore: true })]),
    });
    const asked = card(page, "oauth-redirect.example.com");
    const text = await asked.innerText();
    for (const part of [
      "the client you set up by hand, pimcp-h05_kLnEyqe0",
      "new address: never allowed before",
      "https://oauth-redirect.example.com/r/my-project-1234?from=dialog",
      "the app sent it just now, and allowing is what allows it, from now on. If you did not just start this, deny.",
      "Access ends after 30 days without use",
      "203.0.113.9 · same public address as this workstation: yes",
      "Did you start this just now, in that app?",
    ]) {
      expect(text).toContain(part);
    }
    expect(text).not.toMatch(/calls itself|means nothing/);
    // Read before the buttons are reached.
    const [address, buttons] = [newAddress(page), button(page, "Deny")];
    expect((await address.boundingBox())?.y).toBeLessThan((await buttons.boundingBox())?.y ?? 0);
    expect(complaints).toEqual([]);
  },
);

test("[UI74] a known address of the client set up by hand is said to be one, and is one click away", async () => {
  const { page } = await harness.open({
    prepare: ({ desk }) =>
      desk.setAuthorizations([
        exampleAuthorization({ ...BY_HAND, id: "a", redirectHost: "one.example", configured: "approved" }),
        exampleAuthorization({ ...BY_HAND, id: "b", redirectHost: "two.example", configured: "named" }),
      ]),
  });
  const [approved, named] = [await card(page, "one.example").innerText(), await card(page, "two.example").innerText()];
  expect(approved).toMatch(/set up by hand, pimcp-h05_kLnEyqe0[^]*allowed before[^]*You allowed this very address before\./);
  expect(named).toMatch(/set up by hand, pimcp-h05_kLnEyqe0[^]*first time: never allowed before[^]*This address was named when pimcp was started\./);
  for (const text of [approved, named]) expect(text).not.toMatch(/new address|just now, and allowing|\/r\/my-project/);
});

test("[UI74] [UI50] a new address of any length is shown whole, as text, without sideways scrolling", async () => {
  const long = `https://a.example/<img/src=x>${"a".repeat(1_900)}END`;
  const { page, complaints } = await harness.open({
    browser: { viewport: { width: 375, height: 740 } },
    prepare: ({ desk }) => desk.setAuthorizations([exampleAuthorization({ ...BY_HAND, redirectUri: long, configured: "new" })]),
  });
  expect(await newAddress(page).innerText()).toBe(long);
  expect(await page.getByRole("article").locator("img").count()).toBe(0);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  expect(complaints).toEqual([]);
});

test("[UI44] what was true before the decision is not said any more", async () => {
  const { page } = await harness.open({ prepare: withoutCode });
  await card(page).getByText("first time").waitFor();
  await button(page, "Allow").click();
  await page.getByText("Allowed. The app gets access now.").waitFor();
  expect(await card(page).innerText()).not.toContain("never allowed before");
});

test.each([
  ["without a code", exampleAuthorization(ON_LOOPBACK)],
  ["with a code", exampleAuthorization({ scopeAsked: ["mcp"] })],
])("[UI69] on a phone Deny and Allow are in view without scrolling, %s", async (_, authorization) => {
  const viewport = { width: 375, height: 740 };
  const { page } = await harness.open({ browser: { viewport }, prepare: ({ desk }) => desk.setAuthorizations([authorization]) });
  for (const name of ["Deny", "Allow"]) {
    const box = await button(page, name).boundingBox();
    expect((box?.y ?? Infinity) + (box?.height ?? 0)).toBeLessThanOrEqual(viewport.height);
  }
});

test("[UI43][UI44] Allow is dead until a code is typed, then sends it", async () => {
  const { page, decisions, complaints } = await harness.open({ prepare: withOne });
  await waitUntil("Deny is alive", () => button(page, "Deny").isEnabled());
  expect(await button(page, "Allow").isDisabled()).toBe(true);
  await code(page).fill("  ");
  expect(await button(page, "Allow").isDisabled()).toBe(true);
  await code(page).fill(" KITE-42 ");
  await button(page, "Allow").click();
  await page.getByText("Allowed. The app gets access now.").waitFor();
  expect(decisions).toEqual([{ id: "authorization-1", allow: true, code: "KITE-42" }]);
  expect(await button(page, "Allow").count()).toBe(0);
  await button(page, "Dismiss").click();
  expect(await page.getByRole("article").count()).toBe(0);
  expect(complaints).toEqual([]);
});

test("[UI43][UI44] a loopback issuer asks for no code", async () => {
  const { page, decisions } = await harness.open({ prepare: withoutCode });
  expect(await code(page).count()).toBe(0);
  await button(page, "Allow").click();
  await page.getByText("Allowed. The app gets access now.").waitFor();
  expect(decisions).toEqual([{ id: "authorization-1", allow: true }]);
});

test("[UI44] Deny needs no code", async () => {
  const { page, decisions } = await harness.open({ prepare: withOne });
  await button(page, "Deny").click();
  await page.getByText("Denied. Nothing was handed over.").waitFor();
  expect(decisions).toEqual([{ id: "authorization-1", allow: false }]);
});

test("[UI44] a wrong code ends the request and says how to go on", async () => {
  const { page, decisions } = await harness.open({ prepare: withOne });
  await code(page).fill("OTTER-1");
  await button(page, "Allow").click();
  await page.getByText("Start again in the app").waitFor();
  expect(decisions).toHaveLength(1);
  expect(await code(page).count()).toBe(0);
});

test("[UI45] a new card takes no focus, and Enter, Space and Escape do nothing to it", async () => {
  const { page, desk, decisions } = await harness.open();
  await page.getByRole("heading", { name: "No app has called yet" }).waitFor();
  desk.setAuthorizations([exampleAuthorization({ codeRequired: false })]);
  await card(page).waitFor();
  for (const key of ["Enter", "Space", "Escape"]) await page.keyboard.press(key);
  await waitUntil("Allow is alive", () => button(page, "Allow").isEnabled());
  for (const key of ["Enter", "Space", "Escape"]) await page.keyboard.press(key);
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("BODY");
  await card(page).waitFor();
  expect(decisions).toEqual([]);
});

test("[UI45] Enter in the code field moves to Allow and does not allow", async () => {
  const { page, decisions } = await harness.open({ prepare: withOne });
  await waitUntil("Deny is alive", () => button(page, "Deny").isEnabled());
  await code(page).fill("KITE-42");
  await code(page).focus();
  await page.keyboard.down("Enter");
  // Held: the browser repeats the key, now on the button.
  await page.keyboard.down("Enter");
  await page.keyboard.up("Enter");
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Allow");
  expect(decisions).toEqual([]);
  await page.keyboard.press("Enter");
  await page.getByText("Allowed. The app gets access now.").waitFor();
});

test("[UI46][UI51] a card is decided with the keyboard alone, and never offers Allow first", async () => {
  const { page, decisions } = await harness.open({ prepare: withOne });
  await waitUntil("Deny is alive", () => button(page, "Deny").isEnabled());
  await page.getByRole("region", { name: "Requests for access" }).focus();
  await page.keyboard.press("Tab");
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("INPUT");
  await page.keyboard.type("KITE-42");
  await page.keyboard.press("Tab");
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Deny");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  const outcome = page.getByText("Allowed. The app gets access now.");
  await outcome.waitFor();
  expect(await outcome.evaluate((element) => element === document.activeElement)).toBe(true);
  expect(decisions).toHaveLength(1);
});

test("[UI46] without a code Deny comes first", async () => {
  const { page } = await harness.open({ prepare: withoutCode });
  await waitUntil("Deny is alive", () => button(page, "Deny").isEnabled());
  await page.getByRole("region", { name: "Requests for access" }).focus();
  await page.keyboard.press("Tab");
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Deny");
});

test("[UI47] buttons are dead for a moment after a card came", async () => {
  const { page, desk, decisions } = await harness.open();
  await page.getByRole("heading", { name: "No app has called yet" }).waitFor();
  // Measured in the page: when the card was first seen, and when its Deny came alive.
  const deadMs = page.evaluate(async () => {
    const find = (): HTMLButtonElement | null => document.querySelector("button.deny");
    const frame = (): Promise<number> => new Promise((resolve) => void requestAnimationFrame(resolve));
    while (find() === null) await frame();
    const seen = performance.now();
    const wasDead = find()?.disabled;
    find()?.click();
    while (find()?.disabled !== false) await frame();
    return wasDead === true ? performance.now() - seen : -1;
  });
  desk.setAuthorizations([exampleAuthorization()]);
  expect(await deadMs).toBeGreaterThan(500);
  desk.setAuthorizations([exampleAuthorization(), exampleAuthorization({ id: "second", redirectHost: "two.example" })]);
  await card(page, "two.example").waitFor();
  expect(await card(page).getByRole("button", { name: "Deny" }).isDisabled()).toBe(true);
  expect(decisions).toEqual([]);
});

test("[UI47] buttons are dead for a moment after the details of a card were opened", async () => {
  const { page, decisions } = await harness.open({ prepare: withoutCode });
  await waitUntil("Deny is alive", () => button(page, "Deny").isEnabled());
  await card(page).getByText("Details", { exact: true }).click();
  await waitUntil("Deny is dead", () => button(page, "Deny").isDisabled());
  await waitUntil("Deny is alive again", () => button(page, "Deny").isEnabled());
  expect(decisions).toEqual([]);
});

test("[UI48] a double click sends one decision", async () => {
  const { page, decisions } = await harness.open({ prepare: withoutCode });
  await button(page, "Allow").dblclick();
  await page.getByText("Allowed. The app gets access now.").waitFor();
  expect(decisions).toHaveLength(1);
});

test("[UI48] a second page says what was decided on the first", async () => {
  const { page, context, server, decisions } = await harness.open({ prepare: withOne });
  const second = await context.newPage();
  await second.goto(server.url);
  await card(second).waitFor();
  await button(page, "Deny").click();
  await second.getByText("Denied elsewhere.").waitFor();
  expect(await button(second, "Allow").count()).toBe(0);
  expect(decisions).toHaveLength(1);
});

test("[UI49] an expired card says so and cannot be allowed", async () => {
  const { page, desk } = await harness.open({ prepare: withoutCode });
  await waitUntil("Allow is alive", () => button(page, "Allow").isEnabled());
  desk.setAuthorizations([exampleAuthorization({ codeRequired: false, expiresAt: Date.now() + 500 })]);
  await card(page).getByText("expired", { exact: true }).waitFor();
  expect(await button(page, "Allow").isDisabled()).toBe(true);
});

test("[UI49] a card whose client is gone says that it waits no longer, and nothing is sent", async () => {
  const { page, desk, decisions } = await harness.open({ prepare: withOne });
  await card(page).waitFor();
  desk.setAuthorizations([]);
  await page.getByText("No longer waiting").waitFor();
  expect(await button(page, "Allow").count()).toBe(0);
  expect(decisions).toEqual([]);
});

const HOSTILE = '<img src=x onerror="alert(1)"><script>alert(2)</script><a href="javascript:alert(3)">x</a>';

test("[UI50][UI27][UI65] hostile names and addresses are inert text with nothing hidden", async () => {
  const { page, complaints } = await harness.open({
    prepare: ({ desk }) =>
      desk.setAuthorizations([
        exampleAuthorization({
          clientName: `${HOSTILE}\u202egnp.exe\u200b`,
          redirectHost: `evil.example\u2066${HOSTILE}`,
          redirectUri: `javascript:alert(4)//${HOSTILE}`,
          clientId: HOSTILE,
          scopeAsked: [HOSTILE],
          opened: { address: HOSTILE, country: HOSTILE, browser: HOSTILE, at: Date.now(), sameAddress: null },
        }),
      ]),
  });
  const article = page.getByRole("article");
  await article.waitFor();
  expect(await article.locator("img, script, a, iframe").count()).toBe(0);
  await article.getByText("Details", { exact: true }).click();
  const text = await article.innerText();
  expect(text).toContain(`calls itself “${HOSTILE}‹U+202E›gnp.exe‹U+200B›”`);
  expect(text).toContain(`evil.example‹U+2066›${HOSTILE}`);
  expect(text).toContain("whatever app opens “javascript:” addresses");
  expect(complaints).toEqual([]);
});

test("[UI51] the parts of a card have names for screen readers, and a new one is announced", async () => {
  const { page, desk } = await harness.open();
  await page.getByRole("heading", { name: "No app has called yet" }).waitFor();
  desk.setAuthorizations([exampleAuthorization()]);
  const requests = page.getByRole("region", { name: "Requests for access" });
  await requests.getByText("Access asked: claude.ai").waitFor();
  const tree = await requests.ariaSnapshot();
  for (const part of [
    'article "claude.ai"',
    'heading "claude.ai" [level=2]',
    'textbox "The code its waiting page shows"',
    'button "Deny"',
    'button "Allow"',
  ]) {
    expect(tree).toContain(part);
  }
});

test("[UI54] a decision without an answer leaves the card and says why", async () => {
  let fails = true;
  const { page, decisions } = await harness.open({
    prepare: withoutCode,
    desk: { decide: () => (fails ? Promise.reject(new Error("link lost")) : Promise.resolve({ outcome: "allowed" })) },
  });
  await button(page, "Allow").click();
  await page.getByText("The relay could not be reached.").waitFor();
  fails = false;
  await button(page, "Allow").click();
  await page.getByText("Allowed. The app gets access now.").waitFor();
  expect(decisions).toHaveLength(2);
});

test("[UI30] the secret leaves the address bar and survives a reload, in this tab only", async () => {
  const { page, server } = await harness.open({ prepare: withOne });
  await card(page).waitFor();
  expect(page.url()).toBe(server.bareUrl);
  expect(await page.content()).not.toContain(SECRET);
  await page.reload();
  await card(page).waitFor();
  expect(await page.evaluate(() => [localStorage.length, document.cookie])).toEqual([0, ""]);
});
