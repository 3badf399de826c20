/** The MCP servers of the workstation, reached by remote clients through the relay. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ask, callTool, type CallResult } from "../support/agent-requests.ts";
import { personAt } from "../support/person.ts";
import { commandLine, newHome, startPimcp, type Home, type Pimcp } from "../support/pimcp.ts";
import { SDK_CLIENTS } from "../support/sdk-clients.ts";
import { fixtureEntry, mcpJson, type ServerEntry } from "../support/upstream-files.ts";
import { waitUntil } from "../support/wait-until.ts";

const saidBy = ({ content }: CallResult): string => content.map(({ text }) => text ?? "").join("\n");

/** A person whose own file, not the project's, configures these servers. */
function homeWith(servers: Readonly<Record<string, ServerEntry>>, settings: Record<string, unknown> = {}): Home {
  const home = newHome({ "notes.txt": "a file of the project" });
  writeFileSync(personsFile(home), mcpJson(servers, settings));
  return home;
}

/** In a directory that is there now. */
function personsFile(home: Home): string {
  mkdirSync(join(home.dir, ".config/mcp"), { recursive: true });
  return join(home.dir, ".config/mcp/mcp.json");
}

describe("a server of the person's own file", () => {
  let home: Home;
  let agent: Pimcp;
  beforeAll(async () => {
    home = homeWith({
      good: fixtureEntry("good", [], { directTools: ["echo"] }),
      searched: fixtureEntry("good", [], { directTools: "search" }),
    });
    agent = await startPimcp({ home });
  });
  afterAll(async () => {
    await agent[Symbol.asyncDispose]();
    await home.remove();
  });

  test("[CL90] is found, described and called by a remote client through one tool", async () => {
    expect(saidBy(await callTool(agent, "mcp", { connect: "good" }))).toContain("good_echo");
    expect(saidBy(await callTool(agent, "mcp", { search: "echo text" }))).toContain("good_echo");
    expect(saidBy(await callTool(agent, "mcp", { describe: "good_add" }))).toContain("good_add");
    const echoed = await callTool(agent, "mcp", { tool: "good_echo", args: { text: "over the relay" } });
    expect([saidBy(echoed), echoed.isError]).toEqual(["over the relay", false]);
  });

  test.each(Object.entries(SDK_CLIENTS))("[CL90] is used by %s", async (_kind, connect) => {
    await using client = await connect(agent);
    const tools = await client.listTools();
    expect(tools).toEqual(expect.arrayContaining(["read", "mcp", "mcpScript", "good_echo"]));
    // Found, it is called through `mcp`.
    expect(tools).not.toContain("searched_echo");
    expect((await client.call("mcp", { tool: "searched_echo", args: { text: "found" } })).content).toMatchObject([{ text: "found" }]);
    expect((await client.call("good_echo", { text: "directly" })).content).toMatchObject([{ text: "directly" }]);
  });

  test("a script calls several of its tools in one call", async () => {
    const code = `const one = await tools.call("good_echo", { text: "a" }); const two = await tools.call("good_echo", { text: "b" }); return [one.ok, two.ok];`;
    expect(saidBy(await callTool(agent, "mcpScript", { code }))).toContain("true");
  });

  test("ends with the agent", async () => {
    expect(home.processes().some((pid) => commandLine(pid).includes("upstreams/good.ts"))).toBe(true);
    expect(await agent.stop()).toBe(0);
  });
});

describe("no server", () => {
  test("without any server there is no such tool", async () => {
    await using agent = await startPimcp();
    await expect(callTool(agent, "mcp", {})).rejects.toThrow(/Unknown tool: mcp/);
  });

  test("[ST90] --no-mcp leaves it out", async () => {
    await using home = homeWith({ good: fixtureEntry("good") });
    await using agent = await startPimcp({ home, args: ["--no-mcp"] });
    await expect(callTool(agent, "mcp", {})).rejects.toThrow(/Unknown tool: mcp/);
  });
});

describe("a server of the project's file", () => {
  test("[TR1] [TR3] [TR8] runs only after the person allowed it on the page, and again without a question after a restart", async () => {
    await using home = newHome({ ".mcp.json": mcpJson({ good: fixtureEntry("good") }, { scriptMode: true }) });
    writeFileSync(personsFile(home), mcpJson({}, { scriptMode: false }));
    await using agent = await startPimcp({ home });
    const person = personAt(() => agent.pageUrl());
    const [settings, card] = (await person.shows()).approvals;
    expect(settings).toMatchObject({ tool: "settings", server: { name: "" } });
    await person.post("/api/approve", { id: settings?.id, decision: "once" });
    expect(card).toMatchObject({ tool: "good", server: { name: "good", files: [join(home.root, ".mcp.json")] } });
    expect(card?.text).toContain("upstreams/good.ts");
    expect(await person.post("/api/approve", { id: card?.id, decision: "once" })).toMatchObject({ body: { outcome: "allowed" } });
    expect(saidBy(await callTool(agent, "mcp", { tool: "good_echo", args: { text: "allowed" } }))).toBe("allowed");
    await expect(callTool(agent, "mcpScript", { code: "return 7" })).rejects.toThrow(/Unknown tool: mcpScript/);
    await agent.stop();
    await using again = await startPimcp({ home });
    expect((await personAt(() => again.pageUrl()).shows()).approvals).toEqual([]);
    expect(saidBy(await callTool(again, "mcp", { tool: "good_echo", args: { text: "again" } }))).toBe("again");
    expect(saidBy(await callTool(again, "mcpScript", { code: "return 7" }))).toContain("7");
  });

  test("[TR1] [TR4] one that a client writes, or changes, is a question and not a program that runs", async () => {
    await using home = newHome();
    await using first = await startPimcp({ home });
    await callTool(first, "write", { path: ".mcp.json", content: mcpJson({ mine: { command: "touch", args: [join(home.dir, "owned")] } }) });
    await first.stop();
    await using agent = await startPimcp({ home });
    const person = personAt(() => agent.pageUrl());
    const [card] = (await person.shows()).approvals;
    expect(card?.text).toContain("owned");
    const called = callTool(agent, "mcp", { connect: "mine" });
    await person.post("/api/approve", { id: card?.id, decision: "deny" });
    expect(saidBy(await called)).toMatch(/not allowed|denied|refused/i);
    expect(() => readFileSync(join(home.dir, "owned"))).toThrow(/ENOENT/);
  });
});

describe("approval", () => {
  test("[HU80] a call that the configuration guards waits on the page, with what is sent, and a denied one is not made", async () => {
    await using home = homeWith({ good: fixtureEntry("good", [], { approveTools: ["echo"] }) });
    await using agent = await startPimcp({ home });
    const person = personAt(() => agent.pageUrl());
    const called = callTool(agent, "mcp", { tool: "good_echo", args: { text: "may I" } });
    await waitUntil("the card is there", async () => (await person.shows()).approvals.length === 1, 10_000);
    const [card] = (await person.shows()).approvals;
    expect(card).toMatchObject({ tool: "good_echo" });
    expect(JSON.parse(card?.text ?? "")).toEqual({ text: "may I" });
    await person.post("/api/approve", { id: card?.id, decision: "deny", reason: "not now" });
    const denied = await called;
    expect([saidBy(denied), denied.isError]).toEqual([expect.stringContaining("not now"), true]);
  });
});

describe("--expose", () => {
  test("[ST90] [PT1] shows clients of both eras a server's own tools, prompts and resources, beside ours", async () => {
    await using home = homeWith({ good: fixtureEntry("good") });
    await using agent = await startPimcp({ home, args: ["--expose", "good"] });
    for (const connect of [SDK_CLIENTS["SDK v2, modern"], SDK_CLIENTS["SDK v1"]]) {
      await using client = await connect(agent);
      expect(await client.listTools()).toEqual(expect.arrayContaining(["read", "mcp", "echo", "add"]));
      expect((await client.call("echo", { text: "as it is" })).content).toMatchObject([{ text: "as it is" }]);
    }
    const read = await ask(agent, { id: 1, method: "resources/read", params: { uri: "note://today" } });
    expect(JSON.stringify(read.result)).toContain("Water the plants.");
  });

  test("[ST90] a server that is not configured refuses the start, with those there are", async () => {
    await using home = homeWith({ good: fixtureEntry("good") });
    await expect(startPimcp({ home, args: ["--expose", "god"] })).rejects.toThrow(/Did you mean good\?/);
  });
});
