/** The page that waits, as its reader sees it to the end: with and without scripts. The client is one that was set up by hand. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { launchChromium } from "../support/chromium.ts";
import { newHome, startPimcp } from "../support/pimcp.ts";
import { startRelayApart } from "../support/relay-apart.ts";

const CLIENT = { PI_AS_MCP_OAUTH_CLIENT_ID: "pimcp-by-hand", PI_AS_MCP_OAUTH_CLIENT_SECRET: "by-hand-secret-0123456789" };
const ADDRESS = "https://nobody-named-this.example/callback?app=1";

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());

async function open(url: string, javaScriptEnabled: boolean): Promise<Page> {
  const context = await browser.newContext({ javaScriptEnabled });
  onTestFinished(() => context.close());
  context.setDefaultTimeout(20_000);
  const page = await context.newPage();
  await page.goto(url);
  return page;
}

function signInAt(origin: string): string {
  const query = new URLSearchParams({ response_type: "code", client_id: CLIENT.PI_AS_MCP_OAUTH_CLIENT_ID, redirect_uri: ADDRESS, state: "s" });
  return `${origin}/authorize?${query}`;
}

describe.each([
  { scripts: "with scripts", javaScriptEnabled: true, heading: "This sign-in is over" },
  { scripts: "without scripts", javaScriptEnabled: false, heading: "This sign-in cannot go on" },
])("the waiting page $scripts", ({ javaScriptEnabled, heading }) => {
  test("[OA26] [OA31] [OA105] [OA110] shows an address nobody named in full, and after a denial its end and nothing else", async () => {
    await using agent = await startPimcp({ env: CLIENT });
    const waiting = await open(signInAt(agent.origin), javaScriptEnabled);
    const text = await waiting.locator("main").innerText();
    for (const part of ["The app you set up by hand, pimcp-by-hand,", ADDRESS, "It would get", "pimcp pending"]) expect(text).toContain(part);
    const desk = await open(agent.pageUrl(), true);
    const card = desk.getByRole("article");
    // Without scripts the page asks for the first time when it reloads itself.
    await card.waitFor();
    expect(await card.innerText()).toContain(ADDRESS);
    await card.getByRole("button", { name: "Deny", exact: true }).click();
    await waiting.getByRole("heading", { name: heading }).waitFor();
    const end = await waiting.locator("main").innerText();
    expect(end).toContain("The person at the workstation did not allow it.");
    for (const part of ["Waiting", "Approve", "code", ADDRESS]) expect(end).not.toContain(part);
    expect(new URL(waiting.url()).origin).toBe(agent.origin);
  });
});

test("[OA30] a page that is open says at once that the workstation has gone, and that it is back", async () => {
  await using relay = await startRelayApart();
  await using home = newHome();
  const first = await relay.dial(home, { env: CLIENT });
  const waiting = await open(signInAt(relay.worker.origin), true);
  const away = waiting.getByText("The workstation is not connected right now.");
  expect(await away.isVisible()).toBe(false);
  await first.stop();
  // Well below the 20 s that a question may wait.
  await away.waitFor({ state: "visible", timeout: 8_000 });
  await using second = await relay.dial(home, { env: CLIENT });
  await away.waitFor({ state: "hidden", timeout: 8_000 });
  const desk = await open(second.pageUrl(), true);
  await desk.getByRole("article").waitFor();
});
