/**
 * `npm run screenshots [-- FOLDER]`: the main states of the page in light, dark and at a phone's width, by the real server over a
 * scripted desk.
 */
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Browser } from "playwright-core";
import { startUiServer } from "../../local-agent/ui-server/server.ts";
import { buildPage } from "../support/built-page.ts";
import { launchChromium } from "../support/chromium.ts";
import { deskUnderTest } from "../support/desk-under-test.ts";
import { PAGE_STATES, type PageStateShown } from "../support/page-states.ts";
import { scriptedDesk } from "../support/scripted-desk.ts";

const LOOKS = [
  { name: "light", colorScheme: "light", viewport: { width: 1280, height: 860 } },
  { name: "dark", colorScheme: "dark", viewport: { width: 1280, height: 860 } },
  { name: "phone", colorScheme: "light", viewport: { width: 390, height: 844 } },
] as const;

const folder = resolve(process.argv[2] ?? join(import.meta.dirname, "../../screenshots"));
mkdirSync(folder, { recursive: true });
const browser = await launchChromium();
const built = await buildPage();
try {
  for (const state of PAGE_STATES) for (const look of LOOKS) console.log(await picture(browser, state, look));
} finally {
  await browser.close();
  built.remove();
}

async function picture(browser: Browser, state: PageStateShown, { name, ...look }: (typeof LOOKS)[number]): Promise<string> {
  const under = deskUnderTest();
  under.desk.setLink({ at: "open", since: Date.now() - 60_000 });
  const scripted = scriptedDesk(under.desk);
  state.prepare?.({ ...under, scripted });
  const conversation = state.conversation?.();
  const desk = conversation?.wrap(scripted.desk) ?? scripted.desk;
  const secret = "0123456789abcdef0123456789abcdef";
  const server = await startUiServer({ desk, host: "127.0.0.1", port: 0, secret, uiDir: built.uiDir });
  const context = await browser.newContext({ reducedMotion: "reduce", ...look });
  try {
    context.setDefaultTimeout(15_000);
    await conversation?.serve(context);
    const page = await context.newPage();
    await page.goto(server.url);
    await state.reach(page, server);
    const path = join(folder, `${state.name}-${name}.png`);
    // Buttons are dead for a moment after a card came.
    await page.waitForTimeout(900);
    await page.screenshot({ path });
    return path;
  } finally {
    await context.close();
    await server.close();
  }
}
