/** What a model is told of resources that changed since it read them, over real servers. */
import { expect, onTestFinished, test } from "vitest";
import type { ServerTransport } from "../../../local-agent/adapter/config/server-definition.ts";
import { systemTimers } from "../../../local-agent/node/system-time.ts";
import type { JsonObject } from "../../../shared/json.ts";
import type { Timers } from "../../../shared/ports.ts";
import { adapterUnderTest, textOf, type AdapterUnderTest } from "../../support/adapter-under-test.ts";
import { startProxy } from "../../support/cuttable-proxy.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { httpServer, stdioServer } from "../../support/server-transports.ts";
import { fixtureCommand, listeningFixture } from "../../support/upstream-fixture.ts";
import { transportsUnderTest } from "../../support/upstream-transports.ts";
import { waitUntil } from "../../support/wait-until.ts";

const FLAGS = ["--changeable", "--era", "modern", "--resources", "40", "--bytes", "100"];
const uri = (index: number) => `file:///data/item-${index}.txt`;

interface Connected {
  readonly adapter: AdapterUnderTest["adapter"];
  readonly mcp: (args: JsonObject) => Promise<string>;
  /** Reads the resource of that number. */
  readonly read: (index: number) => Promise<string>;
  readonly change: (index: number) => Promise<string>;
}

async function connected(transport: ServerTransport, timers: Timers = systemTimers): Promise<Connected> {
  const definition = { transport, protocolVersion: "2026-07-28", idleTimeoutMs: null } as const;
  const ports = { transports: transportsUnderTest().factory };
  const under = await adapterUnderTest({ notes: { tools: {}, definition } }, { timers, ports });
  const mcp: Connected["mcp"] = async (args) => textOf(await under.mcp(args));
  await mcp({ connect: "notes" });
  const reader = (index: number) => under.adapter.entries().find(({ resourceUri }) => resourceUri === uri(index))?.displayed ?? "";
  return {
    adapter: under.adapter,
    mcp,
    read: (index) => mcp({ tool: reader(index) }),
    change: (index) => mcp({ tool: "notes_change", args: { uri: uri(index) } }),
  };
}

function stdio(): ServerTransport {
  const { command, args } = fixtureCommand("resource-heavy", ...FLAGS);
  return stdioServer(command, args);
}

async function http(): Promise<ServerTransport> {
  return httpServer((await listeningFixture("resource-heavy", "--http", ...FLAGS)).url);
}

/** Changes it until that is seen: it is not told of before the stream stands. */
async function changeUntilSeen({ mcp, change }: Connected, index: number, step: () => void = () => undefined): Promise<void> {
  await waitUntil(`${uri(index)} is said to have changed`, async () => {
    step();
    await change(index);
    return (await mcp({})).includes(`Changed since it was read: ${uri(index)}`);
  });
}

/** News of the last changes may be under way still; without any, a mark goes with a read only. */
async function readUntilSame({ mcp, read }: Connected, index: number): Promise<string> {
  let text = "";
  await waitUntil(`${uri(index)} is as it was read`, async () => {
    text = await read(index);
    return !/changed since/i.test(await mcp({}));
  });
  return text;
}

test.each([
  ["a pipe", stdio],
  ["HTTP", http],
])("[UP79] [UP81] [CL57] what changes after it was read is said to have, over %s, until it is read again", async (_wire, transport) => {
  const notes = await connected(await transport());
  const { mcp } = notes;
  const before = [await mcp({}), await mcp({ server: "notes" })];
  expect(await notes.read(1)).not.toContain("changed");
  expect([await mcp({}), await mcp({ server: "notes" })]).toEqual(before);
  await changeUntilSeen(notes, 1);
  expect(await mcp({})).toMatch(/\n"notes": connected, 41 tools\n {2}Changed since it was read: file:\/\/\/data\/item-1\.txt\n\n/);
  expect(await mcp({ server: "notes" })).toMatch(/^"notes" \(connected\): 41 tools\nChanged since it was read: file:\/\/\/data\/item-1\.txt\nnotes_/);
  // Never read: not watched.
  await notes.change(2);
  expect(await readUntilSame(notes, 1)).toMatch(/changed \d+/);
  expect([await mcp({}), await mcp({ server: "notes" })]).toEqual(before);
});

test("[UP79] [CL57] of many that were read 32 are watched, for ten minutes, and a few are named", async () => {
  const clock = new ManualClock();
  const notes = await connected(stdio(), clock);
  for (let index = 0; index < 40; index++) await notes.read(index);
  await changeUntilSeen(notes, 39, () => clock.advance(50));
  for (let index = 0; index < 40; index++) await notes.change(index);
  const shown = `Changed since it was read: ${uri(39)}, ${uri(38)}, ${uri(37)} and 29 more`;
  await waitUntil("all are said to have changed", async () => (await notes.mcp({})).includes(shown));
  clock.advance(10 * 60_000);
  expect(await notes.mcp({})).not.toContain("Changed");
});

test("[UP80] [UP81] [UP82] a stream that is cut is opened again, what was missed meanwhile is said, and nothing is left at the end", async () => {
  const { url } = (await http()) as { url: string };
  const proxy = await startProxy(Number(new URL(url).port));
  onTestFinished(() => proxy.close());
  const clock = new ManualClock();
  const notes = await connected(httpServer(`${proxy.origin}/mcp`), clock);
  await notes.read(3);
  await changeUntilSeen(notes, 3, () => clock.advance(50));
  await readUntilSame(notes, 3);
  proxy.cut();
  await waitUntil("the stream is opened again", async () => {
    clock.advance(1000);
    return (await notes.mcp({})).includes(`May have changed since it was read: ${uri(3)}`);
  });
  await readUntilSame(notes, 3);
  await changeUntilSeen(notes, 3);
  await notes.adapter.close();
  expect(clock.waiting).toBe(0);
});
