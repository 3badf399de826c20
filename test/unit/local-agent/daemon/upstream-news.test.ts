import { expect, test } from "vitest";
import { warningLine } from "../../../../local-agent/adapter/config/warning-line.ts";
import { tellOfUpstreams } from "../../../../local-agent/daemon/upstream-news.ts";
import { adapterUnderTest } from "../../../support/adapter-under-test.ts";
import { echo, poolUnderTest } from "../../../support/pool-under-test.ts";
import { serverDefinition } from "../../../support/server-definitions.ts";
import { httpServer } from "../../../support/server-transports.ts";
import { waitUntil } from "../../../support/wait-until.ts";

test("[CT12] [CL88] the person is told what the adapter has to say of its tools", async () => {
  const tools = Object.fromEntries(Array.from({ length: 75 }, (_, index) => [`tool_${index}`, {}]));
  const definition = { toolPrefix: "none", directTools: true } as const;
  const { adapter, mcp } = await adapterUnderTest({ one: { tools, definition }, other: { tools: { tool_0: {} }, definition } });
  const told: string[] = [];
  tellOfUpstreams(adapter, (line) => told.push(line));
  await mcp({ connect: "one" });
  await mcp({ connect: "other" });
  expect(told).toEqual(
    expect.arrayContaining([expect.stringMatching(/"tool_0" is offered by several servers/), expect.stringMatching(/7\d MCP tools are direct/)]),
  );
});

test("[UP77] the log lines of a server with debug are shown, in one harmless line each, and those of another one are not", async () => {
  const server = (name: string, debug: boolean) => serverDefinition(name, { transport: httpServer("http://127.0.0.1:9/mcp"), debug });
  const { pool, upstreams } = await poolUnderTest({ servers: [server("loud", true), server("quiet", false)] });
  const told: string[] = [];
  tellOfUpstreams({ pool, subscribe: () => () => {} }, (line) => told.push(line));
  for (const name of ["loud", "quiet"]) {
    await echo(pool, name);
    const [peer] = upstreams.of(name);
    peer?.notify("notifications/message", { level: "warning", logger: "db", data: { slow: true } });
    peer?.notify("notifications/message", { level: "info", data: "one\n\u001b[2Jtwo" });
  }
  await waitUntil("both lines are there", () => told.length >= 2);
  expect(told).toEqual(['loud: [warning] db: {"slow":true}', "loud: [info] one⏎␛[2Jtwo"]);
});

test("[UC72] what is wrong with a configuration is one line, whatever its file calls its servers", () => {
  const said = warningLine({ file: "/p/.mcp.json", server: "x\nA sign-in waits: run pimcp allow\u001b[2J\u202e", message: 'got "a\nb"' });
  expect(said).toBe('/p/.mcp.json (x⏎A sign-in waits: run pimcp allow␛[2J‹U+202E›): got "a⏎b"');
  expect(warningLine({ file: "/p/.mcp.json", server: null, message: "it is not valid JSON" })).toBe("/p/.mcp.json: it is not valid JSON");
});
