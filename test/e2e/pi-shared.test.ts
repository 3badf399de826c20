/** Several sessions of the real Pi and a remote client, with one process of a server between them. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { callTool } from "../support/agent-requests.ts";
import { isAlive } from "../support/alive.ts";
import { openRpc, piPlace, toolEnds, type RpcPi } from "../support/pi-program.ts";
import { startPimcp } from "../support/pimcp.ts";
import { readJournal } from "../support/upstream-fixture.ts";
import { fixtureEntry, mcpJson } from "../support/upstream-files.ts";

const ECHO = 'mcp {"tool":"good_echo","args":{"text":"hello"}}';

test("[SH10] [SH50] [SH51] two sessions started with --shared and a remote client have one process, also when one of them leaves", async () => {
  await using place = piPlace({ mcpServers: {} });
  const { home } = place;
  const journal = place.journal("good");
  mkdirSync(join(home.dir, ".config/mcp"), { recursive: true });
  writeFileSync(join(home.dir, ".config/mcp/mcp.json"), mcpJson({ good: fixtureEntry("good", ["--journal", journal]) }));
  const living = () => readJournal(journal).flatMap(({ event, pid }) => (event === "start" && isAlive(pid) ? [pid] : []));
  const echo = async (pi: RpcPi) => toolEnds(await pi.prompt(ECHO)).at(-1);

  const agent = await startPimcp({ home });
  await using one = openRpc(place, { args: ["--shared"] });
  await using two = openRpc(place, { args: ["--shared"] });
  const remote = callTool(agent, "mcp", { tool: "good_echo", args: { text: "from afar" } });
  expect(await Promise.all([echo(one), echo(two), remote])).toMatchObject([
    { text: "hello" },
    { text: "hello" },
    { content: [{ text: "from afar" }] },
  ]);
  expect(living()).toHaveLength(1);
  await one.end();
  expect(await echo(two)).toMatchObject({ text: "hello" });
  expect(living()).toHaveLength(1);

  agent.run.child.kill("SIGINT");
  expect(await agent.run.exit(8000)).toBe(0);
  expect(living()).toEqual([]);
  const from = two.events.length;
  expect(await echo(two)).toMatchObject({ text: "hello" });
  await two.next("the notice", (event) => event["method"] === "notify" && String(event["message"]).includes("No running pimcp"), from);
  expect(living()).toHaveLength(1);
});

test("[SH50] a session without --shared has a process of its own", async () => {
  await using place = piPlace({ mcpServers: {} });
  const { home } = place;
  const journal = place.journal("good");
  mkdirSync(join(home.dir, ".config/mcp"), { recursive: true });
  writeFileSync(join(home.dir, ".config/mcp/mcp.json"), mcpJson({ good: fixtureEntry("good", ["--journal", journal]) }));
  await using agent = await startPimcp({ home });
  await using pi = openRpc(place);
  await callTool(agent, "mcp", { connect: "good" });
  expect(toolEnds(await pi.prompt(ECHO)).at(-1)).toMatchObject({ text: "hello" });
  const starts = readJournal(journal).filter(({ event, pid }) => event === "start" && isAlive(pid));
  expect(starts).toHaveLength(2);
});
