import { InMemoryTransport, type JSONRPCMessage } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { TolerantTransport } from "../../../../local-agent/adapter/upstream/tolerant-transport.ts";
import { poolUnderTest, settled, useOptions } from "../../../support/pool-under-test.ts";
import { serverDefinition } from "../../../support/server-definitions.ts";

const MODERN = { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } };
const TOOL = { name: "good", inputSchema: { type: "object" } };

/** What the client is given for the answer to one request. */
async function received(method: string, params: Record<string, unknown>, result: unknown): Promise<unknown> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const transport = new TolerantTransport(near);
  const messages: JSONRPCMessage[] = [];
  transport.onmessage = (message) => messages.push(message);
  await transport.start();
  await far.start();
  await transport.send({ jsonrpc: "2.0", id: 0, method, params });
  await far.send({ jsonrpc: "2.0", id: 0, result } as JSONRPCMessage);
  await settled();
  return (messages[0] as { result?: unknown }).result;
}

test("[UP73] of a modern list, what is malformed and what is missing costs itself only", async () => {
  expect(await received("tools/list", MODERN, { resultType: "complete", tools: [TOOL, { name: 5 }, null], nextCursor: "n" })).toEqual({
    resultType: "complete",
    tools: [TOOL],
    nextCursor: "n",
    ttlMs: 0,
    cacheScope: "private",
  });
  expect(await received("resources/read", MODERN, { contents: [] })).toEqual({ contents: [], ttlMs: 0, cacheScope: "private" });
  expect(await received("tools/list", MODERN, { tools: [], ttlMs: 5, cacheScope: "public" })).toEqual({ tools: [], ttlMs: 5, cacheScope: "public" });
  expect(await received("tools/list", MODERN, { tools: [], ttlMs: -1, cacheScope: "all" })).toEqual({ tools: [], ttlMs: 0, cacheScope: "private" });
});

test("[UP73] every other answer passes as it is", async () => {
  const asks = { resultType: "input_required", inputRequests: {} };
  expect(await received("resources/read", MODERN, asks)).toEqual(asks);
  expect(await received("tools/call", MODERN, { content: [] })).toEqual({ content: [] });
  expect(await received("tools/list", {}, { tools: [null] })).toEqual({ tools: [null] });
  expect(await received("tools/list", MODERN, "no list")).toBe("no list");
  expect(await received("tools/list", MODERN, { tools: "none" })).toEqual({ tools: "none", ttlMs: 0, cacheScope: "private" });
});

test("[UP73] a modern server is read although it leaves out every hint and lists one malformed tool", async () => {
  const { pool, upstreams } = await poolUnderTest({ servers: [serverDefinition("demo", { protocolVersion: "auto" })] });
  const script = upstreams.script("demo");
  script.modern = true;
  script.capabilities = { tools: {}, resources: {}, prompts: {} };
  script.methods = {
    "tools/list": () => ({ tools: [TOOL, { name: "bad", inputSchema: 7 }] }),
    "resources/list": () => ({ resources: [{ uri: "note://a", name: "a" }, {}] }),
    "prompts/list": () => ({ prompts: [{ name: "p" }, { title: "nameless" }] }),
    "resources/read": () => ({ contents: [{ uri: "note://a", text: "hello" }] }),
  };
  const listed = await pool.connect("demo", useOptions());
  expect(listed).toMatchObject({ ok: true, value: { tools: [TOOL], resources: [{ uri: "note://a" }], prompts: [{ name: "p" }], ttlMs: 0 } });
  const read = await pool.use("demo", useOptions(), (upstream) => upstream.readResource("note://a", upstream.requestOptions()));
  expect(read).toMatchObject({ ok: true, value: { contents: [{ text: "hello" }] } });
});
