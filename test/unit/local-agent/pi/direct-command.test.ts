/** `/mcp direct`, over an adapter whose servers a test plays. */
import { expect, test } from "vitest";
import type { DirectTools } from "../../../../local-agent/adapter/config/server-definition.ts";
import { runMcpCommand } from "../../../../local-agent/pi/mcp-command.ts";
import { completionsOf } from "../../../../local-agent/pi/mcp-completions.ts";
import { runPanel } from "../../../../local-agent/pi/mcp-panel.ts";
import type { McpCommandParts } from "../../../../local-agent/pi/mcp-subcommand.ts";
import { adapterUnderTest, type Scene } from "../../../support/adapter-under-test.ts";

const FILE = "/home/me/.pi/agent/mcp.json";

async function commanded(servers: Parameters<typeof adapterUnderTest>[0], scene: Scene = {}) {
  const { adapter, mcp } = await adapterUnderTest(servers, scene);
  const kept: { readonly server: string; readonly directTools: DirectTools }[] = [];
  const edits = {
    setDisabled: () => Promise.reject(new Error("not of this test")),
    keepDirectTools(server: string, directTools: DirectTools) {
      kept.push({ server, directTools });
      return Promise.resolve(FILE);
    },
  };
  const parts: McpCommandParts = {
    adapter,
    signal: new AbortController().signal,
    edits,
    tokens: () => Promise.reject(new Error("no store")),
    home: "/home/me",
    now: () => 0,
  };
  const events: string[] = [];
  adapter.subscribe(({ t }) => events.push(t));
  const names = () => adapter.directTools().map(({ name, shown }) => (shown ? name : `(${name})`));
  return { adapter, mcp, kept, parts, events, names, type: (line: string) => runMcpCommand(parts, line) };
}

const TWO = { a: { tools: { one: {}, two: {} } }, "a b": { tools: { three: {} } }, down: { tools: { one: {} }, down: "no such program" } };

test("[PI76] on, off, names and search hold at once, and are kept", async () => {
  const { mcp, type, names, kept, events } = await commanded(TWO);
  await mcp({ connect: "a" });
  expect(names()).toEqual([]);

  expect(await type("direct a on")).toEqual({ text: `a: 2 of 2 tools are direct. Kept in ${FILE}.`, level: "info" });
  expect(names()).toEqual(["a_one", "a_two"]);
  expect(events).toContain("tools");

  // By the name it is shown under or the one its server gives it; twice is once.
  expect((await type("direct a a_two, two")).text).toBe(`a: 1 of 2 tools are direct: a_two. Kept in ${FILE}.`);
  expect(names()).toEqual(["a_two"]);

  expect((await type("direct a search")).text).toContain("2 of 2 tools are direct once a search finds them");
  expect(names()).toEqual(["(a_one)", "(a_two)"]);
  expect((await mcp({ search: "one" })).details).toMatchObject({ activated: expect.arrayContaining(["a_one"]) });

  expect((await type("direct a off")).text).toContain("0 of 2 tools are direct");
  expect(names()).toEqual([]);
  expect(kept).toEqual([
    { server: "a", directTools: true },
    { server: "a", directTools: ["two"] },
    { server: "a", directTools: "search" },
    { server: "a", directTools: false },
  ]);
});

test("[PI76] a server with spaces in its name is meant by all of it", async () => {
  const { mcp, type, kept } = await commanded(TWO);
  await mcp({ connect: "a b" });
  expect((await type("direct a b three")).text).toContain("a b: 1 of 1 tools are direct");
  expect(kept).toEqual([{ server: "a b", directTools: ["three"] }]);
});

test("[PI76] only the server: what is direct now, and nothing is changed", async () => {
  const { mcp, type, kept } = await commanded({ a: { tools: { one: {}, two: {} }, definition: { directTools: ["two"] } } });
  await mcp({ connect: "a" });
  expect((await type("direct a")).text).toBe("a: 1 of 2 tools are direct: a_two. /mcp direct a on|off|search|<tool> … changes that.");
  expect(kept).toEqual([]);
});

test.each([
  ["direct", "Name a server"],
  ["direct nobody on", "There is no MCP server nobody"],
  ["direct a on two", "It has no tool on"],
  ["direct a tow", "did you mean two?"],
  ["direct down one", "Its tools are not known yet"],
])("[PI76] %s is a complaint that says what to type, and changes nothing", async (line, words) => {
  const { mcp, type, kept, names } = await commanded(TWO);
  await mcp({ connect: "a" });
  const { text, level } = await type(line);
  expect(level).toBe("error");
  expect(text).toContain(words);
  expect(kept).toEqual([]);
  expect(names()).toEqual([]);
});

test("[PI76] MCP_DIRECT_TOOLS decides for the session, which is said", async () => {
  const { adapter, mcp, type, kept, names } = await commanded(TWO, { env: { MCP_DIRECT_TOOLS: "a/one" } });
  const before = adapter.pool.definition("a")?.directTools;
  await mcp({ connect: "a" });
  expect((await type("direct a search")).text).toBe(`MCP_DIRECT_TOOLS decides which tools are direct in this session. Kept in ${FILE}.`);
  expect(adapter.pool.definition("a")?.directTools).toBe(before);
  expect(names()).toEqual(["a_one"]);
  expect(kept).toHaveLength(1);
});

test("[PI76] what could not be kept does not hold either", async () => {
  const { mcp, parts, names } = await commanded(TWO);
  await mcp({ connect: "a" });
  const failing = { setDisabled: () => Promise.reject(new Error("x")), keepDirectTools: () => Promise.reject(new Error("the file is broken")) };
  expect(await runMcpCommand({ ...parts, edits: failing }, "direct a on")).toEqual({ text: "the file is broken", level: "error" });
  expect(await runMcpCommand({ ...parts, edits: null }, "direct a on")).toMatchObject({
    level: "warning",
    text: expect.stringContaining("not available here"),
  });
  expect(names()).toEqual([]);
});

test("[PI60] [PI76] the panel shows and hides a server's tools", async () => {
  const { mcp, parts, names } = await commanded({ a: TWO.a });
  await mcp({ connect: "a" });
  const picked: string[][] = [];
  const answers = ["a: ", "Show its tools", "a: ", "Keep its tools", "Close"];
  const select = (_title: string, choices: string[]) => {
    picked.push(names());
    return Promise.resolve(choices.find((choice) => choice.startsWith(answers[picked.length - 1] ?? "")));
  };
  const notes: string[] = [];
  await runPanel({ select, notify: (text) => void notes.push(text) }, parts);
  expect(picked).toEqual([[], [], ["a_one", "a_two"], ["a_one", "a_two"], []]);
  expect(notes).toHaveLength(2);
});

test("[PI64] completes a server after direct, and then what may come after it", () => {
  expect(completionsOf("direct ", ["good", "other"])).toEqual(["direct good", "direct other"]);
  expect(completionsOf("direct good ", ["good", "other"])).toEqual(["direct good on", "direct good off", "direct good search"]);
  expect(completionsOf("direct good se", ["good"])).toEqual(["direct good search"]);
});
