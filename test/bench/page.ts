/** What a busy page answers with: clicks and keys on the real page in a browser, idle and while megabytes of output stream in. */
import { startUiServer } from "../../local-agent/ui-server/server.ts";
import { buildPage } from "../support/built-page.ts";
import { clickToPaint, fillConversation, fillTimeline, streamOutput } from "../support/busy-page.ts";
import { launchChromium } from "../support/chromium.ts";
import { deskUnderTest } from "../support/desk-under-test.ts";
import { scriptedConversation } from "../support/scripted-conversation.ts";
import { median } from "./measure.ts";

export interface PageCosts {
  /** Median milliseconds from a click to the drawn page. */
  readonly idleMs: number;
  readonly streamingMs: number;
  /** Megabytes of the page's own memory after 5 MB went by. */
  readonly heapMb: number;
}

/** 1,000 calls and 400 entries on the timeline. */
export async function measurePage(): Promise<PageCosts> {
  const built = await buildPage();
  const browser = await launchChromium();
  const under = deskUnderTest();
  const conversation = scriptedConversation();
  under.desk.setLink({ at: "open", since: Date.now() });
  fillTimeline(under.desk, 1_000);
  fillConversation(conversation, 400);
  const secret = "0123456789abcdef0123456789abcdef";
  const server = await startUiServer({ desk: conversation.wrap(under.desk), host: "127.0.0.1", port: 0, secret, uiDir: built.uiDir });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
    await page.goto(server.url);
    await page.getByRole("button", { name: /bash echo 1000 / }).waitFor({ state: "attached" });
    const idle: number[] = [];
    for (let click = 0; click < 30; click++) idle.push(await clickToPaint(page, "Info"));
    const streaming = streamOutput(under.desk);
    const busy: number[] = [];
    while (!streaming.isOver()) busy.push(await clickToPaint(page, "Info"));
    await streaming.over;
    const heap = await page.evaluate(() => (performance as unknown as { memory?: { usedJSHeapSize: number } }).memory?.usedJSHeapSize);
    return { idleMs: median(idle), streamingMs: median(busy), heapMb: (heap ?? Number.NaN) / 1_000_000 };
  } finally {
    await browser.close();
    await server.close();
    built.remove();
  }
}
