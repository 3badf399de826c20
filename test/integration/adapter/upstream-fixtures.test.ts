/** The fixtures do what their heads say, so that what is shown with them is true. */
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, test } from "vitest";
import { fixtureCommand } from "../../support/upstream-fixture.ts";

async function connected(mode: "legacy" | "auto", name: string, ...flags: readonly string[]): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  onTestFinished(() => client.close());
  await client.connect(new StdioClientTransport(fixtureCommand(name, ...flags)));
  return client;
}

test.each(["legacy", "auto"] as const)("paginated gives all pages (%s)", async (mode) => {
  const client = await connected(mode, "paginated", "--items", "25", "--page", "10");
  const first = await client.request({ method: "tools/list", params: {} });
  expect([first.tools.length, first.nextCursor]).toEqual([10, "10"]);
  const last = await client.request({ method: "tools/list", params: { cursor: "20" } });
  expect([last.tools.map(({ name }) => name), last.nextCursor]).toEqual([["tool_20", "tool_21", "tool_22", "tool_23", "tool_24"], undefined]);
});

test("resource-heavy has many resources and no tools", async () => {
  const client = await connected("legacy", "resource-heavy", "--resources", "300", "--bytes", "1000");
  expect(client.getServerCapabilities()?.tools).toBeUndefined();
  expect((await client.listResources()).resources).toHaveLength(300);
  const [read] = (await client.readResource({ uri: "file:///data/item-1.txt" })).contents;
  expect(read !== undefined && "text" in read && read.text.length).toBe(1000);
});

test("lying says one thing and does another", async () => {
  const client = await connected("legacy", "lying");
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(["wrong_shape", "no_structure", "bad_schema", "loop", "strict"]);
  await expect(client.callTool({ name: "wrong_shape", arguments: {} })).rejects.toThrow(/output schema/i);
});
