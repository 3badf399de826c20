import { SdkError, SdkErrorCode, UnauthorizedError } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { evidenceOf, firstAttempt, nextAttempt, type Evidence } from "../../../../local-agent/adapter/upstream/negotiation.ts";
import { echo, poolUnderTest } from "../../../support/pool-under-test.ts";
import { httpServer } from "../../../support/server-transports.ts";
import { serverDefinition } from "../../../support/server-definitions.ts";
import { httpError, NEVER, RpcError } from "../../../support/scripted-upstreams.ts";

const methods = (peer: { received: { method: string }[] } | undefined) => peer?.received.map(({ method }) => method);

test("[UP1] a server is initialized in the classic way unless its definition says otherwise", async () => {
  const { pool, upstreams } = await poolUnderTest({ servers: [serverDefinition("demo")] });
  await echo(pool, "demo");
  expect(methods(upstreams.of("demo")[0])).toEqual(["initialize", "notifications/initialized", "tools/list", "tools/call"]);
  expect(JSON.stringify(upstreams.of("demo")[0]?.received)).not.toContain("2026");
});

test("[UP2] a process that answers the modern question is used as it is", async () => {
  const { pool, upstreams } = await poolUnderTest({ servers: [serverDefinition("demo", { protocolVersion: "auto" })] });
  upstreams.script("demo").modern = true;
  await echo(pool, "demo");
  expect(pool.state("demo")).toMatchObject({ at: "connected", facts: { era: "modern", protocolVersion: "2026-07-28" } });
  expect(upstreams.of("demo")).toHaveLength(1);
});

test.each([
  ["refuses", () => new RpcError(-32601, "Method not found")],
  ["dies of", (peer: { die(): void }) => peer.die()],
] as const)("[UP2] a process that %s the modern question is started anew and initialized", async (_what, answer) => {
  const { pool, upstreams } = await poolUnderTest({ servers: [serverDefinition("demo", { protocolVersion: "auto" })] });
  upstreams.script("demo").methods["server/discover"] = (_params, peer) => answer(peer) ?? NEVER;
  expect(await echo(pool, "demo")).toMatchObject({ ok: true });
  expect(upstreams.of("demo").map((peer) => methods(peer)?.[0])).toEqual(["server/discover", "initialize"]);
  expect(upstreams.living("demo")).toBe(1);
});

test("[UP3] what a server spoke is remembered: an old one is not asked again for an hour", async () => {
  const { pool, upstreams, clock } = await poolUnderTest({ servers: [serverDefinition("demo", { protocolVersion: "auto" })] });
  await echo(pool, "demo");
  await pool.disconnect("demo");
  await echo(pool, "demo");
  expect(upstreams.of("demo").map((peer) => methods(peer)?.[0])).toEqual(["server/discover", "initialize", "initialize"]);
  await pool.disconnect("demo");
  clock.advance(3_600_001);
  await echo(pool, "demo");
  expect(methods(upstreams.of("demo")[3])?.[0]).toBe("server/discover");
});

test("[UP3] a server that spoke the modern revision and no longer does is spoken to in the old way", async () => {
  const { pool, upstreams } = await poolUnderTest({ servers: [serverDefinition("demo", { protocolVersion: "auto" })] });
  upstreams.script("demo").modern = true;
  await echo(pool, "demo");
  await pool.disconnect("demo");
  upstreams.script("demo").modern = false;
  expect(await echo(pool, "demo")).toMatchObject({ ok: true });
  expect(pool.state("demo")).toMatchObject({ facts: { era: "legacy" } });
});

test("[UP4] a pinned revision has no fallback", async () => {
  const pinned = serverDefinition("demo", { protocolVersion: "2026-07-28", transport: httpServer("http://127.0.0.1:9/mcp") });
  const { pool, upstreams } = await poolUnderTest({ servers: [pinned] });
  const result = await echo(pool, "demo");
  expect(result).toMatchObject({ ok: false, error: { code: "connect_failed" } });
  expect(upstreams.of("demo").map(methods)).toEqual([["server/discover"]]);
  for (const evidence of ["refused-http", "no-modern-offer", "silent", "closed"] as const) {
    expect(nextAttempt(pinned, "2026-07-28", firstAttempt(pinned, "2026-07-28", undefined), evidence)).toBeNull();
  }
});

test.each([404, 405, 406, 415])("[UP5] SSE is tried after the server refused Streamable HTTP with %i", async (status) => {
  const { pool, upstreams } = await poolUnderTest({ servers: [serverDefinition("demo", { transport: httpServer("http://127.0.0.1:9/mcp") })] });
  upstreams.script("demo").methods["initialize"] = (_params, peer) => {
    if (peer.wire === "streamable-http") throw httpError(status);
  };
  expect(await echo(pool, "demo")).toMatchObject({ ok: true });
  expect(upstreams.of("demo").map((peer) => peer.wire)).toEqual(["streamable-http", "sse"]);
});

test.each([400, 401, 403, 408, 429, 500, 502, 503])("[UP5] SSE is not tried after %i", async (status) => {
  const { pool, upstreams } = await poolUnderTest({ servers: [serverDefinition("demo", { transport: httpServer("http://127.0.0.1:9/mcp") })] });
  upstreams.script("demo").methods["initialize"] = () => {
    throw httpError(status);
  };
  expect(await echo(pool, "demo")).toMatchObject({ ok: false });
  expect(upstreams.of("demo").map((peer) => peer.wire)).toEqual(["streamable-http"]);
});

test("[UP5] a server that is configured for one wire is spoken to over that one only", () => {
  const speaking = (speaks: "sse" | "streamable-http") =>
    serverDefinition("demo", { transport: { ...httpServer("http://127.0.0.1:9/mcp"), speaks } as never });
  const http = firstAttempt(speaking("streamable-http"), "legacy", undefined);
  expect(nextAttempt(speaking("streamable-http"), "legacy", http, "refused-http")).toBeNull();
  expect(firstAttempt(speaking("sse"), "auto", undefined)).toEqual({ wire: "sse", mode: "legacy" });
});

test("[UP5] no server is tried in more than three ways, whatever it answers", () => {
  const kinds: Evidence[] = ["refused-http", "no-modern-offer", "silent", "closed", "unauthorized", "none"];
  for (const transport of [httpServer("http://127.0.0.1:9/mcp"), serverDefinition("demo").transport]) {
    for (const choice of ["legacy", "auto", "2026-07-28"] as const) {
      const definition = serverDefinition("demo", { transport });
      const longest = (attempt: ReturnType<typeof firstAttempt> | null, length: number): number => {
        if (attempt === null || length > 5) return length;
        return Math.max(...kinds.map((evidence) => longest(nextAttempt(definition, choice, attempt, evidence), length + 1)));
      };
      for (const known of ["legacy", "modern", undefined] as const) {
        expect(longest(firstAttempt(definition, choice, known), 0)).toBeLessThanOrEqual(3);
      }
    }
  }
});

test("[UP6] the client says who it is, and declares only what somebody here can answer", async () => {
  const { pool, upstreams } = await poolUnderTest({ servers: [serverDefinition("demo")] });
  await echo(pool, "demo");
  expect(upstreams.of("demo")[0]?.received[0]?.params).toMatchObject({
    clientInfo: { name: "pi-mcp-demo", version: "1.0.0" },
    capabilities: { elicitation: { form: {} }, sampling: {} },
  });
  const off = await poolUnderTest({ servers: [serverDefinition("demo")], settings: { sampling: false, elicitation: false } });
  await echo(off.pool, "demo");
  expect(off.upstreams.of("demo")[0]?.received[0]?.params["capabilities"]).toEqual({});
});

test("[UP7] a refused token is renewed once", async () => {
  const { pool, upstreams } = await poolUnderTest({ servers: [serverDefinition("demo", { transport: httpServer("http://127.0.0.1:9/mcp") })] });
  const script = upstreams.script("demo");
  script.renews = true;
  script.methods["initialize"] = (_params, peer) => {
    if (peer.number === 1) throw httpError(401);
  };
  expect(await echo(pool, "demo")).toMatchObject({ ok: true });
  expect(upstreams.of("demo")).toHaveLength(2);
});

test("[UP7] a server that goes on refusing waits for a login, and is not asked again for every call", async () => {
  const { pool, upstreams, clock } = await poolUnderTest({
    servers: [serverDefinition("demo", { transport: httpServer("http://127.0.0.1:9/mcp") })],
  });
  upstreams.script("demo").renews = true;
  upstreams.script("demo").methods["initialize"] = () => {
    throw httpError(401);
  };
  expect(await echo(pool, "demo")).toMatchObject({ ok: false, error: { code: "auth_required" } });
  expect(await echo(pool, "demo")).toMatchObject({ ok: false, error: { code: "auth_required" } });
  expect(pool.state("demo").at).toBe("needs-auth");
  expect(upstreams.of("demo")).toHaveLength(2);
  clock.advance(60_001);
  await echo(pool, "demo");
  expect(upstreams.of("demo")).toHaveLength(4);
});

test("[UP7] a token refused in the middle of a session is renewed, and the call made again", async () => {
  const { pool, upstreams } = await poolUnderTest({ servers: [serverDefinition("demo", { transport: httpServer("http://127.0.0.1:9/mcp") })] });
  upstreams.script("demo").renews = true;
  upstreams.script("demo").methods["tools/call"] = (_params, peer) => {
    if (peer.number === 1) throw httpError(401);
  };
  expect(await echo(pool, "demo")).toMatchObject({ ok: true });
  expect(upstreams.of("demo")).toHaveLength(2);
});

test("[UP5] what an error says about a server is told apart", () => {
  expect(evidenceOf(new UnauthorizedError())).toBe("unauthorized");
  expect(evidenceOf(httpError(404))).toBe("refused-http");
  expect(evidenceOf(httpError(500))).toBe("none");
  expect(evidenceOf(new SdkError(SdkErrorCode.RequestTimeout, ""))).toBe("silent");
  expect(evidenceOf(new SdkError(SdkErrorCode.ConnectionClosed, ""))).toBe("closed");
  expect(evidenceOf(new Error("fetch failed"))).toBe("none");
});
