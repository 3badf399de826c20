import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { startUiServer } from "../../local-agent/ui-server/server.ts";
import { EXAMPLE_INFO, exampleAuthorization, type DeskUnderTest } from "../support/desk-under-test.ts";
import { pageHarness, SECRET, watch } from "../support/page-under-test.ts";
import { waitUntil } from "../support/wait-until.ts";

const harness = pageHarness();

function started({ desk }: Pick<DeskUnderTest, "desk">, callId: string, command: string, ageMs = 0): void {
  desk.callStarted({ callId, tool: "bash", args: { command }, client: "Claude", principalId: "grant:1", at: Date.now() - ageMs });
}

function finished({ desk }: Pick<DeskUnderTest, "desk">, callId: string, text: string, state: "ok" | "failed" | "cancelled"): void {
  desk.callFinished({ callId, outcome: { content: [{ type: "text", text }], isError: state !== "ok" }, at: Date.now(), state });
}

const row = (page: Page, name: string | RegExp): ReturnType<Page["getByRole"]> => page.getByRole("log").getByRole("button", { name });

test("[UI10] the bare address says how to get in, and nothing about the agent", async () => {
  const { page, complaints } = await harness.open({ path: "", prepare: ({ desk }) => desk.setAuthorizations([exampleAuthorization()]) });
  await page.getByRole("heading", { name: "This page needs its key" }).waitFor();
  const text = await page.locator("body").innerText();
  expect(text).toContain("pimcp open");
  expect(text).toContain("npm start -- open");
  expect(text).not.toMatch(/claude|ada|engine/i);
  expect(complaints).toEqual([]);
});

test("[UI10] the bare address says so without script too", async () => {
  const { page } = await harness.open({ path: "", browser: { javaScriptEnabled: false } });
  expect(await page.locator("body").innerText()).toContain("pimcp open");
});

test("[UI31] a secret of an earlier start is told so, and a new one in the address opens the page", async () => {
  const { page, server } = await harness.open({ path: "#ffffffffffffffffffffffffffffffff" });
  await page.getByRole("heading", { name: "key is of an earlier start" }).waitFor();
  expect(await page.locator("body").innerText()).toMatch(/pimcp open[^]*npm start -- open/);
  expect(page.url()).toBe(server.bareUrl);
  await page.goto(server.url);
  await page.getByRole("heading", { name: "No app has called yet" }).waitFor();
});

test("[UI64] with nothing to show it says which address to paste, and copies it", async () => {
  const { page } = await harness.open({ browser: { permissions: ["clipboard-read", "clipboard-write"] } });
  await page.getByRole("button", { name: "Copy the address for your app" }).click();
  await page.getByText("Copied").waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("https://relay.example.workers.dev/mcp");
});

test("[UI60][UI70] a call is one row whose click shows its output", async () => {
  const { page, desk, complaints } = await harness.open();
  started({ desk }, "1", "echo hi", 42);
  finished({ desk }, "1", "hi there\n", "ok");
  const call = row(page, /^\d\d:\d\d bash echo hi \d+ ms done$/);
  await call.waitFor();
  expect(await page.getByText("hi there").count()).toBe(0);
  await call.click();
  await page.getByText("hi there").waitFor();
  expect(await call.getAttribute("aria-expanded")).toBe("true");
  await call.press("Enter");
  expect(await page.getByText("hi there").count()).toBe(0);
  started({ desk }, "2", "sleep 9");
  finished({ desk }, "2", "Cancelled.", "cancelled");
  await row(page, /bash sleep 9 .*cancelled$/).waitFor();
  expect(await page.getByRole("log").innerText()).not.toContain("Claude");
  desk.callStarted({ callId: "3", tool: "ls", args: {}, client: "static token", principalId: "token:1", at: Date.now() });
  await row(page, /ls . your token/).waitFor();
  await row(page, /bash echo hi “Claude” \d+ ms done$/).waitFor();
  expect(complaints).toEqual([]);
});

test("[UI61] a failed call is open by itself, a running one shows its output as it comes", async () => {
  const { page, desk } = await harness.open();
  started({ desk }, "1", "false");
  finished({ desk }, "1", "exited with code 1", "failed");
  await page.getByText("exited with code 1").waitFor();
  started({ desk }, "2", "make", 2_000);
  desk.callProgressed({ callId: "2", delta: "compiling one\n" });
  await page.getByText("compiling one").waitFor();
  desk.callProgressed({ callId: "2", delta: "compiling two\n" });
  await page.getByText("compiling two").waitFor();
  expect(await row(page, /bash make .*running$/).getAttribute("aria-expanded")).toBe("true");
});

test("[UI25] a long output shows how much of it is missing", async () => {
  const { page, desk } = await harness.open();
  started({ desk }, "1", "yes");
  finished({ desk }, "1", `first${"y".repeat(100_000)}last`, "failed");
  await page.getByText("67,241 characters are not kept here").waitFor();
  expect(await page.locator("pre").first().innerText()).toMatch(/^first/);
  expect(await page.locator("pre").last().innerText()).toMatch(/last$/);
});

test("[UI62] the timeline can be narrowed to failed calls, and how many are hidden is said", async () => {
  const { page, desk } = await harness.open();
  for (const callId of ["1", "2", "3"]) {
    started({ desk }, callId, `echo ${callId}`);
    finished({ desk }, callId, callId, callId === "2" ? "failed" : "ok");
  }
  await row(page, /echo 3/).waitFor();
  await page.getByLabel("Failed only").check();
  await page.getByText("2 other calls are hidden.").waitFor();
  expect(await row(page, /echo/).count()).toBe(1);
  await row(page, /echo 2/).waitFor();
  await page.getByLabel("Failed only").uncheck();
  await row(page, /echo 3/).waitFor();
});

function manyCalls({ desk }: Pick<DeskUnderTest, "desk">): void {
  for (let index = 1; index <= 40; index++) {
    started({ desk }, `${index}`, `echo ${index}`);
    finished({ desk }, `${index}`, `${index}`, "ok");
  }
}

test("[UI68][UI67] on a desk many calls do not make the page scroll, and the newest is in view", async () => {
  const { page } = await harness.open({ prepare: manyCalls, browser: { viewport: { width: 1200, height: 800 } } });
  await row(page, /echo 40 /).waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollHeight - innerHeight)).toBeLessThanOrEqual(0);
  expect(await isInView(page, /echo 40 /)).toBe(true);
});

const PHONE = { width: 375, height: 740 };

test("[UI67] on a phone the newest call is in view, until the person scrolls away", async () => {
  const { page, desk } = await harness.open({ prepare: manyCalls, browser: { viewport: PHONE } });
  await row(page, /echo 40 /).waitFor();
  expect(await isInView(page, /echo 40 /)).toBe(true);
  started({ desk }, "next", "echo next");
  await row(page, /echo next/).waitFor();
  expect(await isInView(page, /echo next/)).toBe(true);
  await page.mouse.wheel(0, -600);
  await waitUntil("the page is scrolled", () => page.evaluate(() => scrollY + innerHeight < document.documentElement.scrollHeight - 300));
  const before = await page.evaluate(() => scrollY);
  started({ desk }, "last", "echo last");
  await row(page, /echo last/).waitFor();
  expect(await page.evaluate(() => scrollY)).toBe(before);
});

test("[UI67] on a phone the page does not move while a request waits, nor when it was decided", async () => {
  const { page, desk } = await harness.open({
    prepare: (under) => {
      manyCalls(under);
      under.desk.setAuthorizations([exampleAuthorization({ codeRequired: false })]);
    },
    browser: { viewport: PHONE },
  });
  await page.getByRole("button", { name: "Allow", exact: true }).click();
  await page.getByText("Allowed. The app gets access now.").waitFor();
  started({ desk }, "next", "echo next");
  await row(page, /echo next/).waitFor();
  expect(await page.evaluate(() => scrollY)).toBe(0);
});

test("[UI69] on a phone the info panel is led to from anywhere, and closing it leads back", async () => {
  const { page } = await harness.open({ prepare: manyCalls, browser: { viewport: PHONE } });
  await row(page, /echo 40 /).waitFor();
  const before = await page.evaluate(() => scrollY);
  expect(before).toBeGreaterThan(PHONE.height);
  await page.getByRole("button", { name: "Info" }).click();
  const panel = page.getByRole("complementary", { name: "Info" });
  const top = (await panel.boundingBox())?.y ?? -1;
  expect(top).toBeGreaterThan(0);
  expect(top).toBeLessThan(PHONE.height / 2);
  await page.getByRole("button", { name: "Info" }).click();
  expect(await page.evaluate(() => scrollY)).toBe(before);
});

test("[UI69] the info panel that stood beside the timeline closes when the window becomes narrow", async () => {
  const { page } = await harness.open({ browser: { viewport: { width: 1280, height: 800 } } });
  const panel = page.getByRole("complementary", { name: "Info" });
  await panel.waitFor();
  await page.setViewportSize(PHONE);
  await waitUntil("the panel is closed", async () => (await panel.count()) === 0);
  await page.getByRole("button", { name: "Info" }).click();
  expect(await panel.isVisible()).toBe(true);
});

async function isInView(page: Page, name: RegExp): Promise<boolean> {
  const box = await row(page, name).boundingBox();
  return box !== null && box.y >= 0 && box.y + box.height <= (page.viewportSize()?.height ?? 0);
}

test("[UI50][UI27] hostile output, commands and client names are inert text", async () => {
  const { page, desk, complaints } = await harness.open();
  const hostile = '<img src=x onerror="alert(1)"></pre><script>alert(2)</script>\u202e\u001b[31m';
  desk.callStarted({ callId: "1", tool: "<b>bash</b>", args: { command: hostile }, client: hostile, principalId: "grant:1", at: Date.now() });
  finished({ desk }, "1", hostile, "failed");
  await page.locator("pre").waitFor();
  expect(await page.locator("pre").innerText()).toContain('<img src=x onerror="alert(1)"></pre><script>alert(2)</script>‹U+202E›␛[31m');
  expect(await page.locator(".log img, .log script, .log b").count()).toBe(0);
  expect(complaints).toEqual([]);
});

test("[UI63] the info panel shows what is offered and confined, and tells the two links apart", async () => {
  const warning = "Anyone who can reach the port can run commands.";
  const { page, desk } = await harness.open({
    desk: { info: { ...EXAMPLE_INFO, tokenSet: false, client: { id: "pimcp-abc", redirects: ["https://a.example/cb"] }, warnings: [warning] } },
    browser: { viewport: { width: 1300, height: 900 } },
  });
  const panel = page.getByRole("complementary", { name: "Info" });
  await panel.waitFor();
  const text = await panel.innerText();
  for (const part of [
    "/home/ada/projects/engine",
    "https://relay.example.workers.dev/mcp",
    "bash",
    ".git-credentials",
    "Token: not set",
    "Client set up by hand: pimcp-abc, secret set",
    "It may return to these addresses only:",
    "https://a.example/cb",
    "(OAuth): on",
    "File tools stay inside the folder.",
    warning,
  ]) {
    expect(text).toContain(part);
  }
  expect(await page.getByRole("banner").innerText()).toMatch(/Connected/);
  expect(await page.getByRole("banner").innerText()).not.toContain("Page to agent");
  expect(text).toMatch(/Page to agent\s+live[^]*Agent to relay\s+connected for 1 min/);
  expect(
    await panel
      .getByRole("alert")
      .getByRole("listitem")
      .evaluate((element) => getComputedStyle(element).color),
  ).toBe("rgb(161, 38, 29)");
  desk.setLink({ at: "waiting", since: Date.now(), retryAt: Date.now() + 8_000, reason: "the relay refused the key" });
  await panel.getByText("not connected: the relay refused the key. Next try in").waitFor();
  expect(await page.getByRole("banner").innerText()).toMatch(/Page to agent\s+live[^]*Agent to relay\s+not connected/);
});

test("[UI52][UI53] says that the agent is away, decides nothing, and shows on return what came meanwhile", async () => {
  const { page, desk, server, uiDir, decisions } = await harness.open({
    prepare: ({ desk }) => desk.setAuthorizations([exampleAuthorization({ codeRequired: false })]),
  });
  await page.getByRole("article").waitFor();
  await server.close();
  await page.getByText(/The agent has not been reachable since \d\d:\d\d:\d\d.*a restarted agent prints a new address/).waitFor();
  await waitUntil("Deny is dead", () => page.getByRole("button", { name: "Deny" }).isDisabled());
  expect(await page.getByRole("banner").innerText()).toMatch(/Agent to relay\s+unknown/);
  desk.setAuthorizations([exampleAuthorization({ codeRequired: false }), exampleAuthorization({ id: "late", redirectHost: "late.example" })]);
  const again = await startUiServer({ desk, host: "127.0.0.1", port: server.port, secret: SECRET, uiDir });
  try {
    await page.getByRole("article", { name: "late.example" }).waitFor();
    expect(await page.title()).toBe("(2) Access asked · pi-relay");
    await page.getByRole("article", { name: "claude.ai" }).getByRole("button", { name: "Allow" }).click();
    await page.getByText("Allowed. The app gets access now.").waitFor();
    expect(await page.title()).toBe("(1) Access asked · pi-relay");
    expect(decisions).toHaveLength(1);
  } finally {
    await again.close();
  }
});

test("[UI15] the oldest of five open pages says that it stopped following, and can be followed again", async () => {
  const { page, context, server, desk } = await harness.open();
  await page.getByRole("heading", { name: "No app has called yet" }).waitFor();
  for (let index = 0; index < 4; index++) {
    const further = await context.newPage();
    await further.goto(server.url);
    await further.getByRole("heading", { name: "No app has called yet" }).waitFor();
  }
  await page.getByRole("button", { name: "Follow here" }).click();
  desk.setAuthorizations([exampleAuthorization()]);
  await page.getByRole("article", { name: "claude.ai" }).waitFor();
  expect(await page.getByRole("button", { name: "Follow here" }).count()).toBe(0);
});

test("[UI65] a full page loads nothing from elsewhere and breaks no policy", async () => {
  const { page, context, server, complaints, desk } = await harness.open({ prepare: ({ desk }) => desk.setAuthorizations([exampleAuthorization()]) });
  started({ desk }, "1", "echo hi");
  finished({ desk }, "1", "hi", "failed");
  await page.getByText("exited").or(page.locator("pre")).first().waitFor();
  const second = await context.newPage();
  await watch(second, server.bareUrl, complaints);
  await second.goto(server.url);
  await second.getByRole("article").waitFor();
  expect(complaints).toEqual([]);
});

test("[UI65] [PG76] the policy stops inline script, inline style, frames and other addresses if markup ever got in", async () => {
  const { page, complaints } = await harness.open();
  await page.getByRole("heading", { name: "No app has called yet" }).waitFor();
  const refused = await page.evaluate(async () => {
    const host = document.createElement("div");
    const styled = document.createElement("p");
    styled.setAttribute("style", "color: red");
    const frame = document.createElement("iframe");
    frame.src = "https://evil.example/";
    const script = document.createElement("script");
    script.append("window.hasRun = true");
    host.append(styled, frame, script);
    document.body.append(host);
    await fetch("https://evil.example/").catch(() => undefined);
    const attempts = [
      () => (host.innerHTML = '<img src=x onerror="window.hasRun = true">'),
      () => styled.setAttribute("onclick", "window.hasRun = true"),
      () => new DOMParser().parseFromString("<p>", "text/html"),
      () => (script.text = "window.hasRun = true"),
      () => (script.src = "data:text/javascript,window.hasRun=true"),
      () => (window as unknown as { trustedTypes: { createPolicy(name: string, rules: object): void } }).trustedTypes.createPolicy("other", {}),
    ];
    return attempts.map((attempt) => {
      try {
        attempt();
        return "done";
      } catch (error) {
        return (error as Error).name;
      }
    });
  });
  expect(refused).toEqual(["TypeError", "TypeError", "TypeError", "TypeError", "TypeError", "TypeError"]);
  for (const directive of ["style-src-attr", "require-trusted-types-for", "frame-src", "connect-src", "trusted-types"]) {
    await waitUntil(`a violation of ${directive} is reported`, () => complaints.some((complaint) => complaint.startsWith(`CSP ${directive} `)));
  }
  expect(await page.evaluate(() => "hasRun" in window)).toBe(false);
  expect(complaints.filter((complaint) => complaint.startsWith("request:"))).toEqual([]);
});

test.each([
  ["light", "rgb(244, 246, 245)"],
  ["dark", "rgb(17, 20, 18)"],
] as const)("[UI66] follows a preference for %s and fits a phone", async (colorScheme, ground) => {
  const { page, desk } = await harness.open({
    browser: { colorScheme, viewport: { width: 360, height: 740 } },
    prepare: ({ desk }) =>
      desk.setAuthorizations([exampleAuthorization({ redirectHost: `${"long-name.".repeat(20)}example`, clientId: "x".repeat(400) })]),
  });
  started({ desk }, "1", `echo ${"long".repeat(60)}`);
  finished({ desk }, "1", "wide".repeat(300), "failed");
  await page.locator("pre").waitFor();
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)).toBe(ground);
  await page.getByRole("button", { name: "Info" }).click();
  await page.getByRole("complementary").waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBe(0);
});
