import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { hasDisplay, openRunningPage } from "../../../../local-agent/cli/open-page.ts";
import { claimAgentPlace } from "../../../../local-agent/daemon/agent-lock.ts";
import { writePageFile } from "../../../../local-agent/daemon/page-file.ts";
import { tempDir } from "../../../support/temp-dir.ts";

const ADDRESS = "http://127.0.0.1:8790/#SECRET&x";

/** A running agent, being this process, whose page file says `address`. */
async function running(address: string | null) {
  const dir = tempDir("state");
  const place = join(dir, "relays/it");
  mkdirSync(place, { recursive: true, mode: 0o700 });
  const pageFile = join(place, "page.html");
  if (address !== null) writePageFile(pageFile, address);
  const release = await claimAgentPlace({ dir: place, name: "it", flagsBeside: "" }, { root: "/r", pageFile, control: null });
  onTestFinished(release);
  return { directories: { config: dir, state: dir }, pageFile };
}

const WITHOUT = "Without one, pimcp pending and pimcp allow CODE do the same here.\n";

async function openAs(directories: { config: string; state: string }, isTerminal: boolean, env: NodeJS.ProcessEnv) {
  let shown = "";
  const code = await openRunningPage(directories, null, { show: (text) => (shown += text), isTerminal, program: "pimcp", env, platform: "linux" });
  return { code, shown };
}

test("[ST8] without a display a terminal is given the address", async () => {
  const { directories } = await running(ADDRESS);
  const { code, shown } = await openAs(directories, true, {});
  expect([code, shown]).toEqual([
    0,
    `There is no display here: open this address in a browser. It is a secret of yours.\n\n  ${ADDRESS}\n\n${WITHOUT}`,
  ]);
  const overSsh = await openAs(directories, true, { SSH_CONNECTION: "x" });
  expect(overSsh.shown).toContain("ssh -L 8790:127.0.0.1:8790");
});

test("[ST51] what is no terminal is given the path of the file, never the address", async () => {
  const { directories, pageFile } = await running(ADDRESS);
  const { code, shown } = await openAs(directories, false, {});
  expect([code, shown]).toEqual([0, `There is no display here: open ${pageFile} in a browser on this machine.\n${WITHOUT}`]);
});

test("[ST8] of several the page of a workspace is opened, and none is opened for another", async () => {
  const { directories } = await running(ADDRESS);
  let shown = "";
  const viewer = { show: (text: string) => (shown += text), isTerminal: true, program: "npm start --", env: {}, platform: "linux" } as const;
  expect(await openRunningPage(directories, "default", viewer)).toBe(0);
  expect(shown).toContain("npm start -- pending --workspace default and npm start -- allow CODE --workspace default do");
  await expect(openRunningPage(directories, "pi", viewer)).rejects.toThrow("No running agent is the one of --workspace pi:");
});

test("[ST8] an agent whose page is not there yet is no success", async () => {
  const { directories } = await running(null);
  await expect(openAs(directories, true, {})).rejects.toMatchObject({
    exitCode: 1,
    message: expect.stringContaining("run pimcp open again") as string,
  });
});

test.for<[NodeJS.ProcessEnv, NodeJS.Platform, boolean]>([
  [{}, "linux", false],
  [{ DISPLAY: ":0" }, "linux", true],
  [{ DISPLAY: "", WAYLAND_DISPLAY: "w" }, "linux", true],
  [{}, "darwin", true],
  [{ SSH_CONNECTION: "x" }, "darwin", false],
])("a browser is only started where its window can appear: %o on %s", ([env, platform, shows]) => {
  expect(hasDisplay(env, platform)).toBe(shows);
});
