/** The browser of the tests: the system's chromium, driven by playwright-core. Never downloads one. */
import { existsSync } from "node:fs";
import { chromium, type Browser } from "playwright-core";

const ARGUMENTS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Fails with the way out when there is no browser. The caller closes it. `more`: further switches. */
export async function launchChromium(more: readonly string[] = []): Promise<Browser> {
  const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
  if (!existsSync(executablePath)) {
    throw new Error(
      `The browser tests need Chromium and found none at ${executablePath}. Install it (Debian and Ubuntu: "sudo apt-get install chromium"), or set CHROMIUM to the path of a Chromium or Chrome.`,
    );
  }
  return chromium.launch({ executablePath, args: [...ARGUMENTS, ...more], timeout: 30_000 });
}
