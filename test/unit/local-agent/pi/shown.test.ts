/** What the footer, the notes and the completion say, over an adapter whose servers a test plays. */
import { describe, expect, test } from "vitest";
import type { Adapter } from "../../../../local-agent/adapter/adapter.ts";
import { attachAdapter } from "../../../../local-agent/pi/attach-adapter.ts";
import { footerText } from "../../../../local-agent/pi/footer.ts";
import { runMcpCommand } from "../../../../local-agent/pi/mcp-command.ts";
import { completionsOf } from "../../../../local-agent/pi/mcp-completions.ts";
import type { McpCommandParts } from "../../../../local-agent/pi/mcp-subcommand.ts";
import { keyringTokens } from "../../../../local-agent/node/keyring-tokens.ts";
import { statusSnapshot } from "../../../../local-agent/pi/mcp-status.ts";
import { adapterCall, adapterUnderTest, type Scene } from "../../../support/adapter-under-test.ts";
import { memoryKeyring } from "../../../support/memory-keyring.ts";
import { httpServer } from "../../../support/server-transports.ts";
import { waitUntil } from "../../../support/wait-until.ts";

const TOOLS = { echo: {} };

async function attached(servers: Parameters<typeof adapterUnderTest>[0], settings: Scene["settings"] = {}) {
  const notes: string[] = [];
  const footer: (string | undefined)[] = [];
  const { adapter } = await adapterUnderTest(servers, { settings });
  const ui = {
    notify: (text: string, level: string) => notes.push(`${level}: ${text}`),
    setStatus: (_key: string, text?: string) => footer.push(text),
  };
  const host = { pi: { events: { emit: () => {} } }, session: () => ({ ui }) } as never;
  const letGo = attachAdapter(adapter, { host, tools: { sync: () => {} }, prompts: { sync: () => {} } });
  return { adapter, notes, footer, letGo };
}

describe("the footer", () => {
  test("[PI54] counts the servers, and is short or absent when it is to be", async () => {
    const servers = { a: { tools: TOOLS }, b: { tools: TOOLS }, off: { tools: TOOLS, state: "disabled" as const } };
    const { adapter } = await adapterUnderTest(servers);
    await adapter.mcp(adapterCall({ connect: "a" }));
    await adapter.pool.disconnect("b");
    const withSettings = (settings: Scene["settings"]) =>
      footerText({ ...adapter, config: { ...adapter.config, settings: { ...adapter.config.settings, ...settings } } });
    expect(withSettings({})).toBe("🔌 MCP: 2 servers enabled, 1 connected, 1 disabled");
    expect(withSettings({ showStatusIcon: false, mcpFooterStatus: "compact" })).toBe("MCP 1/2");
    expect(withSettings({ mcpFooterStatus: "off" })).toBeUndefined();
  });
});

test("[PI66] the report, the footer, /mcp and the tool say the same numbers", async () => {
  const resources = [
    { uri: "file:///a", name: "a" },
    { uri: "file:///b", name: "b" },
  ];
  const { adapter, mcp } = await adapterUnderTest({
    with: { tools: TOOLS, resources },
    without: { tools: TOOLS, resources, definition: { exposeResources: false } },
    down: { tools: TOOLS, down: "no such program" },
    off: { tools: TOOLS, state: "disabled" },
  });
  for (const connect of ["with", "without", "down"]) await mcp({ connect });
  const totals = { totalTools: 4, connectedCount: 2, disabledCount: 1 };
  const counts = [
    { name: "with", toolCount: 3, resourceCount: 2 },
    { name: "without", toolCount: 1, resourceCount: 0 },
    { name: "down", toolCount: 0 },
    { name: "off", toolCount: 0 },
  ];
  expect(statusSnapshot(adapter, 0)).toMatchObject({ ...totals, totalResources: 2, servers: counts });
  expect((await mcp({})).details).toMatchObject({ ...totals, servers: counts });
  expect(footerText(adapter)).toBe("🔌 MCP: 3 servers enabled, 2 connected, 1 disabled");
  const { text } = await runMcpCommand(commandParts(adapter), "status");
  expect(text.replaceAll(/ \([^)]*\)/g, "")).toBe(
    "with: connected, 3 tools\nwithout: connected, 1 tool\ndown: failed 0 s ago, 0 tools: no such program\noff: disabled, 0 tools",
  );
});

describe("/mcp token", () => {
  const transport = httpServer("https://a.example/mcp?key=s3cret");

  test("[PI67] names the command of a shell for setting one, and does not repeat a token", async () => {
    const { adapter } = await adapterUnderTest({ a: { tools: TOOLS } });
    for (const typed of ["token set a s3cret", "token", "token s3cret", "token status"]) {
      const { text } = await runMcpCommand(commandParts(adapter), typed);
      expect(text).toContain("pimcp upstream-token set <server>");
      expect(text).not.toContain("s3cret");
    }
  });

  test("[PI67] status and remove ask the store, and show no part of an address that may be a key", async () => {
    const { adapter } = await adapterUnderTest({ a: { tools: TOOLS, definition: { transport } }, b: { tools: TOOLS } });
    const store = keyringTokens(memoryKeyring().open);
    await store.write("a", "https://a.example/mcp?key=s3cret", "t0ken");
    const type = async (line: string) => (await runMcpCommand({ ...commandParts(adapter), tokens: () => Promise.resolve(store) }, line)).text;
    expect(await type("token status a")).toBe(
      'A token is kept for a, for https://a.example/mcp only. It is not sent: "bearerTokenStore" is not true in its entry.',
    );
    expect(await type("token status b")).toContain("no HTTP server");
    expect(await type("token status c")).toContain("There is no MCP server c");
    expect(await type("token remove a")).toBe("The token of a is removed.");
    expect(await type("token remove a")).toBe("No token was kept for a.");
    expect(await type("token status a")).toBe("No token is kept for a.");
  });

  test("[PI67] a store that does not work is a complaint with its sentence", async () => {
    const { adapter } = await adapterUnderTest({ a: { tools: TOOLS } });
    expect(await runMcpCommand(commandParts(adapter), "token remove a")).toEqual({ text: "no store", level: "error" });
  });
});

function commandParts(adapter: Adapter): McpCommandParts {
  return {
    adapter,
    signal: new AbortController().signal,
    edits: null,
    tokens: () => Promise.reject(new Error("no store")),
    home: "/home/me",
    now: () => 0,
  };
}

describe("the notes", () => {
  const eager = { definition: { lifecycle: "eager" as const } };

  test("[PI53] say once which of the servers that connect at the start have done so, unless that is not wanted", async () => {
    const servers = { a: { tools: TOOLS, ...eager }, b: { tools: TOOLS, down: "no such program", ...eager }, lazy: { tools: TOOLS } };
    const { notes, adapter } = await attached(servers);
    await waitUntil("both are decided", () => notes.length === 2);
    expect(notes).toEqual(["info: MCP: connected to a.", "warning: MCP: not connected to b. /mcp status says why."]);
    await adapter.pool.disconnect("a");
    expect(notes).toHaveLength(2);
    const quiet = await attached({ a: { tools: TOOLS, ...eager } }, { notifyOnStartupConnect: false });
    await waitUntil("it is connected", () => quiet.adapter.pool.state("a").at === "connected");
    expect(quiet.notes).toEqual([]);
  });

  test("[PI58] say once that there are very many direct tools, and are silent once the session let go", async () => {
    const tools = Object.fromEntries(Array.from({ length: 80 }, (_, index) => [`tool_${index}`, {}]));
    const { notes, adapter, letGo, footer } = await attached({ a: { tools, definition: { directTools: true } } });
    await adapter.mcp(adapterCall({ connect: "a" }));
    await adapter.mcp(adapterCall({ connect: "a" }));
    expect(notes.filter((note) => note.includes("80 MCP tools are direct"))).toHaveLength(1);
    letGo();
    const before = footer.length;
    await adapter.pool.disconnect("a");
    expect(footer).toHaveLength(before);
  });
});

test("[PI64] completes the words of /mcp, and servers where one is to be named", () => {
  expect(completionsOf("re", ["good"])).toEqual(["reconnect"]);
  expect(completionsOf("disable g", ["good", "other"])).toEqual(["disable good"]);
  expect(completionsOf("status g", ["good"])).toEqual([]);
});
