/** The whole adapter over real programs, real transports and real files. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ServerDefinition } from "../../../local-agent/adapter/config/server-definition.ts";
import { createOutputFiles } from "../../../local-agent/node/output-files.ts";
import { systemClock, systemTimers } from "../../../local-agent/node/system-time.ts";
import { createUpstreamTransports } from "../../../local-agent/node/upstream-transports.ts";
import { adapterUnderTest, remote, textOf, type AdapterUnderTest, type Scene } from "../../support/adapter-under-test.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { fixtureCommand } from "../../support/upstream-fixture.ts";

const log = { event: () => {} };

async function withFixtures(
  fixtures: Readonly<Record<string, Partial<ServerDefinition> & { readonly flags?: readonly string[] }>>,
  ports: Scene["ports"] = {},
): Promise<AdapterUnderTest> {
  const directory = tempDir();
  const servers = Object.entries(fixtures).map(([name, { flags = [], ...definition }]) => {
    const stdio = { kind: "stdio" as const, ...fixtureCommand(name, ...flags), env: {}, cwd: null, inheritEnv: true, plugin: null };
    return [name, { tools: {}, definition: { transport: stdio, lifecycle: "eager" as const, ...definition } }] as const;
  });
  const transports = createUpstreamTransports({
    env: process.env,
    home: homedir(),
    cwd: directory,
    clock: systemClock,
    timers: systemTimers,
    log,
    newId: randomUUID,
  });
  const output = createOutputFiles({ directory: join(directory, "output"), timers: systemTimers, log });
  const under = await adapterUnderTest(Object.fromEntries(servers), { ports: { clock: systemClock, transports, output, ...ports } });
  return under;
}

test("[CL1] [CL20] [CL70] a remote client finds a tool, calls it, and reads the whole of a large answer in a file", async () => {
  const { mcp } = await withFixtures({ good: {} });
  const caller = remote("grant:1");
  expect(textOf(await mcp({ connect: "good" }, { caller }))).toContain("good_echo");
  expect((await mcp({ search: "add two numbers" }, { caller })).details["matches"]).toMatchObject([{ tool: "good_add" }]);
  expect(textOf(await mcp({ tool: "good_echo", args: '{"text":"Grüße"}' }, { caller }))).toContain("Grüße");
  const big = textOf(await mcp({ tool: "good_big", args: { bytes: 200_000 } }, { caller }));
  expect(Buffer.byteLength(big)).toBeLessThanOrEqual(51_200);
  const path = /in the file (\S+) on the workstation/.exec(big)?.[1] ?? "";
  expect(readFileSync(path, "utf8")).toHaveLength(200_000);
});

test("[CL14] a server that lies about its schemas is shown for what it is", async () => {
  const { mcp } = await withFixtures({ lying: {} });
  await mcp({ connect: "lying" });
  expect(textOf(await mcp({ tool: "lying_wrong_shape" }))).toMatch(/the tool ran[^]*"sum" must be number[^]*"three"/);
  expect(textOf(await mcp({ tool: "lying_no_structure" }))).toMatch(/no structured content[^]*three/);
  expect(textOf(await mcp({ tool: "lying_bad_schema", args: { a: 1 } }))).toBe("took it");
  expect((await mcp({ tool: "lying_loop", args: {} })).isError).toBe(false);
});

test("[CL30] a server that dies in a call is an error that names how it ended, and the server can be used again", async () => {
  const { mcp } = await withFixtures({ dying: {} });
  await mcp({ connect: "dying" });
  const died = await mcp({ tool: "dying_echo", args: { text: "x" } });
  expect(died).toMatchObject({ isError: true, details: { error: "call_failed" } });
  expect(textOf(died)).toContain("no database at /nowhere");
  expect(textOf(await mcp({}))).toContain('"dying": connects when it is used');
  expect(textOf(await mcp({ connect: "dying" }))).toContain("dying_echo");
});

test.each([
  ["legacy", "call_failed"],
  ["2026-07-28", "input_required_needs_ui"],
] as const)("[CL30] a server (%s) that asks where nobody can be asked says so", async (protocolVersion, error) => {
  const { mcp } = await withFixtures({ asking: { protocolVersion } });
  await mcp({ connect: "asking" });
  const asked = await mcp({ tool: "asking_ask" });
  expect(textOf(asked)).toMatch(/elicitation|nobody can be asked/i);
  expect(asked).toMatchObject({ isError: true, details: { error } });
});

test.each(["legacy", "2026-07-28"] as const)("[CL36] a server's question (%s) is put to the person in the caller's name", async (protocolVersion) => {
  const callers: string[] = [];
  const forms: NonNullable<Scene["ports"]>["forms"] = {
    modes: { form: true, url: false },
    ask: ({ caller }) => {
      callers.push(caller.kind === "remote" ? caller.principalId : "pi");
      return Promise.resolve({ action: "accept", content: { name: "Ada" } });
    },
  };
  const { mcp } = await withFixtures({ asking: { protocolVersion } }, { forms });
  await mcp({ connect: "asking" });
  expect(textOf(await mcp({ tool: "asking_ask" }, { caller: remote("grant:7") }))).toContain("Ada");
  expect(callers).toEqual(["grant:7"]);
});
