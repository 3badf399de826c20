import { ProtocolError } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { isLostSession } from "../../../../local-agent/adapter/upstream/session-loss.ts";
import { echo, poolUnderTest } from "../../../support/pool-under-test.ts";
import { httpServer } from "../../../support/server-transports.ts";
import { serverDefinition } from "../../../support/server-definitions.ts";
import { httpError, RpcError } from "../../../support/scripted-upstreams.ts";

const LOST = [
  ["404", () => httpError(404, "Not Found")],
  ["-32000", () => new RpcError(-32000, "Bad Request: Server not initialized")],
  ["400, not initialized", () => httpError(400, '{"error":{"message":"Bad Request: Server not initialized"}}')],
  ["400, no valid session", () => httpError(400, "Bad Request: No valid session ID provided")],
  ["400, not found", () => httpError(400, "Session not found")],
] as const;

const KEPT = [
  ["400 about something else", () => httpError(400, "missing argument: path")],
  ["500", () => httpError(500, "Session not found")],
  ["401", () => httpError(401, "no valid session id")],
  ["-32000 about something else", () => new RpcError(-32000, "quota exceeded")],
  ["-32602", () => new RpcError(-32602, "Server not initialized")],
] as const;

function demo() {
  return poolUnderTest({ servers: [serverDefinition("demo", { transport: httpServer("http://127.0.0.1:9/mcp") })] });
}

test.each(LOST)("[UP25] a session lost with %s is built anew once, and the call made again", async (_how, failure) => {
  const { pool, upstreams } = await demo();
  const script = upstreams.script("demo");
  script.sessionId = "s";
  script.methods["tools/call"] = (_params, peer) => {
    if (peer.number === 1) throw failure();
  };
  expect(await echo(pool, "demo")).toMatchObject({ ok: true, value: { content: [{ text: "done" }] } });
  expect(upstreams.of("demo").map((peer) => peer.open)).toEqual([false, true]);
});

test.each(LOST)("[UP25] a session lost a second time (%s) is the call's failure", async (_how, failure) => {
  const { pool, upstreams } = await demo();
  upstreams.script("demo").sessionId = "s";
  upstreams.script("demo").methods["tools/call"] = () => {
    throw failure();
  };
  await expect(echo(pool, "demo")).rejects.toThrow();
  expect(upstreams.of("demo")).toHaveLength(2);
});

test.each(KEPT)("[UP25] a failure with %s is no lost session", async (_how, failure) => {
  const { pool, upstreams } = await demo();
  upstreams.script("demo").sessionId = "s";
  upstreams.script("demo").methods["tools/call"] = () => {
    throw failure();
  };
  await expect(echo(pool, "demo")).rejects.toThrow();
  expect(upstreams.of("demo")).toHaveLength(1);
});

test("[UP25] calls that lose the same session together share its successor", async () => {
  const { pool, upstreams } = await demo();
  upstreams.script("demo").sessionId = "s";
  await echo(pool, "demo");
  upstreams.script("demo").methods["tools/call"] = (_params, peer) => {
    if (peer.number === 1) throw httpError(404);
  };
  const results = await Promise.all(Array.from({ length: 8 }, () => echo(pool, "demo")));
  expect(results.every((result) => result.ok)).toBe(true);
  expect(upstreams.of("demo")).toHaveLength(2);
});

test("[UP25] without a session a 404 is an answer, and an SSE address that is gone is a lost session", () => {
  expect(isLostSession(httpError(404), false)).toBe(false);
  expect(isLostSession(new Error("Error POSTing to endpoint (HTTP 404): gone"), false)).toBe(true);
  expect(isLostSession(new Error("Error POSTing to endpoint (HTTP 500): gone"), true)).toBe(false);
  expect(isLostSession(new ProtocolError(-32000, "Server not initialized"), false)).toBe(true);
  expect(isLostSession("Server not initialized", true)).toBe(false);
});
