/**
 * A person who types into the real page while what is behind it dies: the page is loaded again or closed for another tab, the
 * agent is killed and started anew, the link is cut, the relay restarts, each right after a key press. The remote agent is a script.
 */
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { launchChromium } from "../support/chromium.ts";
import { freePort } from "../support/free-port.ts";
import { newHome, type Pimcp } from "../support/pimcp.ts";
import { startRelayApart } from "../support/relay-apart.ts";
import { LAST, listen, seeded } from "../support/talking-client.ts";
import { waitUntil } from "../support/wait-until.ts";

const WORDS = 12;
const SEED = Number(process.env["CONVERSATION_SEED"] ?? "20261201");

test(`[EE39] ${WORDS} messages typed into the page arrive, in order, whatever dies behind it (seed ${SEED})`, { timeout: 240_000 }, async () => {
  const random = seeded(SEED);
  await using relay = await startRelayApart();
  await using home = newHome();
  await using browser = await launchChromium();
  const args = ["--human", "--block-ms", "4000", "--ui-port", String(await freePort())];
  // A key of the person's own, so that an open page goes on with the agent's successor.
  const env = { PI_AS_MCP_UI_TOKEN: "a-key-of-the-person-0123456789" };
  let agent: Pimcp = await relay.dial(home, { args, env });
  const context = await browser.newContext({ reducedMotion: "reduce" });
  const open = async (): Promise<Page> => {
    const page = await context.newPage();
    await page.goto(agent.pageUrl());
    await box(page).waitFor();
    return page;
  };
  let page = await open();
  const disturbances: Record<string, () => Promise<unknown>> = {
    nothing: async () => {},
    "the page is loaded again": () => page.reload(),
    "another tab takes over": async () => {
      const closed = page.waitForEvent("close");
      await page.close({ runBeforeUnload: true });
      await closed;
      page = await open();
    },
    "the agent is killed": async () => {
      await agent.kill9();
      agent = await relay.dial(home, { args, env });
    },
    "the link is cut": async () => relay.proxy.cut(),
    "the relay restarts": () => relay.worker.redeploy(),
  };
  const heard = listen({ url: agent.url, token: agent.token }, WORDS);
  const troubles = Array.from({ length: WORDS }, (_, index) => Object.values(disturbances)[index % Object.keys(disturbances).length]);
  troubles.sort(() => random() - 0.5);
  const typed = [...troubles.map((_, index) => `w${index + 1}`), LAST];
  for (const [index, word] of typed.entries()) {
    await box(page).fill(word);
    await box(page).press("Enter");
    await troubles[index]?.();
    await untilSent(() => page, word);
  }

  const all = (await heard).map(({ text }) => text);
  const firsts = (await heard).filter(({ isRepeat }) => !isRepeat).map(({ text }) => text);
  expect([...new Set(all)]).toEqual(typed);
  // What came twice says so the second time.
  expect(firsts).toEqual([...new Set(firsts)]);
  await waitUntil(
    "the page says that all was read",
    async () => (await page.locator(".mark-word").filter({ hasText: /^read/ }).count()) === typed.length,
  );
  await agent.stop();
});

function box(page: Page): Locator {
  return page.getByRole("textbox", { name: "Message" });
}

/** What came back into the box is sent again, as a person would. */
async function untilSent(page: () => Page, word: string): Promise<void> {
  const own = page().locator(".entry.own");
  await waitUntil(
    `the page shows ${word} as sent`,
    async () => {
      if ((await box(page()).count()) === 0) return false;
      if (
        (await box(page())
          .inputValue({ timeout: 1_000 })
          .catch(() => "?")) !== ""
      ) {
        await box(page())
          .press("Enter", { timeout: 1_000 })
          .catch(() => undefined);
        return false;
      }
      return (await own.getByText(word, { exact: true }).count()) === 1;
    },
    30_000,
  );
}
