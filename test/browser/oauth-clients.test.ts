/** Clients that people have sign in with one click, and are not asked again when their access has expired. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { launchChromium } from "../support/chromium.ts";
import { HOUR_MS, MOVED_CLOCK_ENTRY, pass } from "../support/moved-clock.ts";
import { newHome, type Home, type Pimcp } from "../support/pimcp.ts";
import { startRelayApart, type RelayApart } from "../support/relay-apart.ts";
import { startInspector, startMcpRemote, startPiClient, startSdkClient, type StartClient } from "../support/signing-in-clients.ts";
import { waitUntil } from "../support/wait-until.ts";

let browser: Browser;
let relay: RelayApart;
let home: Home;
let agent: Pimcp;
beforeAll(async () => {
  browser = await launchChromium();
  relay = await startRelayApart({ entry: MOVED_CLOCK_ENTRY });
  home = newHome();
  agent = await relay.dial(home);
});
afterAll(async () => {
  await agent.stop();
  await home.remove();
  await relay[Symbol.asyncDispose]();
  await browser.close();
});

async function openPage(url: string): Promise<Page> {
  const context = await browser.newContext();
  onTestFinished(() => context.close());
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  await page.goto(url);
  return page;
}

/** What the relay answers to this access token. */
async function statusOf(token: string | undefined): Promise<number> {
  const answer = await fetch(relay.url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", authorization: `Bearer ${token}` },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  });
  await answer.text();
  return answer.status;
}

test.for<readonly [program: string, callsItself: string, start: StartClient]>([
  ["SDK v2", "A test client", startSdkClient],
  ["Pi", "Pi", startPiClient],
  ["mcp-remote", "MCP CLI Proxy", startMcpRemote],
  ["MCP Inspector", "MCP Inspector", startInspector],
])("[EE20] [OA58] %s signs in with one click, and needs no second one when its access has expired", async ([, callsItself, start]) => {
  await using client = await start(relay.url, home);
  const first = client.run("echo first");
  first.catch(() => undefined); // Looked at below; until then a failure is not unhandled.
  await Promise.race([first, waitUntil("it opens a browser", () => client.opened().length > 0, 40_000)]);
  const address = new URL(client.opened()[0] ?? "");
  const waiting = await openPage(address.href);
  const desk = await openPage(agent.pageUrl());
  const allow = desk.getByRole("article").getByRole("button", { name: "Allow", exact: true });
  expect(await desk.getByRole("article").innerText()).toContain(`calls itself “${callsItself}”`);
  await allow.click();
  expect(await first).toBe("first\n");
  await waiting.waitForURL(`${address.searchParams.get("redirect_uri")}?**`);

  const expired = client.accessToken();
  expect(await statusOf(expired)).toBe(200);
  await pass(relay.worker.origin, 12 * HOUR_MS + 60_000);
  expect(await statusOf(expired)).toBe(401);
  expect(await client.run("echo second")).toBe("second\n");
  expect(await statusOf(client.accessToken())).toBe(200);
  expect(client.opened()).toHaveLength(1);
  expect(await allow.count()).toBe(0);
});
