/** Real clients, given nothing but a URL and a token, work on the workstation through the relay. */
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ask, said, send, type CallResult } from "../support/agent-requests.ts";
import { startPimcp, type Pimcp } from "../support/pimcp.ts";
import { connectV2, SDK_CLIENTS, type SdkClient } from "../support/sdk-clients.ts";
import { MODERN, reply, toolCall } from "../support/surface-under-test.ts";

const repository = join(import.meta.dirname, "../..");
const TOOLS = ["read", "write", "edit", "ls", "grep", "find", "bash", "get_instructions"];
let agent: Pimcp;
beforeAll(async () => {
  agent = await startPimcp({ files: { "notes.txt": "from the workstation\n" } });
});
afterAll(async () => {
  await agent.stop();
  await agent.home.remove();
});

async function works(client: SdkClient): Promise<void> {
  expect(await client.listTools()).toEqual(TOOLS);
  expect((await client.call("read", { path: "notes.txt" })).content).toEqual([{ type: "text", text: "from the workstation\n" }]);
  expect(said((await client.call("bash", { command: "pwd; cat notes.txt" })) as CallResult)).toBe(`${agent.home.root}\nfrom the workstation\n`);
  expect(await client.call("bash", { command: "exit 3" })).toMatchObject({ isError: true });
}

describe.each([
  ["SDK v2, modern", MODERN],
  ["SDK v2, either era", MODERN],
  ["SDK v2, legacy", "2025-11-25"],
  ["SDK v1", "2025-11-25"],
] as const)("%s", (name, version) => {
  test("[EE1] lists the tools, reads a file and runs a command", async () => {
    await using client = await SDK_CLIENTS[name](agent);
    expect(client.version).toBe(version);
    await works(client);
  });
});

describe("a client that behaves as claude.ai", () => {
  test("[EE1] [MC1] [MC2] [MC3] probes for the modern era, then initializes anew for each call and repeats its ids", async () => {
    const discovered = await reply(await send(agent, { id: 0, method: "server/discover" }, { era: "modern" }));
    expect(discovered.result).toMatchObject({ supportedVersions: [MODERN] });
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "claude-ai", version: "0.1.0" } };
    const headers = { "mcp-protocol-version": "2025-06-18" };
    const results: string[] = [];
    for (const [name, args] of [
      ["read", { path: "notes.txt" }],
      ["bash", { command: "cat notes.txt" }],
    ] as const) {
      const greeted = await send(agent, { id: 0, method: "initialize", params });
      expect(greeted.headers.get("mcp-session-id")).toBeNull();
      expect((await reply(greeted)).result).toMatchObject({ protocolVersion: "2025-06-18" });
      expect((await send(agent, { method: "notifications/initialized" }, { headers })).status).toBe(202);
      const listed = await ask(agent, { id: 1, method: "tools/list" }, { headers });
      expect(listed.result?.["tools"]).toHaveLength(TOOLS.length);
      results.push(said((await ask(agent, toolCall(1, name, args), { headers })).result as unknown as CallResult));
    }
    expect(results).toEqual(["from the workstation\n", "from the workstation\n"]);
  });
});

describe("mcp-remote", () => {
  test("[EE1] connects a stdio client with a fixed header", async () => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [
        join(repository, "test/node_modules/mcp-remote/dist/proxy.js"),
        agent.url,
        "--transport",
        "http-only",
        "--header",
        `Authorization: Bearer ${agent.token}`,
      ],
      env: { ...strings(agent.home.env), MCP_REMOTE_CONFIG_DIR: join(agent.home.dir, "mcp-remote") },
      stderr: "pipe",
    });
    await using client = await connectV2(transport, "legacy");
    expect(client.version).toBe("2025-11-25");
    await works(client);
  });
});

describe("Pi as an MCP host", () => {
  test("[EE1] a model there reads a file and runs a command here", async () => {
    const piDir = join(agent.home.dir, "pi");
    mkdirSync(piDir);
    const server = { url: agent.url, headers: { Authorization: `Bearer ${agent.token}` }, exposure: "direct" };
    writeFileSync(join(piDir, "mcp.json"), JSON.stringify({ mcpServers: { here: server } }));
    const calls = [
      ["mcp__here__read", { path: "notes.txt" }],
      ["mcp__here__bash", { command: "pwd" }],
      ["mcp__here__bash", { command: "echo broken >&2; exit 3" }],
    ];
    const events = await runPi(piDir, calls);
    const ends = events.filter((event) => event["type"] === "tool_execution_end");
    const texts = ends.map((event) => said(event["result"] as CallResult));
    expect(texts).toEqual([
      expect.stringContaining("from the workstation"),
      expect.stringContaining(agent.home.root),
      expect.stringContaining("broken"),
    ]);
    expect(ends.map((event) => event["isError"])).toEqual([false, false, true]);
  });

  async function runPi(piDir: string, calls: readonly unknown[]): Promise<Record<string, unknown>[]> {
    const args = ["--mode", "json", "--no-session", "-e", join(repository, "test/fixtures/scripted-model.ts"), "--model", "scripted/one", "go on"];
    const child = spawn(process.execPath, [join(repository, "node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js"), ...args], {
      cwd: agent.home.dir,
      env: { ...agent.home.env, PI_OFFLINE: "1", PI_CODING_AGENT_DIR: piDir, SCRIPTED_TOOL_CALLS: JSON.stringify(calls) },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: 40_000,
    });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    const code = await new Promise((resolve) => child.once("close", resolve));
    if (code !== 0) throw new Error(`pi ended with ${String(code)}: ${stderr}\n${stdout.slice(-2000)}`);
    return stdout
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }
});

function strings(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}
