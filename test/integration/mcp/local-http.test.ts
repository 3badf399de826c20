import { createHash } from "node:crypto";
import { request } from "node:http";
import { createServer, connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createLocalHttp, PortBusyError, type LocalHttp } from "../../../local-agent/mcp/local-http.ts";
import { withFailedAccepts } from "../../support/failed-accepts.ts";
import { text, untilAborted } from "../../support/scripted-tools.ts";
import { MODERN, reply, surfaceUnderTest, toolCall, type Message } from "../../support/surface-under-test.ts";
import { waitUntil } from "../../support/wait-until.ts";

const TOKEN = "a-token-of-some-length";
const sha256 = (token: string): string => createHash("sha256").update(token).digest("hex");
const BIG = 20 * 1024 * 1024;

const { surface, tools, ended } = surfaceUnderTest(
  {
    echo: (call) => text(JSON.stringify(call.args)),
    wait: untilAborted,
    hold: () => pause(400).then(() => text("held")),
    big: () => text("b".repeat(BIG)),
  },
  { keepAliveMs: 100 },
);
let server: LocalHttp;

beforeAll(async () => {
  const tokenSha256s = [sha256("another"), sha256(TOKEN)];
  server = await createLocalHttp({
    handler: surface.handle,
    host: "127.0.0.1",
    port: 0,
    tokenSha256s,
    allowedOrigins: ["https://inspector.example"],
  });
});
afterAll(() => server.close());

const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json", accept: "application/json, text/event-stream" };
const post = (message: Message, extra: Record<string, string> = {}, init: RequestInit = {}): Promise<Response> =>
  fetch(server.url, { method: "POST", headers: { ...headers, ...extra }, body: JSON.stringify({ jsonrpc: "2.0", ...message }), ...init });

/** Sends exactly these headers: fetch would not let a test choose Host. */
function raw(sent: Record<string, string>, method = "POST"): Promise<number> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: "127.0.0.1", port: server.port, path: "/mcp", method, headers: sent }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    outgoing.on("error", reject);
    outgoing.end(method === "POST" ? JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }) : undefined);
  });
}

describe("who gets in", () => {
  test.each([
    {},
    { authorization: "" },
    { authorization: "Bearer" },
    { authorization: `Basic ${TOKEN}` },
    { authorization: `Bearer ${TOKEN}x` },
    { authorization: `Bearer ${sha256(TOKEN)}` },
  ])("[MC40] %j is 401 with WWW-Authenticate, and no tool runs", async (authorization) => {
    const before = tools.seen.length;
    const { authorization: _, ...others } = headers;
    const response = await fetch(server.url, {
      method: "POST",
      headers: { ...others, ...authorization },
      body: JSON.stringify({ jsonrpc: "2.0", ...toolCall(1, "echo") }),
    });
    expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expect(tools.seen.length).toBe(before);
  });

  test("[MC40] each known token gets in, and they are different principals", async () => {
    for (const token of [TOKEN, "another"]) expect((await post({ id: 1, method: "ping" }, { authorization: `bearer ${token}` })).status).toBe(200);
  });

  test("[MC41] loopback names with the port are its hosts, anything else is 403", async () => {
    for (const host of [`127.0.0.1:${server.port}`, `LOCALHOST:${server.port}`, `[::1]:${server.port}`])
      expect(await raw({ ...headers, host })).toBe(200);
    for (const host of [
      "localhost",
      "localhost:1",
      `evil.example:${server.port}`,
      `127.0.0.1.evil.example:${server.port}`,
      `localhost:${server.port}@evil`,
    ]) {
      expect(await raw({ ...headers, host })).toBe(403);
    }
  });

  test("[MC41] a foreign Origin is 403 even with the token; its own and allowed ones pass", async () => {
    const host = `localhost:${server.port}`;
    for (const origin of [
      "https://evil.example",
      "null",
      `http://evil.example:${server.port}`,
      `https://localhost:${server.port}`,
      "http://localhost",
    ]) {
      expect(await raw({ ...headers, host, origin })).toBe(403);
    }
    for (const origin of [`http://localhost:${server.port}`, `http://127.0.0.1:${server.port}`, "https://inspector.example"]) {
      expect(await raw({ ...headers, host, origin })).toBe(200);
    }
  });

  test("[MC41] an allowed web origin may preflight and read; a foreign one may not", async () => {
    const ask = (origin: string) => fetch(server.url, { method: "OPTIONS", headers: { origin, "access-control-request-method": "POST" } });
    const allowed = await ask("https://inspector.example");
    expect([allowed.status, allowed.headers.get("access-control-allow-origin")]).toEqual([204, "https://inspector.example"]);
    expect((await ask("https://evil.example")).status).toBe(403);
  });

  test("[MC4] GET is 405 and another path 404, both in JSON", async () => {
    const got = await fetch(server.url, { headers: { ...headers, accept: "text/event-stream" } });
    expect([got.status, got.headers.get("allow"), got.headers.get("content-type")]).toEqual([405, "POST, DELETE", "application/json"]);
    const missed = await fetch(server.url.replace("/mcp", "/other"), { headers });
    expect([missed.status, await missed.json()]).toMatchObject([404, { error: expect.stringContaining("/mcp") }]);
  });
});

test("[MC42] connections that cannot be accepted end nothing", async () => {
  const own = await withFailedAccepts(() => createLocalHttp({ handler: surface.handle, host: "127.0.0.1", port: 0, tokenSha256s: [sha256(TOKEN)] }));
  onTestFinished(() => own.close());
  expect((await fetch(own.url, { headers })).status).toBe(405);
});

test("[MC42] a taken port is an error that names it", async () => {
  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(0, "127.0.0.1", resolve));
  const { port } = holder.address() as { port: number };
  const starting = createLocalHttp({ handler: surface.handle, host: "127.0.0.1", port, tokenSha256s: [] });
  await expect(starting).rejects.toBeInstanceOf(PortBusyError);
  await expect(starting).rejects.toMatchObject({ port, message: expect.stringContaining(String(port)) });
  holder.close();
});

describe("streams", () => {
  test("[MC8] the first byte of a running call arrives at once, and the rest as it comes", async () => {
    const startedAt = performance.now();
    const response = await post(toolCall(1, "hold"));
    const reader = response.body!.getReader();
    const first = await reader.read();
    expect(performance.now() - startedAt).toBeLessThan(300);
    expect(new TextDecoder().decode(first.value)).toMatch(/^: /);
    const rest: string[] = [];
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      rest.push(new TextDecoder().decode(value));
    }
    expect(rest.join("")).toMatch(/keep-alive[\s\S]*"held"/);
  });

  test("[MC44] a 20 MiB result waits for a slow reader and arrives whole, while others are served", async () => {
    const before = process.memoryUsage().rss;
    const response = await post(toolCall(1, "big"));
    await pause(300);
    expect((await reply(await post(toolCall(2, "echo", { text: "meanwhile" })))).result).toMatchObject({
      content: [{ text: '{"text":"meanwhile"}' }],
    });
    const { result } = await reply(response);
    expect((result!["content"] as { text: string }[])[0]!.text.length).toBe(BIG);
    expect(process.memoryUsage().rss - before).toBeLessThan(600 * 1024 * 1024);
  });

  test("[MC7] a body above 4 MiB is refused in JSON-RPC and the connection goes on", async () => {
    const response = await post(toolCall(1, "echo", { text: "x".repeat(5 * 1024 * 1024) }));
    expect([response.status, await reply(response)]).toMatchObject([413, { error: { code: -32600 } }]);
    expect((await post({ id: 1, method: "ping" })).status).toBe(200);
  });

  test("[MC43] [MC13] a closed connection ends a modern call, and a second client notices nothing", async () => {
    const other = post(toolCall(1, "hold"));
    const leaving = new AbortController();
    const meta = { "io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {} };
    const modern = { "mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": "wait" };
    const count = ended.length;
    const response = await post({ id: 1, method: "tools/call", params: { name: "wait", arguments: {}, _meta: meta } }, modern, {
      signal: leaving.signal,
    });
    expect(response.status).toBe(200);
    leaving.abort();
    await waitUntil("the call has ended", () => ended.length > count, 2000);
    expect(ended.at(-1)!.state).toBe("cancelled");
    expect((await reply(await other)).result).toMatchObject({ content: [{ text: "held" }] });
  });

  test("[MC43] [MC13] a closed connection leaves a legacy call running", async () => {
    const leaving = new AbortController();
    const count = ended.length;
    await post(toolCall(1, "hold"), {}, { signal: leaving.signal });
    leaving.abort();
    await waitUntil("the call has ended", () => ended.length > count, 5000);
    expect(ended.at(-1)).toMatchObject({ state: "ok", outcome: { content: [{ text: "held" }] } });
  });

  test("[MC43] requests that are cut short at any byte leave the server as it was", async () => {
    const body = JSON.stringify({ jsonrpc: "2.0", ...toolCall(1, "echo") });
    const whole = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    for (let length = 1; length < whole.length; length += 17) {
      const socket = connect(server.port, "127.0.0.1");
      socket.on("error", () => {});
      await new Promise<void>((resolve) => socket.write(whole.slice(0, length), () => resolve()));
      socket.destroy();
    }
    expect((await post({ id: 1, method: "ping" })).status).toBe(200);
  });
});

test("[MC45] an idle connection still serves after six seconds", async () => {
  const socket = connect(server.port, "127.0.0.1");
  const ask = async (): Promise<string> => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
    const answer = new Promise<string>((resolve, reject) => {
      socket.once("data", (data) => resolve(data.toString()));
      socket.once("close", () => reject(new Error("the server closed the connection")));
    });
    socket.write(
      `POST /mcp HTTP/1.1\r\nHost: localhost:${server.port}\r\nAuthorization: Bearer ${TOKEN}\r\nAccept: */*\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    return answer;
  };
  expect(await ask()).toMatch(/^HTTP\/1.1 200/);
  await pause(6000);
  expect(await ask()).toMatch(/^HTTP\/1.1 200/);
  socket.destroy();
});

test("closing the server aborts what runs", async () => {
  const own = surfaceUnderTest({ wait: untilAborted });
  const short = await createLocalHttp({ handler: own.surface.handle, host: "127.0.0.1", port: 0, tokenSha256s: [sha256(TOKEN)] });
  const response = await fetch(short.url, { method: "POST", headers, body: JSON.stringify({ jsonrpc: "2.0", ...toolCall(1, "wait") }) });
  await short.close();
  await waitUntil("the call has ended", () => own.ended.length === 1, 2000);
  expect(String(own.tools.seen[0]!.signal.reason)).toContain("leaving");
  await response.text().catch(() => "");
});

describe("what became of an answer", () => {
  async function numbered() {
    const settled: [number, boolean][] = [];
    let latest = 0;
    const own = await createLocalHttp({
      handler: surface.handle,
      host: "127.0.0.1",
      port: 0,
      tokenSha256s: [sha256(TOKEN)],
      exchanges: { began: () => ++latest, settled: (x, whole) => settled.push([x, whole]) },
    });
    onTestFinished(() => own.close());
    const ask = (tool: string, init: RequestInit = {}): Promise<Response> =>
      fetch(own.url, { method: "POST", headers, body: JSON.stringify({ jsonrpc: "2.0", ...toolCall(1, tool) }), ...init });
    return { own, settled, ask };
  }

  test("[MC46] one that was handed over to its end is whole, and each is settled once", async () => {
    const { settled, ask } = await numbered();
    await (await ask("echo")).text();
    await (await ask("hold")).text();
    await waitUntil("both are settled", () => settled.length === 2);
    expect(settled).toEqual([
      [1, true],
      [2, true],
    ]);
  });

  test("[MC46] one whose client left, or that ends with the agent, is not", async () => {
    const { own, settled, ask } = await numbered();
    const leaving = new AbortController();
    const left = await ask("wait", { signal: leaving.signal });
    leaving.abort();
    await expect(left.text()).rejects.toThrow();
    await waitUntil("it is settled", () => settled.length === 1);
    const cut = await ask("wait");
    await own.close();
    await cut.text().catch(() => undefined);
    await waitUntil("that one too", () => settled.length === 2);
    expect(settled).toEqual([
      [1, false],
      [2, false],
    ]);
  });
});
