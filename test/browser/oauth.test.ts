/** Signing in with a real client and a real browser: one page waits at the relay, another, the workstation's own, decides. */
import { Response as RelayResponse } from "miniflare";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { launchChromium } from "../support/chromium.ts";
import { mappedFetch } from "../support/mapped-fetch.ts";
import { HOUR_MS, MOVED_CLOCK_ENTRY, pass } from "../support/moved-clock.ts";
import { OAuthClient } from "../support/oauth-client.ts";
import { freePort } from "../support/free-port.ts";
import { commandLine, newHome, startPimcp, type Pimcp } from "../support/pimcp.ts";
import { certificateFile, startRelayApart, type RelayApart } from "../support/relay-apart.ts";
import { waitUntil } from "../support/wait-until.ts";

/** A public name for a relay on this machine. */
const PUBLIC_NAME = "relay.example";
let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium([`--host-resolver-rules=MAP ${PUBLIC_NAME} 127.0.0.1`]);
});
afterAll(() => browser.close());

/** A page of a browser that knows nothing of the others: another person's, or another profile. */
async function openPage(url: string): Promise<Page> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  onTestFinished(() => context.close());
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  await page.goto(url);
  return page;
}

const card = (page: Page) => page.getByRole("article");
const press = (page: Page, name: "Allow" | "Deny") => card(page).getByRole("button", { name, exact: true }).click();

/** Signs in from nothing: the client finds out by itself where, the person allows it on the workstation's page. */
async function signIn(client: OAuthClient, agent: Pimcp): Promise<void> {
  expect(await client.connect()).toBeUndefined();
  const waiting = await openPage(client.opened.at(-1)?.href ?? "");
  const desk = await openPage(agent.pageUrl());
  expect(await card(desk).innerText()).toContain("calls itself “A test client”");
  await press(desk, "Allow");
  await client.finish(await client.callback());
  expect(await waiting.innerText("body")).toBe("You are signed in.");
}

/** Works with what the client keeps, without asking anybody. */
async function works(client: OAuthClient): Promise<void> {
  const asked = client.opened.length;
  const connected = await client.connect();
  const result = await connected?.callTool({ name: "bash", arguments: { command: "echo works" } });
  await connected?.close();
  expect(result?.content).toEqual([{ type: "text", text: "works\n" }]);
  expect(client.opened).toHaveLength(asked);
}

/** As when twelve hours have passed: the access token is refused, the refresh token is left. */
function forgetAccess(client: OAuthClient): void {
  if (client.kept !== undefined) client.kept = { ...client.kept, access_token: "expired" };
}

describe("a client that is given the URL only", () => {
  test.for(["v2", "v1"] as const)("[EE20] [OA1] [OA12] [OA35] SDK %s: is allowed by a click, works, and renews its access by itself", async (sdk) => {
    await using agent = await startPimcp();
    await using client = await OAuthClient.start({ url: agent.url, sdk });
    await signIn(client, agent);
    await works(client);
    const first = client.kept;
    forgetAccess(client);
    await works(client);
    expect(client.kept?.access_token).not.toBe(first?.access_token);
    expect(client.kept?.refresh_token).not.toBe(first?.refresh_token);
  });

  test("[EE20] [OA38] is told access_denied when the person denies it, and gets nothing", async () => {
    await using agent = await startPimcp();
    await using client = await OAuthClient.start({ url: agent.url });
    expect(await client.connect()).toBeUndefined();
    await openPage(client.opened[0]?.href ?? "");
    const desk = await openPage(agent.pageUrl());
    await press(desk, "Deny");
    const params = await client.callback();
    expect([params.get("error"), params.get("code")]).toEqual(["access_denied", null]);
    await expect(client.finish(params)).rejects.toThrow();
    expect(client.kept).toBeUndefined();
    await desk.getByText("Denied. Nothing was handed over.").waitFor();
  });

  test("[EE20] [UI60] what it then does is seen on the page", async () => {
    await using agent = await startPimcp();
    await using client = await OAuthClient.start({ url: agent.url });
    await signIn(client, agent);
    const desk = await openPage(agent.pageUrl());
    await works(client);
    const row = desk.getByText("echo works");
    await row.waitFor();
    expect(await row.count()).toBe(1);
  });
});

describe("what was granted", () => {
  test("[EE21] [ER3] outlives a restart of the agent, of the relay's process, and of both, without a question", async () => {
    await using home = newHome();
    const args = ["--port", String(await freePort()), "--ui-port", String(await freePort())];
    const first = await startPimcp({ home, args });
    await using client = await OAuthClient.start({ url: first.url });
    await signIn(client, first);
    const registered = client.information;

    const relay = first.child("bin/workerd");
    process.kill(first.child("embedded-relay-child"), "SIGKILL");
    await waitUntil("the relay's process is gone", () => commandLine(relay) === "");
    await waitUntil("the relay is back", async () => (await fetch(`${first.origin}/healthz`).catch(() => null))?.status === 200, 20_000);
    await waitUntil(
      "the agent is back",
      () =>
        works(client).then(
          () => true,
          () => false,
        ),
      20_000,
    );

    await first.stop();
    const second = await startPimcp({ home, args });
    await works(client);
    forgetAccess(client);
    await works(client);

    await second.kill9();
    await using third = await startPimcp({ home, args });
    forgetAccess(client);
    await works(client);
    expect(client.information).toEqual(registered);
    expect(third.url).toBe(first.url);
  });
});

describe("an issuer that others can reach", () => {
  async function publicRelay(): Promise<{ readonly agent: Pimcp; readonly client: OAuthClient; readonly relay: RelayApart }> {
    const relay = await startRelayApart({ https: true, entry: MOVED_CLOCK_ENTRY });
    onTestFinished(() => relay[Symbol.asyncDispose]());
    const home = newHome();
    onTestFinished(() => home.remove());
    const host = `${PUBLIC_NAME}:${relay.worker.port}`;
    const env = { NODE_EXTRA_CA_CERTS: await certificateFile(home, relay.worker.port) };
    const agent = await relay.dial(home, { args: ["--issuer", `https://${host}`], env });
    onTestFinished(async () => void (await agent.stop()));
    const client = await OAuthClient.start({ url: agent.url, fetch: mappedFetch(host) });
    onTestFinished(() => client[Symbol.asyncDispose]());
    expect(agent.url).toBe(`https://${host}/mcp`);
    return { agent, client, relay };
  }

  async function waitingAndDesk(agent: Pimcp, client: OAuthClient): Promise<{ readonly code: string; readonly desk: Page }> {
    expect(await client.connect()).toBeUndefined();
    const waiting = await openPage(client.opened.at(-1)?.href ?? "");
    const code = await waiting.locator("#code").innerText();
    const desk = await openPage(agent.pageUrl());
    await card(desk).waitFor();
    expect(await card(desk).innerText()).not.toContain(code);
    return { code, desk };
  }

  test("[EE22] [OA29] [UI43] the code that the waiting page shows has to be typed before it can be allowed", async () => {
    const { agent, client } = await publicRelay();
    const { code, desk } = await waitingAndDesk(agent, client);
    expect(await card(desk).getByRole("button", { name: "Allow" }).isDisabled()).toBe(true);
    await card(desk).getByRole("textbox").fill(code);
    await press(desk, "Allow");
    await client.finish(await client.callback());
    await works(client);
    const expired = client.kept?.access_token;
    const { host, origin } = new URL(agent.url);
    await pass(origin, 12 * HOUR_MS + 60_000, mappedFetch(host));
    await works(client);
    expect(client.kept?.access_token).not.toBe(expired);
  });

  test("[EE22] [OA37] a wrong code ends the sign-in with access_denied", async () => {
    const { agent, client } = await publicRelay();
    const { code, desk } = await waitingAndDesk(agent, client);
    const wrong = code.replaceAll(/\d/g, (digit) => String((Number(digit) + 1) % 10));
    await card(desk).getByRole("textbox").fill(wrong);
    await press(desk, "Allow");
    expect((await client.callback()).get("error")).toBe("access_denied");
    expect(client.kept).toBeUndefined();
  });
});

describe("a client that names itself by a document", () => {
  test("[EE23] [OA65] signs in without registering", async () => {
    const document = "https://client.example/mcp-client.json";
    let described: Record<string, unknown> = {};
    await using relay = await startRelayApart({
      outbound: (request) =>
        (request.url === document ? RelayResponse.json(described) : new RelayResponse("none", { status: 404 })) as unknown as Response,
    });
    await using home = newHome();
    await using agent = await relay.dial(home);
    await using client = await OAuthClient.start({ url: agent.url, document });
    described = { client_id: document, ...client.clientMetadata };
    await signIn(client, agent);
    expect(client.information).toMatchObject({ client_id: document });
    await works(client);
  });
});
