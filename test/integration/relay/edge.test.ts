import { createHash } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TOKEN } from "../../support/deposits.ts";
import { staticToken } from "../../support/static-token.ts";
import { call, post } from "../../support/mcp-post.ts";
import { RawAgent } from "../../support/raw-agent.ts";
import { startRelayed, type RelayedTarget } from "../../support/relayed-target.ts";
import { sseHandler, type Driven } from "../../support/sse-handler.ts";
import { startWorker } from "../../support/worker-runtime.ts";

const OTHER_TOKEN = "another-static-token-0123456789";
const THIRD_TOKEN = "a-third-static-token-0123456789";
let target: RelayedTarget;
let held: Driven[] = [];
let isHolding = false;
let begun = 0;
beforeAll(async () => {
  target = await startRelayed(
    sseHandler((driven) => {
      begun += 1;
      if (isHolding) return void held.push(driven);
      driven.write("data: {}\n\n");
      driven.end();
    }),
    {
      deposits: {
        allowOrigins: ["https://app.example"],
        staticTokens: [staticToken("test", TOKEN), staticToken("other", OTHER_TOKEN), staticToken("third", THIRD_TOKEN)],
      },
    },
  );
});
afterAll(() => target.close());

/** fetch refuses to set Host; node:http does not. */
function rawRequest(path: string, headers: Record<string, string>, method = "POST"): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({ host: "127.0.0.1", port: target.worker.port, path, method, headers }, (incoming) => {
      let body = "";
      incoming.setEncoding("utf8").on("data", (piece: string) => (body += piece));
      incoming.on("end", () => resolve({ status: incoming.statusCode ?? 0, body }));
    });
    outgoing.on("error", reject);
    outgoing.end("{}");
  });
}

describe("addresses", () => {
  test("[ED1] health, landing and unknown paths", async () => {
    expect((await fetch(`${target.worker.origin}/healthz`)).status).toBe(200);
    const landing = await fetch(`${target.worker.origin}/`);
    const html = await landing.text();
    expect(html).toContain("The workstation is connected.");
    const style = /<style>(.*)<\/style>/.exec(html)?.[1] ?? "";
    expect(landing.headers.get("content-security-policy")).toContain(`'sha256-${createHash("sha256").update(style).digest("base64")}'`);
    for (const path of [
      "/nothing",
      "/mcp/",
      "/w/other/",
      "/w/other/healthz",
      "/w/Other/mcp",
      "/w/default/mcp",
      "/w/%61/mcp",
      "/w//mcp",
      "/agent/x",
      "//mcp",
    ]) {
      const answer = await fetch(target.worker.origin + path, { method: "POST" });
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ error: "not_found", message: expect.stringContaining(`${target.worker.origin}/mcp`) as string });
    }
  });

  test("[ED2] another Host is 421 and told the right addresses, whatever is forwarded", async () => {
    for (const path of ["/mcp", "/token", "/.well-known/oauth-authorization-server"]) {
      const answer = await rawRequest(path, {
        host: "evil.example",
        authorization: `Bearer ${TOKEN}`,
        "x-forwarded-host": `127.0.0.1:${target.worker.port}`,
      });
      expect(answer.status).toBe(421);
      expect(answer.body).toContain(`${target.worker.origin}/mcp`);
    }
  });

  test("[ED4] methods other than POST and DELETE are 405", async () => {
    for (const method of ["GET", "PUT", "PATCH", "HEAD", "OPTIONS"]) {
      const answer = await fetch(target.url, { method, headers: { accept: "text/event-stream", authorization: `Bearer ${TOKEN}` } });
      expect(answer.status).toBe(405);
      expect(answer.headers.get("allow")).toBe("POST, DELETE");
    }
  });
});

describe("origins", () => {
  test("[ED5] a foreign web origin is 403 and an allowed one gets CORS headers", async () => {
    for (const origin of ["https://evil.example", "null", "http://127.0.0.1:1", "https://app.example.evil", "garbage"]) {
      expect((await post(target.url, call(1), { headers: { origin } })).status).toBe(403);
    }
    for (const origin of ["https://app.example", target.worker.origin]) {
      const answer = await post(target.url, call(1), { headers: { origin } });
      expect(answer.status).toBe(200);
      expect(answer.headers.get("access-control-allow-origin")).toBe(origin);
      await answer.text();
    }
    const preflight = await fetch(target.url, {
      method: "OPTIONS",
      headers: {
        origin: "https://app.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": "Mcp-Param-Path, x-other",
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-headers")).toBe("authorization, content-type, accept, last-event-id, mcp-param-path");
  });
});

describe("credentials", () => {
  test("[ED6] no valid credential, no exchange", async () => {
    begun = 0;
    const bad = [
      "",
      "Bearer",
      "Bearer ",
      `Basic ${TOKEN}`,
      "Bearer x",
      `Bearer ${TOKEN}x`,
      `Bearer ${"x".repeat(10_000)}`,
      `Foo ${TOKEN}`,
      "Bearer owner:grant:secret",
    ];
    for (const authorization of bad) {
      const answer = await post(target.url, call(1), { token: null, headers: { authorization } });
      expect({ status: answer.status, authorization }).toEqual({ status: 401, authorization });
      expect(answer.headers.get("www-authenticate")).toContain("Bearer");
      await answer.text();
    }
    expect((await post(`${target.url}?access_token=${TOKEN}`, call(1), { token: null })).status).toBe(401);
    expect(begun).toBe(0);
    expect((await post(target.url, call(1), { token: null, headers: { authorization: `bEaReR ${TOKEN}` } })).status).toBe(200);
  });
});

describe("sizes", () => {
  test("[ED10] a header that is no text of HTTP is left out, and the request goes on", async () => {
    const answer = await rawRequest("/mcp", {
      host: `127.0.0.1:${target.worker.port}`,
      authorization: `Bearer ${TOKEN}`,
      "mcp-name": Buffer.from("日本").toString("latin1"),
    });
    expect(answer.status).toBe(200);
  });

  test("[ED10] a request that fits no frame is refused alone, and the link stays", async () => {
    const refused = await post(target.url, call(1), { headers: { "mcp-param-x": "y".repeat(16_500) } });
    expect(refused.status).toBe(431);
    expect(refused.headers.get("retry-after")).toBeNull();
    expect((await post(target.url, call(1))).status).toBe(200);
  });

  test("[ED7] an undeclared body is cut off at the limit and others go on", async () => {
    const piece = new Uint8Array(512 * 1024);
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1;
        if (sent > 40) controller.close();
        else controller.enqueue(piece);
      },
    });
    const answer = await fetch(target.url, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}` },
      body: endless,
      duplex: "half",
    } as RequestInit).catch(() => undefined);
    // The connection may be reset while the client still sends; if an answer came, it is the refusal.
    expect([413, undefined]).toContain(answer?.status);
    expect((await post(target.url, call(1))).status).toBe(200);
  });

  test("[ED8] [WP4] one client gets half of the exchanges and all together 64; the next is refused and told that nothing ran", async () => {
    isHolding = true;
    const waiting = Array.from({ length: 32 }, (_, n) => post(target.url, call(n)));
    while (held.length < 32) await new Promise((resolve) => setTimeout(resolve, 20));
    expect((await post(target.url, call("greedy"))).status).toBe(503);
    waiting.push(...Array.from({ length: 32 }, (_, n) => post(target.url, call(n), { token: OTHER_TOKEN })));
    while (held.length < 64) await new Promise((resolve) => setTimeout(resolve, 20));
    const refused = await post(target.url, call("late"), { token: THIRD_TOKEN });
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("5");
    expect((await refused.json()) as object).toMatchObject({ error: { message: expect.stringContaining("nothing was run") as string } });
    isHolding = false;
    for (const driven of held) driven.end();
    held = [];
    for (const answer of await Promise.all(waiting)) await answer.text();
    expect((await post(target.url, call(1))).status).toBe(200);
  });
});

/** Write-ahead logs of workspaces that hold anything: whatever is written goes there first. */
function storedWorkspaces(stateDir: string): string[] {
  return readdirSync(stateDir, { recursive: true, encoding: "utf8" }).filter(
    (name) => name.endsWith(".sqlite-wal") && !name.includes("metadata") && statSync(join(stateDir, name)).size > 0,
  );
}

test("[ED3] strangers create nothing on disk before the first hello", async () => {
  const stateDir = await mkdtemp(join(tmpdir(), "pi-relay-state-"));
  const strangers = await startWorker({ stateDir });
  for (const path of ["/", "/mcp", "/register", "/authorize?client_id=x", "/token"]) {
    await (await fetch(strangers.origin + path, { method: path === "/" ? "GET" : "POST" })).text();
  }
  await strangers.close();
  expect(storedWorkspaces(stateDir)).toEqual([]);
  const greeted = await startWorker({ stateDir });
  const agent = await RawAgent.dial(greeted.origin);
  agent.hello();
  await agent.next("welcome");
  agent.vanish();
  await greeted.close();
  expect(storedWorkspaces(stateDir)).toHaveLength(1);
  await rm(stateDir, { recursive: true, force: true });
});

test("[ED9] a relay without its key says so", async () => {
  const worker = await startWorker({ bindings: { AGENT_KEY: "short" } });
  for (const path of ["/", "/agent"]) {
    const answer = await fetch(worker.origin + path);
    expect(answer.status).toBe(503);
    expect(await answer.text()).toContain("wrangler secret put AGENT_KEY");
  }
  await worker.close();
});
