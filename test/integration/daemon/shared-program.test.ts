/** The real program, a remote client of it, and two sessions: as a person has them. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, test } from "vitest";
import { createConfigFiles } from "../../../local-agent/node/config-files.ts";
import { sharedTransports } from "../../../local-agent/node/shared-transports.ts";
import { findDirectories } from "../../../local-agent/node/state-directories.ts";
import { systemClock, systemTimers } from "../../../local-agent/node/system-time.ts";
import { newHome, type Home } from "../../support/agent-program.ts";
import { isAlive } from "../../support/alive.ts";
import { callOf, echo, failureOf, poolUnderTest } from "../../support/pool-under-test.ts";
import { readJournal } from "../../support/upstream-fixture.ts";
import { fixtureEntry, mcpJson } from "../../support/upstream-files.ts";
import { transportsUnderTest } from "../../support/upstream-transports.ts";
import { waitUntil } from "../../support/wait-until.ts";

const MAIN = join(import.meta.dirname, "../../../local-agent/cli/main.ts");

async function startAgent(home: Home) {
  const args = ["--disable-warning=ExperimentalWarning", MAIN, "--stdio", "--root", home.root];
  const transport = new StdioClientTransport({ command: process.execPath, args, env: home.env as Record<string, string>, cwd: home.root });
  const client = new Client({ name: "remote", version: "1" });
  onTestFinished(() => client.close());
  await client.connect(transport);
  return { client, pid: transport.pid ?? 0 };
}

/** As a Pi session in the same folder finds its servers. */
async function sessionIn({ root: cwd, dir: home, env }: Home) {
  const notices: string[] = [];
  const config = await createConfigFiles({ cwd, home, env, platform: process.platform, trustsProjectSettings: () => true }).load();
  const servers = [...config.servers.values()].flatMap((server) => (server.state === "enabled" ? [server.definition] : []));
  const transports = sharedTransports(transportsUnderTest({ cwd, home, env }).factory, {
    stateDir: findDirectories(env, home).state,
    cwd,
    home,
    env,
    timers: systemTimers,
    asks: () => ({ form: false, url: false, sampling: false }),
    onUnshared: (notice) => notices.push(notice),
  });
  return { notices, ...(await poolUnderTest({ servers, transports, time: { ...systemClock, ...systemTimers } })) };
}

test("[SH1] [SH10] [SH32] two sessions and a remote client share one process, and the sessions outlive the agent", { timeout: 60_000 }, async () => {
  const home = newHome();
  const journal = join(home.dir, "journal");
  mkdirSync(join(home.dir, ".config/mcp"), { recursive: true });
  writeFileSync(join(home.dir, ".config/mcp/mcp.json"), mcpJson({ good: fixtureEntry("good", ["--journal", journal]) }));
  const starts = () => readJournal(journal).flatMap(({ event, pid }) => (event === "start" ? [pid] : []));
  const agent = await startAgent(home);
  const [one, two] = [await sessionIn(home), await sessionIn(home)];
  const remote = agent.client.callTool({ name: "mcp", arguments: { tool: "good_echo", args: { text: "from afar" } } });
  const answers = await Promise.all([remote, echo(one.pool, "good"), echo(two.pool, "good")]);
  expect(answers).toMatchObject([{ content: [{ text: "from afar" }] }, { ok: true }, { ok: true }]);
  expect(one.pool.state("good")).toMatchObject({ facts: { wire: "socket" } });
  expect(starts()).toHaveLength(1);

  const running = failureOf(callOf(one.pool, "good", { name: "sleep", arguments: { ms: 30_000 } }));
  await waitUntil("the call runs", () => readJournal(journal).some(({ tool }) => tool === "sleep"));
  process.kill(agent.pid, "SIGKILL");
  expect(String(await running)).toMatch(/pimcp: the shared connection was ended/);
  expect(await echo(one.pool, "good")).toMatchObject({ ok: true });
  expect(one.notices).toHaveLength(1);
  await waitUntil("the shared process has ended", () => starts().filter(isAlive).length === 1);
  expect(starts()).toHaveLength(2);
});
