/** The real page in a real browser, served by the real server over a real desk. */
import { afterAll, beforeAll, onTestFinished } from "vitest";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { startUiServer, type UiServer } from "../../local-agent/ui-server/server.ts";
import type { DeskOptions } from "../../local-agent/desk/desk.ts";
import { buildPage, type BuiltPage } from "./built-page.ts";
import { launchChromium } from "./chromium.ts";
import { deskUnderTest, type DeskUnderTest } from "./desk-under-test.ts";
import type { ScriptedConversation } from "./scripted-conversation.ts";
import { scriptedDesk, type ScriptedDesk } from "./scripted-desk.ts";

export const SECRET = "0123456789abcdef0123456789abcdef";

interface OpenedPage extends DeskUnderTest {
  /** What the desk itself does not say: approvals and the conversation by script. */
  readonly scripted: ScriptedDesk;
  readonly page: Page;
  readonly context: BrowserContext;
  readonly server: UiServer;
  readonly uiDir: string;
  /** Violations of the content security policy, uncaught errors, console errors and requests to other addresses. */
  readonly complaints: string[];
}

export interface PageHarness {
  /** A fresh desk, server and browser context, all of which end with the test. `prepare` fills the desk first. */
  open(options?: OpenOptions): Promise<OpenedPage>;
}

interface OpenOptions {
  readonly prepare?: (under: DeskUnderTest & { readonly scripted: ScriptedDesk }) => void;
  readonly desk?: Partial<DeskOptions>;
  readonly browser?: BrowserContextOptions;
  /** Shown beside what the desk itself knows. */
  readonly conversation?: ScriptedConversation;
  /** Instead of the address with the secret. */
  readonly path?: string;
}

/** Call at the top of a test file: builds the page and starts the browser once. */
export function pageHarness(): PageHarness {
  let built: BuiltPage | undefined;
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await launchChromium();
    built = await buildPage();
  });
  afterAll(async () => {
    await browser?.close();
    built?.remove();
  });
  return {
    async open({ prepare, desk, browser: contextOptions, path, conversation }: OpenOptions = {}) {
      if (browser === undefined || built === undefined) throw new Error("the harness is not ready");
      const under = deskUnderTest(desk);
      under.desk.setLink({ at: "open", since: Date.now() - 60_000 });
      const scripted = scriptedDesk(under.desk);
      prepare?.({ ...under, scripted });
      const server = await startUiServer({
        desk: conversation?.wrap(scripted.desk) ?? scripted.desk,
        host: "127.0.0.1",
        port: 0,
        secret: SECRET,
        uiDir: built.uiDir,
      });
      onTestFinished(() => server.close());
      const context = await browser.newContext({ reducedMotion: "reduce", ...contextOptions });
      onTestFinished(() => context.close());
      context.setDefaultTimeout(8_000);
      await conversation?.serve(context);
      const complaints: string[] = [];
      const page = await context.newPage();
      await watch(page, server.bareUrl, complaints);
      await page.goto(path === undefined ? server.url : server.bareUrl + path);
      return { page, context, server, complaints, uiDir: built.uiDir, scripted, ...under };
    },
  };
}

/** Also for further pages of a test. */
export async function watch(page: Page, bareUrl: string, complaints: string[]): Promise<void> {
  page.on("pageerror", (error) => complaints.push(`uncaught: ${error.message}`));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().includes("net::ERR_")) complaints.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(bareUrl) && !url.startsWith("data:") && !url.startsWith(`blob:${bareUrl}`)) complaints.push(`request: ${url}`);
  });
  await page.exposeFunction("complain", (text: string) => complaints.push(text));
  await page.addInitScript(
    `addEventListener("securitypolicyviolation", (event) => complain("CSP " + event.violatedDirective + " " + event.blockedURI))`,
  );
}
