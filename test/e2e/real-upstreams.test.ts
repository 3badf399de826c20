/** MCP servers as people install them, on the workstation behind one agent, used by remote clients. Their packages are pinned under `test/`. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { FormCard } from "../../shared/upstream-form.ts";
import { callTool, type CallResult } from "../support/agent-requests.ts";
import { personAt, type Person } from "../support/person.ts";
import { commandLine, newHome, startPimcp, type Home, type Pimcp } from "../support/pimcp.ts";
import { SDK_CLIENTS } from "../support/sdk-clients.ts";
import { mcpJson, type ServerEntry } from "../support/upstream-files.ts";
import { waitUntil } from "../support/wait-until.ts";

const PACKAGES = join(import.meta.dirname, "../node_modules");
const EVERYTHING = "@modelcontextprotocol/server-everything/dist/index.js";
const FILESYSTEM = "@modelcontextprotocol/server-filesystem/dist/index.js";
const MEMORY = "@modelcontextprotocol/server-memory/dist/index.js";
const CHROME = "chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js";

/** With the Node of this test, from what is installed: nothing is downloaded. */
function installed(program: string, args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): ServerEntry {
  return { command: process.execPath, args: [join(PACKAGES, program), ...args], env };
}

let home: Home;
let agent: Pimcp;
let person: Person;

beforeAll(async () => {
  home = newHome({ "notes.txt": "a file of the project" });
  const servers = {
    everything: installed(EVERYTHING),
    files: installed(FILESYSTEM, [home.root]),
    memory: installed(MEMORY, [], { MEMORY_FILE_PATH: join(home.dir, "memory.jsonl") }),
    chrome: installed(CHROME, ["--no-usage-statistics"], { CHROME_DEVTOOLS_MCP_NO_UPDATE_CHECKS: "1" }),
  };
  mkdirSync(join(home.dir, ".config/mcp"), { recursive: true });
  writeFileSync(join(home.dir, ".config/mcp/mcp.json"), mcpJson(servers));
  agent = await startPimcp({ home, args: ["--expose", "everything"] });
  person = personAt(() => agent.pageUrl());
});
afterAll(async () => {
  await agent[Symbol.asyncDispose]();
  await home.remove();
});

const mcp = (args: Record<string, unknown>): Promise<CallResult> => callTool(agent, "mcp", args);
const call = (tool: string, args: Record<string, unknown> = {}): Promise<CallResult> => mcp({ tool, args });
const saidBy = ({ content }: CallResult): string => content.map(({ text }) => text ?? "").join("\n");

describe("finding", () => {
  test.each([
    ["everything", "everything_get-sum"],
    ["files", "files_read_text_file"],
    ["memory", "memory_create_entities"],
    ["chrome", "chrome_take_screenshot"],
  ])("the tools of %s are listed", async (server, tool) => {
    const listed = await mcp({ connect: server });
    expect([saidBy(listed), listed.isError]).toEqual([expect.stringContaining(tool), false]);
  });

  test("all servers are connected to, and counted", async () => {
    expect(saidBy(await mcp({}))).toMatch(/^4 servers \(4 connected\)/);
  });

  test.each([
    ["take a screenshot of the page", "chrome_take_screenshot"],
    ["move a file", "files_move_file"],
    ["remember a person in the knowledge graph", "memory_create_entities"],
    ["add two numbers", "everything_get-sum"],
  ])("a search for %j finds the tool at once", async (search, tool) => {
    expect(saidBy(await mcp({ search }))).toContain(tool);
  });

  test("a tool is described with its parameters, by either spelling of its name", async () => {
    for (const name of ["everything_get-sum", "everything_get_sum"]) expect(saidBy(await mcp({ describe: name }))).toContain("a: number");
    expect(saidBy(await mcp({ describe: "chrome_click" }))).toContain("uid: string");
  });
});

describe("calling", () => {
  test("a tool by either spelling of its name", async () => {
    for (const name of ["everything_get-sum", "everything_get_sum"]) {
      expect(saidBy(await call(name, { a: 2, b: 3 }))).toBe("The sum of 2 and 3 is 5.");
    }
  });

  test("structured content is shown once", async () => {
    const { content } = await call("everything_get-structured-content", { location: "Chicago" });
    expect(content.map(({ text }) => JSON.parse(text ?? "") as unknown)).toEqual([expect.objectContaining({ temperature: 36 })]);
  });

  test("an image comes as an image, between its texts", async () => {
    const { content } = await call("everything_get-tiny-image");
    expect(content.map(({ type }) => type)).toEqual(["text", "image", "text"]);
    expect(content[1]).toMatchObject({ mimeType: "image/png", data: expect.stringMatching(/^iVBORw0KGgo/) });
  });

  test("a resource is read like a tool", async () => {
    expect(saidBy(await mcp({ search: "architecture document" }))).toContain("everything_read_architecture_md");
    expect(saidBy(await call("everything_read_architecture_md"))).toMatch(/^# .*Architecture/m);
  });

  test("arguments that do not fit are refused with what is expected", async () => {
    const refused = await call("everything_get-sum", { a: "two" });
    expect([saidBy(refused), refused.isError]).toEqual([expect.stringMatching(/Expected:[^]*a: number/), true]);
  });

  test("what one call leaves with a server, the next one finds", async () => {
    await call("memory_create_entities", { entities: [{ name: "Ada", entityType: "person", observations: ["wrote the first program"] }] });
    expect(saidBy(await call("memory_search_nodes", { query: "Ada" }))).toContain("wrote the first program");
  });

  test("a server's own limits hold, and its refusal reaches the model as one", async () => {
    expect(saidBy(await call("files_read_text_file", { path: join(home.root, "notes.txt") }))).toContain("a file of the project");
    const refused = await call("files_read_text_file", { path: join(home.dir, "memory.jsonl") });
    expect([saidBy(refused), refused.isError]).toEqual([expect.stringContaining("Access denied"), true]);
  });

  test("a script uses several servers in one call", async () => {
    const code = `
      const file = await tools.call("files_read_text_file", { path: ${JSON.stringify(join(home.root, "notes.txt"))} });
      const sum = await tools.call("everything_get-sum", { a: 20, b: 22 });
      return [file.ok, sum.ok];
    `;
    expect(saidBy(await callTool(agent, "mcpScript", { code }))).toContain("true");
  });

  test("a long operation reports its progress to the client", async () => {
    await using client = await SDK_CLIENTS["SDK v2, modern"](agent);
    const heard: string[] = [];
    const request = { tool: "everything_trigger-long-running-operation", args: { duration: 1.2, steps: 3 } };
    const result = await client.call("mcp", request, { onprogress: ({ message = "" }) => heard.push(message) });
    expect(result.content).toMatchObject([{ text: expect.stringContaining("completed") }]);
    expect(heard.join("\n")).toMatch(/\b[123]\/3/);
  });
});

describe("questions of a server", () => {
  const asksFor = async (asked: Promise<CallResult>, answer: (card: FormCard) => object): Promise<CallResult> => {
    await waitUntil("the form is on the page", async () => (await person.shows()).forms.length > 0, 10_000);
    const [card] = (await person.shows()).forms;
    if (card === undefined) throw new Error("the form is gone");
    expect(card).toMatchObject({ server: "everything", message: "Please provide inputs for the following fields:" });
    expect(await person.post("/api/form", { id: card.id, ...answer(card) })).toMatchObject({ body: { outcome: "sent" } });
    return asked;
  };

  test("are a form on the page, and the answer reaches the server", async () => {
    const result = await asksFor(call("everything_trigger-elicitation-request"), (card) => {
      const fields = card.asks.kind === "form" ? card.asks.fields : [];
      const prefilled = Object.fromEntries(fields.map(({ name, initial }) => [name, initial]));
      return { action: "accept", values: { ...prefilled, name: "Ada Lovelace", integer: "7" } };
    });
    expect(saidBy(result)).toMatch(/Name: Ada Lovelace[^]*Favorite Integer: 7[^]*Favorite Number: 3.14/);
  });

  test("may be declined", async () => {
    expect(saidBy(await asksFor(call("everything_trigger-elicitation-request"), () => ({ action: "decline" })))).toContain("declined");
  });

  test("to a model are none of it where no model can be asked: the server does not offer what needs one", async () => {
    const refused = await call("everything_trigger-sampling-request", { prompt: "hello" });
    expect([saidBy(refused), refused.isError]).toEqual([expect.stringContaining("No tool"), true]);
  });

  test("to the model of a client that declares one are the client's to decline, and the server hears why", async () => {
    const client = new Client({ name: "careful", version: "1" }, { capabilities: { sampling: {} } });
    client.setRequestHandler("sampling/createMessage", () => {
      throw new Error("the person does not allow it");
    });
    const headers = { Authorization: `Bearer ${agent.token}` };
    await client.connect(new StreamableHTTPClientTransport(new URL(agent.url), { requestInit: { headers } }));
    const declined = await client.callTool({ name: "trigger-sampling-request", arguments: { prompt: "hello" } });
    expect(declined).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("the person does not allow it") }] });
    await client.close();
  });
});

test("every server ends with the agent", async () => {
  const running = home.processes().map(commandLine);
  for (const program of [EVERYTHING, FILESYSTEM, MEMORY, "chrome-devtools-mcp"]) expect(running.join("\n")).toContain(program);
  expect(await agent.stop()).toBe(0);
});
