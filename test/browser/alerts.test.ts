import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import type { ConversationView } from "../../shared/desk.ts";
import type { HumanEntry } from "../../shared/human/entry.ts";
import { startUiServer } from "../../local-agent/ui-server/server.ts";
import { EXAMPLE_INFO, exampleAuthorization } from "../support/desk-under-test.ts";
import { pageHarness, SECRET } from "../support/page-under-test.ts";
import { scriptedConversation } from "../support/scripted-conversation.ts";
import { exampleApproval } from "../support/scripted-desk.ts";
import { waitUntil } from "../support/wait-until.ts";

const harness = pageHarness();
const client = { principalId: "grant:1", name: "Cl<b>au</b>de" };
const view = (changes: Partial<ConversationView> = {}): ConversationView => ({
  entries: [],
  unsent: [],
  isLoaded: true,
  waiting: null,
  clients: [],
  ...changes,
});
const said = (n: number, category: "message" | "done" | "error"): HumanEntry => ({
  kind: "said",
  id: n.toString(16).padStart(32, "0"),
  at: Date.now(),
  client,
  category,
  text: "secret words",
  n,
  whileAway: false,
});

/** What the page asked the browser for, instead of sounds and windows. `looks` says whether somebody looks at the tab. */
const RECORDER = `
  window.heard = { notes: [], notifications: [], asked: 0 };
  window.looks = true;
  Object.defineProperty(document, "hidden", { get: () => !window.looks });
  document.hasFocus = () => window.looks;
  const Real = window.OscillatorNode;
  window.OscillatorNode = class extends Real {
    constructor(context, options) { super(context, options); window.heard.notes.push(options.frequency); }
  };
  window.Notification = class extends EventTarget {
    static permission = "default";
    static requestPermission() { window.heard.asked++; this.permission = "granted"; return Promise.resolve("granted"); }
    constructor(title, options) { super(); window.heard.notifications.push(title + ": " + options.body); }
    close() {}
  };
`;

interface Recorded {
  readonly notes: number[];
  readonly notifications: string[];
  readonly asked: number;
}
const heard = (page: Page): Promise<Recorded> => page.evaluate(() => (window as unknown as { heard: Recorded }).heard);
const look = (page: Page, looks: boolean): Promise<void> =>
  page.evaluate((looks) => {
    (window as unknown as { looks: boolean }).looks = looks;
    document.dispatchEvent(new Event("visibilitychange"));
  }, looks);
const toggle = (page: Page): ReturnType<Page["getByRole"]> => page.getByRole("button", { name: "Alerts" });

async function recorded(page: Page): Promise<void> {
  await page.addInitScript(RECORDER);
  await page.reload();
  await toggle(page).waitFor();
}

test("[PG90] off by default; the click asks for permission, each kind has its sound, and a reload remembers without one for old things", async () => {
  const { page, scripted, desk, complaints } = await harness.open({ prepare: ({ scripted }) => scripted.changeSnapshot({ conversation: view() }) });
  await recorded(page);
  expect(await toggle(page).getAttribute("aria-pressed")).toBe("false");
  scripted.setApprovals([exampleApproval()]);
  await page.getByRole("article").waitFor();
  expect(await heard(page)).toEqual({ notes: [], notifications: [], asked: 0 });
  await toggle(page).click();
  await waitUntil("permission was asked", async () => (await heard(page)).asked === 1);
  const sounds: string[] = [];
  const sound = async (raise: () => void): Promise<void> => {
    const before = (await heard(page)).notes.length;
    raise();
    await waitUntil("a sound was made", async () => (await heard(page)).notes.length > before);
    sounds.push((await heard(page)).notes.slice(before).join(" "));
  };
  await sound(() => desk.setAuthorizations([exampleAuthorization()]));
  await sound(() => scripted.setApprovals([exampleApproval(), exampleApproval({ id: "second" })]));
  await sound(() => scripted.publish({ t: "entry", entry: said(1, "message") }));
  await sound(() => scripted.publish({ t: "entry", entry: said(2, "done") }));
  await sound(() => scripted.publish({ t: "entry", entry: said(3, "error") }));
  expect(sounds[0]).toBe(sounds[1]);
  expect(new Set(sounds).size).toBe(4);
  expect((await heard(page)).notifications).toEqual([]);
  await page.reload();
  await page.getByRole("article").first().waitFor();
  expect(await toggle(page).getAttribute("aria-pressed")).toBe("true");
  expect(await heard(page)).toEqual({ notes: [], notifications: [], asked: 0 });
  await toggle(page).click();
  scripted.setApprovals([exampleApproval({ id: "third" })]);
  await waitUntil("the third card is there", async () => (await page.getByRole("article").count()) >= 3);
  expect((await heard(page)).notes).toEqual([]);
  expect(complaints).toEqual([]);
});

test("[PG93][PG94] a hidden tab notifies without what was said, and its title flashes until it is looked at", async () => {
  const { page, scripted } = await harness.open({ prepare: ({ scripted }) => scripted.changeSnapshot({ conversation: view() }) });
  await recorded(page);
  await toggle(page).click();
  await look(page, false);
  scripted.publish({ t: "entry", entry: said(1, "message") });
  scripted.publish({ t: "entry", entry: said(2, "done") });
  await waitUntil("two notifications", async () => (await heard(page)).notifications.length === 2);
  expect((await heard(page)).notifications).toEqual(["pi-relay: “Cl<b>au</b>de” wrote to you.", "pi-relay: “Cl<b>au</b>de” says it is done."]);
  const titles = new Set<string>();
  await waitUntil("the title flashed", async () => titles.add(await page.title()).size === 2 || titles.size > 2);
  expect([...titles].toSorted()).toEqual(["(2) New · pi-relay", "pi-relay"]);
  await look(page, true);
  await waitUntil("the title rests", async () => (await page.title()) === "pi-relay");
});

test("[PG92] a card raised while the page was disconnected appears with its sound when the page is back (C11)", async () => {
  const { page, scripted, server, uiDir } = await harness.open();
  await recorded(page);
  await toggle(page).click();
  await look(page, false);
  await server.close();
  await page.getByText("The agent has not been reachable since").waitFor();
  scripted.setApprovals([exampleApproval()]);
  const again = await startUiServer({ desk: scripted.desk, host: "127.0.0.1", port: server.port, secret: SECRET, uiDir });
  try {
    await page.getByRole("article", { name: "bash" }).waitFor();
    await waitUntil("it was heard", async () => (await heard(page)).notes.length > 0);
    expect((await heard(page)).notifications).toEqual(["pi-relay: A call waits for your approval."]);
    await waitUntil("the title counts it", async () => (await page.title()) === "(1) Approval asked · pi-relay");
  } finally {
    await again.close();
  }
});

test("[PG89] the header counts down while a client waits, and announces it once", async () => {
  const { page, scripted } = await harness.open({ prepare: ({ scripted }) => scripted.changeSnapshot({ conversation: view() }) });
  await toggle(page).waitFor();
  const { entries: _, ...rest } = view();
  scripted.publish({ t: "conversation", ...rest, waiting: { client, questionId: null, since: Date.now(), until: Date.now() + 45_000 } });
  const banner = page.getByRole("banner");
  await banner.getByText("“Cl<b>au</b>de” waits for you").waitFor();
  const timer = banner.getByRole("timer", { name: "Time left" });
  const first = await timer.innerText();
  expect(first).toMatch(/^0:4[345]$/);
  await waitUntil("it counts down", async () => (await timer.innerText()) !== first);
  const own = { principalId: "token:1", name: "static token" };
  scripted.publish({ t: "conversation", ...rest, waiting: { client: own, questionId: null, since: Date.now(), until: Date.now() + 45_000 } });
  await banner.getByText("your token waits for you", { exact: true }).waitFor();
  expect(
    await banner
      .locator("[role=status], [aria-live]")
      .filter({ hasText: /0:\d\d/ })
      .count(),
  ).toBe(0);
  scripted.publish({ t: "conversation", ...rest });
  await waitUntil("it is gone", async () => (await timer.count()) === 0);
});

test("[PG96] the info panel shows what waits for a click, the person, the wait in force, the page's key and the running time", async () => {
  const conversation = scriptedConversation({ waiting: { client, questionId: null, since: Date.now(), until: Date.now() + 28_000 } });
  const { page } = await harness.open({
    conversation,
    desk: { info: { ...EXAMPLE_INFO, human: true, approve: ["bash", "write"], uiToken: true, startedAt: Date.now() - 3_000 } },
    browser: { viewport: { width: 1300, height: 900 } },
  });
  const panel = page.getByRole("complementary", { name: "Info" });
  const fact = (name: string): ReturnType<typeof panel.locator> => panel.locator("dl > div").filter({ has: page.getByText(name, { exact: true }) });
  expect(await fact("Wait for your click").innerText()).toMatch(/bash\s+write/);
  const text = await panel.innerText();
  const waits = ["at most 45 s, of an app known to bear it 90 s.", "The call of “Cl<b>au</b>de” that waits now has 28 s in all."];
  for (const part of ["(--human): on", ...waits, "your own (--ui-token)"]) expect(text).toContain(part);
  conversation.set({ waiting: null });
  await waitUntil("nobody waits", async () => !(await panel.innerText()).includes("that waits now"));
  const running = await fact("Agent").innerText();
  expect(running).toMatch(/running for \d s/);
  await waitUntil("the time runs", async () => (await fact("Agent").innerText()) !== running);
});

test("[PG79] while the relay is away the page says what becomes of what is written, and the box to write in stays usable", async () => {
  const { page, desk } = await harness.open({ conversation: scriptedConversation(), desk: { info: { ...EXAMPLE_INFO, human: true } } });
  const box = page.getByRole("textbox").last();
  await box.waitFor();
  desk.setLink({ at: "waiting", since: Date.now(), retryAt: Date.now() + 8_000, reason: "no network" });
  const said = page.getByText("What you write is kept on this computer, and sent when the relay is back.");
  await said.waitFor();
  expect(await page.getByRole("banner").innerText()).toMatch(/Page to agent\s+live[^]*Agent to relay\s+not connected/);
  await box.fill("kept");
  await waitUntil("it can be sent", () => page.getByRole("button", { name: "Send" }).isEnabled());
  desk.setLink({ at: "open", since: Date.now() });
  await waitUntil("it is said no longer", async () => (await said.count()) === 0);
});
