import { createServer, connect } from "node:net";
import { networkInterfaces } from "node:os";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as v from "valibot";
import { expect, onTestFinished, test } from "vitest";
import { DeskEvent } from "../../../../shared/desk.ts";
import { startUiServer, UiPortBusy, type UiServer } from "../../../../local-agent/ui-server/server.ts";
import { deskUnderTest, exampleAuthorization, exampleGrant, type DeskUnderTest } from "../../../support/desk-under-test.ts";
import { exampleQuestion } from "../../../support/page-states.ts";
import { rawRequest, type RawAnswer } from "../../../support/raw-http.ts";
import { withFailedAccepts } from "../../../support/failed-accepts.ts";
import { tempDir } from "../../../support/temp-dir.ts";

const SECRET = "0123456789abcdef0123456789abcdef";
const BEARER = { authorization: `Bearer ${SECRET}` };
const DECISION = JSON.stringify({ id: "authorization-1", allow: true, code: "KITE-42" });

function builtPage(): string {
  const dir = tempDir("page");
  mkdirSync(join(dir, "assets"));
  writeFileSync(join(dir, "index.html"), "<!doctype html><title>page</title>");
  writeFileSync(join(dir, "assets", "index-abc123.js"), "export {};");
  writeFileSync(join(dir, "assets", ".hidden.js"), "hidden");
  writeFileSync(join(dir, "secret.txt"), "secret");
  return dir;
}

async function serve(keepAliveMs?: number): Promise<{ server: UiServer } & DeskUnderTest> {
  const under = deskUnderTest();
  under.desk.setAuthorizations([exampleAuthorization()]);
  const options = { desk: under.desk, host: "127.0.0.1", port: 0, secret: SECRET, uiDir: builtPage() } as const;
  const server = await startUiServer(keepAliveMs === undefined ? options : { ...options, keepAliveMs });
  onTestFinished(() => server.close());
  return { server, ...under };
}

function decide(server: UiServer, headers: Record<string, string>, body = DECISION): Promise<RawAnswer> {
  return rawRequest({
    port: server.port,
    method: "POST",
    path: "/api/decide",
    headers: { ...BEARER, "content-type": "application/json", ...headers },
    body,
  });
}

/** Status and path in one string, so that a failure names the path. */
async function statusOf(server: UiServer, path: string, headers: Record<string, string>): Promise<string> {
  return `${(await rawRequest({ port: server.port, path, headers })).status} ${path}`;
}

/** Reads a stream's lines as events until `count` of them came; empty lines count when asked for. */
async function follow(server: UiServer, signal?: AbortSignal): Promise<{ next(): Promise<string | undefined> }> {
  const response = await fetch(`${server.bareUrl}api/events`, { headers: BEARER, signal: signal ?? AbortSignal.timeout(10_000) });
  expect(response.status).toBe(200);
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let buffered = "";
  return {
    async next() {
      while (!buffered.includes("\n")) {
        const chunk = await reader.read();
        if (chunk.done) return undefined;
        buffered += decoder.decode(chunk.value, { stream: true });
      }
      const end = buffered.indexOf("\n");
      const line = buffered.slice(0, end);
      buffered = buffered.slice(end + 1);
      return line;
    },
  };
}

const eventOf = (line: string | undefined): DeskEvent => v.parse(DeskEvent, JSON.parse(line ?? "null"));

test("[UI1] listens on the loopback address only", async () => {
  const { server } = await serve();
  const others = Object.values(networkInterfaces()).flatMap((list) =>
    (list ?? []).filter((entry) => entry.address !== "127.0.0.1" && entry.family === "IPv4"),
  );
  for (const host of [...others.map((entry) => entry.address), "::1"]) {
    const outcome = await new Promise<string>((resolve) => {
      const socket = connect({ host, port: server.port, timeout: 1_000 });
      socket
        .once("connect", () => resolve("connected"))
        .once("error", () => resolve("refused"))
        .once("timeout", () => resolve("refused"));
      onTestFinished(() => void socket.destroy());
    });
    expect(`${host} ${outcome}`).toBe(`${host} refused`);
  }
});

test.each(["evil.example", "0.0.0.0", "rebound.evil.example:80"])("[UI2] answers 403 to Host %s on every path, whatever the secret", async (host) => {
  const { server, decisions } = await serve();
  for (const path of ["/", "/assets/index-abc123.js", "/api/events", "/nowhere"]) {
    expect(await statusOf(server, path, { host, ...BEARER })).toBe(`403 ${path}`);
  }
  expect((await decide(server, { host })).status).toBe(403);
  expect(decisions).toEqual([]);
});

test("[UI2] answers on localhost too", async () => {
  const { server } = await serve();
  expect((await rawRequest({ port: server.port, headers: { host: `localhost:${server.port}` } })).status).toBe(200);
});

test.each(["null", "http://evil.example", "https://127.0.0.1", "http://127.0.0.1:1"])(
  "[UI3] answers 403 to Origin %s on every path, whatever the secret",
  async (origin) => {
    const { server, decisions } = await serve();
    for (const path of ["/", "/api/events"]) {
      expect(await statusOf(server, path, { origin, ...BEARER })).toBe(`403 ${path}`);
    }
    expect((await decide(server, { origin })).status).toBe(403);
    expect(decisions).toEqual([]);
  },
);

test("[UI4] answers 401 without the secret, with a wrong one, in a query and in a cookie", async () => {
  const { server, decisions } = await serve();
  const attempts: [string, Record<string, string>][] = [
    ["/api/events", {}],
    ["/api/events", { authorization: "Bearer 0123456789abcdef0123456789abcdee" }],
    [`/api/events?secret=${SECRET}`, {}],
    [`/api/events?access_token=${SECRET}`, {}],
    ["/api/events", { cookie: `secret=${SECRET}` }],
    ["/api/unknown", {}],
  ];
  for (const [path, headers] of attempts) {
    const answer = await rawRequest({ port: server.port, path, headers });
    expect(`${answer.status} ${path}`).toBe(`401 ${path}`);
    expect(answer.body).not.toContain("/home/ada");
  }
  expect((await decide(server, { authorization: "Bearer no" })).status).toBe(401);
  expect(decisions).toEqual([]);
});

test("[UI5] GET, HEAD and other methods decide nothing", async () => {
  const { server, decisions } = await serve();
  for (const method of ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"]) {
    const answer = await rawRequest({ port: server.port, method, path: "/api/decide?id=authorization-1&allow=true&callback=x", headers: BEARER });
    expect([method, answer.status, answer.headers.allow]).toEqual([method, 405, "POST"]);
  }
  expect((await rawRequest({ port: server.port, method: "POST", path: "/api/events", headers: BEARER })).status).toBe(405);
  expect((await rawRequest({ port: server.port, method: "POST", path: "/" })).status).toBe(404);
  expect(decisions).toEqual([]);
});

test.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain; application/json", ""])(
  "[UI6] answers 415 to content type %j",
  async (type) => {
    const { server, decisions } = await serve();
    expect((await decide(server, { "content-type": type })).status).toBe(415);
    expect(decisions).toEqual([]);
  },
);

test("[UI7] answers 413 to a large body and 400 to one that is no decision", async () => {
  const { server, decisions } = await serve();
  const large = JSON.stringify({ id: "authorization-1", allow: true, padding: "x".repeat(70_000) });
  expect((await decide(server, {}, large)).status).toBe(413);
  expect((await decide(server, { "transfer-encoding": "chunked" }, large)).status).toBe(413);
  for (const body of [
    "",
    "{",
    "[]",
    "null",
    '{"id":1,"allow":true}',
    '{"id":"authorization-1"}',
    '{"id":"a","allow":"true"}',
    JSON.stringify({ id: "a", allow: true, code: "x".repeat(33) }),
  ]) {
    expect(`${(await decide(server, {}, body)).status} ${body}`).toBe(`400 ${body}`);
  }
  expect(decisions).toEqual([]);
});

test("[UI7] takes what a person can write into a form, and answers 413 to more", async () => {
  const { server, desk } = await serve();
  const asked = desk.cards.forms.ask(
    exampleQuestion({ params: { message: "", requestedSchema: { type: "object", properties: { it: { type: "string" } } } } }),
  );
  const it = "ö".repeat(64 * 1024);
  const send = (values: object) => {
    const body = JSON.stringify({ id: desk.cards.forms.list()[0]?.id, action: "accept", values });
    return rawRequest({ port: server.port, method: "POST", path: "/api/form", headers: { ...BEARER, "content-type": "application/json" }, body });
  };
  expect((await send({ it: it.repeat(10) })).status).toBe(413);
  expect((await send({ it })).status).toBe(200);
  expect(await asked).toEqual({ action: "accept", content: { it } });
});

test("[UI8] answers 403 to a request that a browser marks as cross-site", async () => {
  const { server } = await serve();
  expect((await rawRequest({ port: server.port, path: "/api/events", headers: { ...BEARER, "sec-fetch-site": "cross-site" } })).status).toBe(403);
});

test("[UI9] every answer carries the protective headers", async () => {
  const { server } = await serve();
  const answers = await Promise.all([
    rawRequest({ port: server.port }),
    rawRequest({ port: server.port, path: "/nowhere" }),
    rawRequest({ port: server.port, headers: { host: "evil.example" } }),
    rawRequest({ port: server.port, path: "/api/events" }),
    decide(server, {}),
    decide(server, {}, "x".repeat(70_000)),
    rawRequest({ port: server.port, path: "/a\\b" }),
  ]);
  expect(answers.map((answer) => answer.status)).toEqual([200, 404, 403, 401, 200, 413, 400]);
  for (const { headers } of answers) {
    expect(headers).toMatchObject({
      "content-security-policy":
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types dompurify",
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
    });
    expect(headers["access-control-allow-origin"]).toBeUndefined();
  }
});

test("the decision reaches the relay once and its outcome comes back", async () => {
  const { server, decisions } = await serve();
  const own = { origin: `http://127.0.0.1:${server.port}`, "sec-fetch-site": "same-origin" };
  expect(JSON.parse((await decide(server, own)).body)).toEqual({ outcome: "allowed" });
  expect(JSON.parse((await decide(server, own)).body)).toEqual({ outcome: "gone" });
  expect(decisions).toEqual([{ id: "authorization-1", allow: true, code: "KITE-42" }]);
});

test("[UI22] answers 503 with a sentence when the relay cannot be reached", async () => {
  const under = deskUnderTest({ decide: () => Promise.reject(new Error("ECONNRESET at 10.0.0.1")) });
  under.desk.setAuthorizations([exampleAuthorization()]);
  const server = await startUiServer({ desk: under.desk, host: "127.0.0.1", port: 0, secret: SECRET, uiDir: builtPage() });
  onTestFinished(() => server.close());
  const answer = await decide(server, {});
  expect(answer.status).toBe(503);
  expect(answer.body).toContain("could not be reached");
  expect(answer.body).not.toContain("ECONNRESET");
});

test("[UI72] taking back is guarded as deciding is", async () => {
  const { server, grants, revocations } = await serve();
  grants.push(exampleGrant());
  const json = { ...BEARER, "content-type": "application/json" };
  const revoke = (headers: Record<string, string>, body = JSON.stringify({ ids: "all" }), method = "POST") =>
    rawRequest({ port: server.port, method, path: "/api/revoke", headers, ...(method === "POST" ? { body } : {}) });
  for (const [status, headers, body] of [
    [403, { ...json, host: "evil.example" }],
    [403, { ...json, origin: "http://evil.example" }],
    [403, { ...json, "sec-fetch-site": "cross-site" }],
    [401, { "content-type": "application/json" }],
    [415, { ...BEARER, "content-type": "text/plain" }],
    [413, json, "x".repeat(70_000)],
    [400, json, "{}"],
    [400, json, JSON.stringify({ ids: [] })],
    [400, json, JSON.stringify({ ids: "one" })],
  ] as const) {
    expect([status, headers, (await revoke(headers, body)).status]).toEqual([status, headers, status]);
  }
  expect((await revoke(BEARER, "", "GET")).status).toBe(405);
  expect((await rawRequest({ port: server.port, path: "/api/grants" })).status).toBe(401);
  expect((await rawRequest({ port: server.port, method: "POST", path: "/api/grants", headers: json })).headers.allow).toBe("GET");
  expect([revocations, grants.length]).toEqual([[], 1]);
  expect(JSON.parse((await rawRequest({ port: server.port, path: "/api/grants", headers: BEARER })).body)).toEqual({ grants });
  expect(JSON.parse((await revoke(json, JSON.stringify({ ids: ["grant-1"] }))).body)).toEqual({ revoked: 1 });
  expect(grants).toEqual([]);
});

test("[UI72] is answered 503 with a sentence when the relay cannot be reached", async () => {
  const away = (): Promise<never> => Promise.reject(new Error("the relay is not connected right now"));
  const { desk } = deskUnderTest({ grants: { list: away, revoke: away } });
  const server = await startUiServer({ desk, host: "127.0.0.1", port: 0, secret: SECRET, uiDir: builtPage() });
  onTestFinished(() => server.close());
  const json = { ...BEARER, "content-type": "application/json" };
  const answers = [
    await rawRequest({ port: server.port, path: "/api/grants", headers: json }),
    await rawRequest({ port: server.port, method: "POST", path: "/api/revoke", headers: json, body: '{"ids":"all"}' }),
  ];
  for (const answer of answers) expect([answer.status, answer.body.includes("could not be asked")]).toEqual([503, true]);
});

test("[UI11] goes on after connections that could not be accepted", async () => {
  const { server } = await withFailedAccepts(() => serve());
  expect(await statusOf(server, "/", BEARER)).toBe("200 /");
});

test("[UI11] fails on a taken port, naming it, and takes no other", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => taken.once("listening", resolve));
  onTestFinished(() => void taken.close());
  const address = taken.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const start = startUiServer({ desk: deskUnderTest().desk, host: "127.0.0.1", port, secret: SECRET, uiDir: builtPage() });
  await expect(start).rejects.toBeInstanceOf(UiPortBusy);
  await expect(start).rejects.toThrow(new RegExp(`${port}.*--ui-port`));
});

test("[UI12] closing ends open streams at once and frees the port", async () => {
  const { server, desk } = await serve();
  const lines = await follow(server);
  await lines.next();
  const started = performance.now();
  const [rest] = await Promise.all([lines.next().catch(() => undefined), server.close()]);
  expect(rest).toBeUndefined();
  expect(performance.now() - started).toBeLessThan(1_000);
  const again = await startUiServer({ desk, host: "127.0.0.1", port: server.port, secret: SECRET, uiDir: builtPage() });
  await again.close();
});

test("[UI13] a stream begins with a snapshot and goes on with the events in order", async () => {
  const { server, desk } = await serve();
  const lines = await follow(server);
  const first = eventOf(await lines.next());
  expect(first).toMatchObject({
    t: "snapshot",
    snapshot: { authorizations: [{ id: "authorization-1" }], info: { root: "/home/ada/projects/engine" } },
  });
  desk.callStarted({ callId: "a", tool: "bash", args: { command: "echo hi" }, client: "Claude", principalId: "grant:1", at: 1 });
  desk.callProgressed({ callId: "a", delta: "hi" });
  desk.setAuthorizations([]);
  expect([eventOf(await lines.next()).t, eventOf(await lines.next()).t, eventOf(await lines.next()).t]).toEqual(["call", "output", "authorizations"]);
});

test("[UI13] an idle stream carries keep-alive lines", async () => {
  const { server } = await serve(20);
  const lines = await follow(server);
  await lines.next();
  expect(await lines.next()).toBe("");
});

test("[UI14] a page that does not read costs bounded memory and later gets a fresh snapshot", async () => {
  const { server, desk } = await serve();
  desk.callStarted({ callId: "a", tool: "bash", args: { command: "yes" }, client: "Claude", principalId: "grant:1", at: 1 });
  const socket = connect(server.port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.write(`GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: ${BEARER.authorization}\r\n\r\n`);
  await new Promise((resolve) => socket.once("readable", resolve));
  socket.pause();
  const before = process.memoryUsage().heapUsed + process.memoryUsage().external;
  const delta = "y\n".repeat(16_384);
  for (let index = 0; index < 4_000; index++) {
    desk.callProgressed({ callId: "a", delta });
    if (index % 100 === 0) await sleep(1);
  }
  const grown = process.memoryUsage().heapUsed + process.memoryUsage().external - before;
  expect(grown).toBeLessThan(60_000_000); // 128 MB of output went by.
  let text = "";
  socket.setEncoding("latin1");
  socket.on("data", (chunk: string) => (text += chunk));
  socket.resume();
  const until = performance.now() + 5_000;
  const snapshots = (): number => text.split('{"t":"snapshot"').length - 1;
  while (snapshots() < 2 && performance.now() < until) await sleep(20);
  expect(snapshots()).toBeGreaterThanOrEqual(2);
});

test("[UI15] the fifth stream ends the oldest and tells it", async () => {
  const { server } = await serve();
  const oldest = await follow(server);
  await oldest.next();
  for (let index = 0; index < 4; index++) await (await follow(server)).next();
  expect(eventOf(await oldest.next())).toEqual({ t: "displaced" });
  expect(await oldest.next()).toBeUndefined();
});

test("[UI16] serves the page's own files and nothing else", async () => {
  const { server } = await serve();
  const served = await rawRequest({ port: server.port, path: "/assets/index-abc123.js" });
  expect([served.status, served.headers["content-type"]]).toEqual([200, "text/javascript; charset=utf-8"]);
  for (const path of [
    "/secret.txt",
    "/index.html",
    "/assets/",
    "/assets/.hidden.js",
    "/assets/../secret.txt",
    "/assets/..%2fsecret.txt",
    "/assets/%2e%2e/secret.txt",
    "//etc/passwd",
    "/assets/index-abc123.js%00.html",
    "/favicon.ico",
  ]) {
    expect(await statusOf(server, path, {})).toBe(`404 ${path}`);
  }
  expect((await rawRequest({ port: server.port, path: "/assets/..\\secret.txt" })).status).toBe(400);
});

test("[UI17] accepts no WebSocket", async () => {
  const { server } = await serve();
  const upgrade = { connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13", "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==" };
  const foreign = await rawRequest({ port: server.port, path: "/api/events", headers: { ...upgrade, origin: "http://evil.example" } });
  const own = await rawRequest({ port: server.port, path: "/", headers: upgrade });
  expect(foreign.status).toBe(403);
  expect(own.status).not.toBe(101);
});

test("[UI18] fails with a sentence when the page was not built", async () => {
  const start = startUiServer({ desk: deskUnderTest().desk, host: "127.0.0.1", port: 0, secret: SECRET, uiDir: tempDir("empty") });
  await expect(start).rejects.toThrow(/not built.*npm run build/);
});

test("the address with the secret carries it in the fragment only", async () => {
  const { server } = await serve();
  expect(server.url).toBe(`http://127.0.0.1:${server.port}/#${SECRET}`);
  expect(server.bareUrl).toBe(`http://127.0.0.1:${server.port}/`);
});
