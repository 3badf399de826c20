/** `mcpScript` through the whole adapter: real servers of the SDK in this process, a real script. */
import { expect, test } from "vitest";
import type { JsonObject } from "../../../shared/json.ts";
import { adapterCall, adapterUnderTest, textOf, type AdapterUnderTest, type PlayedServer, type Scene } from "../../support/adapter-under-test.ts";
import { waitUntil } from "../../support/wait-until.ts";

const ROWS = Array.from({ length: 500 }, (_, id) => ({ id, name: `row ${id}`, filler: "x".repeat(80) }));

const database: PlayedServer = {
  tools: {
    list_rows: {
      description: "Lists the rows of a table",
      inputSchema: { type: "object", properties: { table: { type: "string" } }, required: ["table"] },
      outputSchema: { type: "object", properties: { rows: { type: "array" } } },
      run: () => ({ content: [{ type: "text", text: JSON.stringify({ rows: ROWS }) }], structuredContent: { rows: ROWS } }),
    },
    delete_row: { description: "Deletes a row" },
    break: { description: "Fails", run: () => ({ content: [{ type: "text", text: "it is broken" }], isError: true }) },
  },
};

async function open(
  scene: Scene = {},
  server: PlayedServer = database,
): Promise<{ under: AdapterUnderTest; run: (code: string) => ReturnType<AdapterUnderTest["mcp"]> }> {
  const under = await adapterUnderTest({ db: server }, scene);
  await under.mcp({ connect: "db" });
  return { under, run: (code) => under.adapter.script(adapterCall({ code })) };
}

test("[MS5] [MS7] finds a tool, looks at it, calls it, and sees all of its rows", async () => {
  const { run } = await open();
  const result = await run(`
    const { items } = await tools.search({ query: "rows of a table" });
    const tool = await tools.describe({ path: items[0].path });
    const { ok, data } = await tools.call(tool.path, { table: "t" });
    return { tool, ok, found: data.structuredContent.rows.filter(({ id }) => id === 7).map(({ name }) => name) }`);
  expect(JSON.parse(textOf(result))).toEqual({
    tool: {
      path: "db_list_rows",
      name: "list_rows",
      server: "db",
      description: "Lists the rows of a table",
      inputTypeScript: expect.stringContaining("table: string"),
      outputSchemaTarget: "data.structuredContent",
      outputSchema: expect.objectContaining({ type: "object" }),
    },
    ok: true,
    found: ["row 7"],
  });
  expect((result.details["calls"] as JsonObject[]).map(({ operation, ok }) => [operation, ok])).toEqual([
    ["search", true],
    ["describe", true],
    ["call", true],
  ]);
});

test("[MS5] goes on after a tool that fails, arguments that do not fit, a name that is none, and a person's no", async () => {
  const { under, run } = await open(
    { approve: () => ({ decision: "deny", because: "person", text: "No, not that one." }) },
    { ...database, definition: { approveTools: ["delete_row"] } },
  );
  const result = await run(`
    const answers = [await tools.db_break(), await tools.db_list_rows({ tabel: 1 }), await tools.db_nope(), await tools.db_delete_row({ id: 1 }), await tools.describe({ path: "db_nope" })];
    return answers.map(({ error }) => error.code)`);
  expect(JSON.parse(textOf(result))).toEqual(["tool_error", "call_failed", "tool_not_found", "approval_denied", "tool_not_found"]);
  expect(under.asked.map(({ origin, args, displayed }) => [origin, args, displayed])).toEqual([["script", { id: 1 }, "db_delete_row"]]);
  expect(under.received.map(({ tool }) => tool)).toEqual(["break"]);
  expect(result.isError).toBe(false);
});

test("[MS2] a long output is cut by the guard and kept whole", async () => {
  const { under, run } = await open();
  const result = await run(`for (let i = 0; i < 5000; i++) console.log("line", i); throw new Error("at last")`);
  expect(textOf(result).length).toBeLessThan(60_000);
  expect(result.content.at(-1)).toEqual({ type: "text", text: "at last (line 1)" });
  expect(under.kept[0]).toContain("[console.log] line 4999");
});

test("[MS4] a call that is left behind is cancelled at its server", async () => {
  let cancelled = false;
  const slow: PlayedServer = {
    tools: {
      slow: {
        run: (_args, { mcpReq }) =>
          new Promise((resolve) => {
            mcpReq.signal.addEventListener("abort", () => {
              cancelled = true;
              resolve({ content: [] });
            });
          }),
      },
    },
  };
  const { run } = await open({}, slow);
  expect(textOf(await run(`tools.db_slow(); await tools.search({ query: "slow" }); return "early"`))).toBe("early");
  await waitUntil("the server hears of it", () => cancelled);
});

test("[MS1] is offered unless the settings say no, and runs nothing without code", async () => {
  const { under } = await open();
  expect(under.adapter.scriptTool()?.name).toBe("mcpScript");
  expect(await under.adapter.script(adapterCall({}))).toMatchObject({ isError: true, details: { mode: "script", error: "invalid_arguments" } });
  const { under: without } = await open({ settings: { scriptMode: false } });
  expect(without.adapter.scriptTool()).toBeNull();
});
