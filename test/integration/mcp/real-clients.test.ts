/** The SDK clients that people's programs are built on, and a raw one that behaves as claude.ai does, over the loopback port. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport, type CallToolResult } from "@modelcontextprotocol/client";
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createLocalHttp, type LocalHttp } from "../../../local-agent/mcp/local-http.ts";
import { text, untilAborted } from "../../support/scripted-tools.ts";
import { MODERN, reply, surfaceUnderTest, toolCall, type Message } from "../../support/surface-under-test.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { waitUntil } from "../../support/wait-until.ts";

const TOKEN = "token-for-real-clients";
const headers = { Authorization: `Bearer ${TOKEN}` };
const { surface, tools, ended } = surfaceUnderTest({
  echo: (call) => text(JSON.stringify(call.args)),
  fail: () => ({ ...text("exit code 3"), structuredContent: { exit_code: 3 }, isError: true }),
  picture: () => ({ content: [{ type: "image", data: "aGk=", mimeType: "image/png" }], isError: false }),
  wait: untilAborted,
  lines: async (call) => {
    for (const line of ["one\n", "two\n", "three\n"]) {
      call.onProgress({ delta: line });
      await pause(300);
    }
    return text("done");
  },
});
let server: LocalHttp;

beforeAll(async () => {
  const tokenSha256s = [createHash("sha256").update(TOKEN).digest("hex")];
  server = await createLocalHttp({ handler: surface.handle, host: "127.0.0.1", port: 0, tokenSha256s });
});
afterAll(() => server.close());

/** What the clients have in common. */
interface AnyClient {
  readonly instructions: string | undefined;
  readonly version: string | undefined;
  listTools(): Promise<string[]>;
  call(
    name: string,
    args?: Record<string, unknown>,
    options?: { signal?: AbortSignal; onprogress?: (report: { message?: string | undefined }) => void },
  ): Promise<CallToolResult>;
  prompt(name: string): Promise<unknown>;
  close(): Promise<void>;
}

async function v2(mode: "legacy" | "auto" | { pin: typeof MODERN }, sessionId?: string): Promise<AnyClient> {
  const client = new Client({ name: "v2", version: "1" }, { versionNegotiation: { mode } });
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    requestInit: { headers },
    ...(sessionId !== undefined && { sessionId }),
  });
  await client.connect(transport);
  return {
    instructions: client.getInstructions(),
    version: client.getNegotiatedProtocolVersion(),
    listTools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    call: (name, args = {}, options = {}) => client.callTool({ name, arguments: args }, options),
    prompt: (name) => client.getPrompt({ name }),
    close: () => client.close(),
  };
}

async function v1(): Promise<AnyClient> {
  const client = new ClientV1({ name: "v1", version: "1" });
  const transport = new TransportV1(new URL(server.url), { requestInit: { headers } });
  await client.connect(transport);
  return {
    instructions: client.getInstructions(),
    version: transport.protocolVersion,
    listTools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    call: (name, args = {}, options = {}) => client.callTool({ name, arguments: args }, undefined, options) as Promise<CallToolResult>,
    prompt: (name) => client.getPrompt({ name }),
    close: () => client.close(),
  };
}

describe.each([
  ["SDK v2, modern", () => v2({ pin: MODERN }), MODERN],
  ["SDK v2, either", () => v2("auto"), MODERN],
  ["SDK v2, legacy", () => v2("legacy"), "2025-11-25"],
  ["SDK v1", v1, "2025-11-25"],
])("%s", (_, connect, version) => {
  test("[MC1] [MC27] connects, reads instructions, lists, calls and gets the prompt", async () => {
    const client = await connect();
    expect([client.version, client.instructions]).toEqual([version, "operating prompt"]);
    expect(await client.listTools()).toEqual(["echo", "fail", "picture", "wait", "lines", "get_instructions"]);
    expect((await client.call("echo", { a: 1 })).content).toEqual([{ type: "text", text: '{"a":1}' }]);
    expect(await client.prompt("pi_as_mcp_instructions")).toMatchObject({ messages: [{ content: { text: "operating prompt" } }] });
    await client.close();
  });

  test("[MC16] sees a failed command as one, and images as images", async () => {
    const client = await connect();
    expect(await client.call("fail")).toMatchObject({ isError: true, structuredContent: { exit_code: 3 } });
    expect((await client.call("picture")).content).toEqual([{ type: "image", data: "aGk=", mimeType: "image/png" }]);
    await expect(client.call("nope")).rejects.toThrow("Unknown tool: nope");
    await client.close();
  });

  test("[MC10] gets progress with the new output only", async () => {
    const client = await connect();
    const reports: (string | undefined)[] = [];
    await client.call("lines", {}, { onprogress: ({ message }) => reports.push(message) });
    expect(reports).toEqual(["one\n", "two\n", "three\n"]);
    await client.close();
  });

  test("[MC17] makes ten calls at once without mixing answers", async () => {
    const client = await connect();
    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => client.call("echo", { n })));
    expect(answers.map((answer) => answer.content)).toEqual(Array.from({ length: 10 }, (_, n) => [{ type: "text", text: JSON.stringify({ n }) }]));
    await client.close();
  });

  test("[MC13] [MC14] cancels a running call", async () => {
    const client = await connect();
    const [calls, ends] = [tools.seen.length, ended.length];
    const cancelling = new AbortController();
    const calling = client.call("wait", {}, { signal: cancelling.signal });
    await waitUntil("the tool runs", () => tools.seen.length > calls);
    cancelling.abort(new Error("enough"));
    await expect(calling).rejects.toThrow();
    await waitUntil("the call has ended", () => ended.length > ends, 2000);
    expect(ended.at(-1)!.state).toBe("cancelled");
    expect((await client.call("echo")).isError).toBeFalsy();
    await client.close();
  });
});

test("[MC1] [MC10] mcp-remote passes tools, calls and progress on to a stdio client", async () => {
  const proxy = join(import.meta.dirname, "../../node_modules/mcp-remote/dist/proxy.js");
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [proxy, server.url, "--allow-http", "--header", `Authorization: Bearer ${TOKEN}`],
    env: { ...getDefaultEnvironment(), MCP_REMOTE_CONFIG_DIR: tempDir() },
    stderr: "ignore",
  });
  const client = new Client({ name: "behind mcp-remote", version: "1" });
  await client.connect(transport);
  expect((await client.listTools()).tools.map((tool) => tool.name)).toContain("echo");
  const reports: (string | undefined)[] = [];
  await client.callTool({ name: "lines", arguments: {} }, { onprogress: ({ message }) => reports.push(message) });
  expect(reports).toEqual(["one\n", "two\n", "three\n"]);
  await client.close();
});

test("[MC2] a v2 client that resumes with a forgotten session id is served", async () => {
  const client = await v2("legacy", "left-over-from-another-server");
  expect((await client.call("echo", { a: 1 })).content).toEqual([{ type: "text", text: '{"a":1}' }]);
  await client.close();
});

describe("a client that behaves as claude.ai", () => {
  const post = (message: Message, more: Record<string, string> = {}): Promise<Response> =>
    fetch(server.url, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json", accept: "application/json, text/event-stream", ...more },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    });
  const initialize = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "claude-ai", version: "0.1.0" } };

  test("[MC2] [MC3] initializes anew before each call, keeps no session and starts its ids again", async () => {
    for (const round of [1, 2, 3]) {
      const greeted = await post({ id: 0, method: "initialize", params: initialize });
      expect(greeted.headers.get("mcp-session-id")).toBeNull();
      expect((await reply(greeted)).result).toMatchObject({ protocolVersion: "2025-06-18" });
      expect((await post({ method: "notifications/initialized" }, { "mcp-protocol-version": "2025-06-18" })).status).toBe(202);
      const answer = await reply(await post(toolCall(1, "echo", { round }), { "mcp-protocol-version": "2025-06-18" }));
      expect(answer).toMatchObject({ id: 1, result: { content: [{ text: JSON.stringify({ round }) }] } });
    }
  });

  test("[MC1] probes discover first, and is told its era", async () => {
    const envelope = { "io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {} };
    const modern = { "mcp-protocol-version": MODERN, "mcp-method": "server/discover" };
    const probed = await reply(await post({ id: 0, method: "server/discover", params: { _meta: envelope } }, modern));
    expect(probed.result).toMatchObject({ supportedVersions: [MODERN] });
    expect((await reply(await post({ id: 0, method: "initialize", params: initialize }))).result).toMatchObject({ protocolVersion: "2025-06-18" });
  });

  test("[MC4] probes with GET and is told that there is no stream", async () => {
    const probed = await fetch(server.url, { headers: { ...headers, accept: "text/event-stream" } });
    expect([probed.status, probed.headers.get("allow")]).toEqual([405, "POST, DELETE"]);
  });

  test("[MC17] two conversations use one id at the same time", async () => {
    const [slow, quick] = await Promise.all([post(toolCall(1, "lines")).then(reply), post(toolCall(1, "echo", { me: "quick" })).then(reply)]);
    expect(slow.result).toMatchObject({ content: [{ text: "done" }] });
    expect(quick.result).toMatchObject({ content: [{ text: '{"me":"quick"}' }] });
  });
});
