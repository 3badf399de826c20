import { expect, test } from "vitest";
import type { ProjectTrust } from "../../../../local-agent/adapter/ports.ts";
import { echo, failureOf, poolUnderTest, settled, useOptions } from "../../../support/pool-under-test.ts";
import { serverDefinition } from "../../../support/server-definitions.ts";
import { NEVER, RpcError } from "../../../support/scripted-upstreams.ts";

test("[UP20] uses at the same time share one connect, and later ones the connection", async () => {
  const { pool, upstreams } = await poolUnderTest({ servers: [serverDefinition("demo")] });
  const results = await Promise.all([echo(pool, "demo"), echo(pool, "demo"), echo(pool, "demo")]);
  expect(results.every((result) => result.ok)).toBe(true);
  await echo(pool, "demo");
  expect(upstreams.of("demo")).toHaveLength(1);
});

test("[UP20] the states on the way are told", async () => {
  const { pool, events } = await poolUnderTest({ servers: [serverDefinition("demo")] });
  await echo(pool, "demo");
  expect(events.flatMap((event) => (event.t === "state" ? [event.state.at] : []))).toEqual(["connecting", "connected"]);
});

test("[UP21] a waiter that leaves does not end the connect for the others", async () => {
  const { pool, upstreams } = await poolUnderTest({ servers: [serverDefinition("demo")] });
  const opening = Promise.withResolvers<void>();
  upstreams.script("demo").opening = opening.promise;
  const leaving = new AbortController();
  const first = echo(pool, "demo", useOptions({ signal: leaving.signal }));
  const second = echo(pool, "demo");
  await settled();
  expect(pool.connecting()).toEqual(["demo"]);
  leaving.abort();
  expect(await first).toMatchObject({ ok: false, error: { code: "aborted" } });
  opening.resolve();
  expect(await second).toMatchObject({ ok: true });
  expect(upstreams.of("demo")).toHaveLength(1);
});

test("[UP22] a server that cannot be used says why", async () => {
  const disabled = serverDefinition("off");
  const { pool } = await poolUnderTest({
    servers: [serverDefinition("demo")],
    others: new Map([
      ["off", { state: "disabled", name: "off", definition: disabled }],
      ["bad", { state: "invalid", name: "bad", problem: "it has neither command nor url", origins: {} }],
    ]),
  });
  expect(await echo(pool, "nope")).toMatchObject({ error: { code: "server_not_found" } });
  expect(await echo(pool, "off")).toMatchObject({ error: { code: "server_disabled" } });
  expect(await echo(pool, "bad")).toMatchObject({ error: { code: "invalid_server", message: expect.stringContaining("neither command nor url") } });
  expect(pool.servers().map((server) => pool.state(server).at)).toEqual(["idle", "disabled", "invalid"]);
  await pool.close();
  expect(await echo(pool, "demo")).toMatchObject({ error: { code: "aborted" } });
});

test("[UP22] a definition that cannot be resolved is told as such, and nothing is started", async () => {
  const { pool, upstreams } = await poolUnderTest({ servers: [serverDefinition("demo")] });
  upstreams.script("demo").failure = { kind: "config", message: "The variable TOKEN is not set." };
  expect(await echo(pool, "demo")).toMatchObject({ error: { code: "invalid_server", message: expect.stringContaining("TOKEN") } });
});

test("[UP23] a call to a server that failed a moment ago is answered at once with what it failed with", async () => {
  const { pool, upstreams, clock } = await poolUnderTest({ servers: [serverDefinition("demo")] });
  const script = upstreams.script("demo");
  script.failure = { kind: "failed", message: "connection refused" };
  expect(await echo(pool, "demo")).toMatchObject({ error: { code: "connect_failed", message: expect.stringContaining("connection refused") } });
  script.failure = null;
  clock.advance(59_000);
  const refused = await echo(pool, "demo");
  expect(refused).toMatchObject({
    error: { code: "server_backoff", message: expect.stringMatching(/failed 59 s ago: connection refused\. .* in 1 s;/) },
  });
  expect(pool.state("demo")).toMatchObject({ at: "failed", cause: "connection refused" });
  clock.advance(1001);
  expect(await echo(pool, "demo")).toMatchObject({ ok: true });
});

test("[UP23] a server is tried at once where that is asked for, and a success forgets the failure", async () => {
  const { pool, upstreams } = await poolUnderTest({ servers: [serverDefinition("demo")] });
  upstreams.script("demo").failure = { kind: "unavailable", message: "503" };
  expect(await echo(pool, "demo")).toMatchObject({ error: { message: expect.stringContaining("temporarily unavailable") } });
  upstreams.script("demo").failure = null;
  expect(await pool.connect("demo", useOptions({ ignoreBackoff: true }))).toMatchObject({ ok: true });
  expect(pool.state("demo").at).toBe("connected");
});

test("[UP24] connecting to a connected server lists anew what it offers", async () => {
  const { pool, upstreams } = await poolUnderTest({ servers: [serverDefinition("demo")] });
  await echo(pool, "demo");
  upstreams.script("demo").tools = [{ name: "other", inputSchema: { type: "object" } }];
  expect(await pool.connect("demo", useOptions())).toMatchObject({ ok: true, value: { tools: [{ name: "other" }] } });
  expect(upstreams.of("demo")).toHaveLength(1);
});

test("[UP24] a replacing connection takes the old one's place when it works, and the old one ends after its last call", async () => {
  const { pool, upstreams } = await poolUnderTest({ servers: [serverDefinition("demo")] });
  const answer = Promise.withResolvers<unknown>();
  upstreams.script("demo").methods["tools/call"] = () => answer.promise;
  const running = echo(pool, "demo");
  await settled();
  expect(await pool.connect("demo", { ...useOptions(), replace: true })).toMatchObject({ ok: true });
  expect(upstreams.living("demo")).toBe(2);
  answer.resolve({ content: [{ type: "text", text: "late" }] });
  expect(await running).toMatchObject({ ok: true, value: { content: [{ text: "late" }] } });
  await settled();
  expect(upstreams.of("demo").map((peer) => peer.open)).toEqual([false, true]);
});

test("[UP24] a replacement that fails leaves the connection that stands", async () => {
  const { pool, upstreams } = await poolUnderTest({ servers: [serverDefinition("demo")] });
  await echo(pool, "demo");
  upstreams.script("demo").failure = { kind: "failed", message: "no such file" };
  expect(await pool.connect("demo", { ...useOptions(), replace: true })).toMatchObject({ ok: false, error: { code: "connect_failed" } });
  expect(pool.state("demo").at).toBe("connected");
  expect(await echo(pool, "demo")).toMatchObject({ ok: true });
});

test("[UP26] a server that ends during a call fails it with its last words, and the call is not repeated", async () => {
  const { pool, upstreams } = await poolUnderTest({ servers: [serverDefinition("demo")] });
  const script = upstreams.script("demo");
  script.stderr = "starting\nassertion failed: x > 0\n";
  script.methods["tools/call"] = (_params, peer) => {
    peer.die();
    return NEVER;
  };
  await expect(echo(pool, "demo")).rejects.toThrow(/assertion failed/);
  await settled();
  expect(pool.state("demo").at).toBe("idle");
  delete script.methods["tools/call"];
  expect(await echo(pool, "demo")).toMatchObject({ ok: true });
  expect(upstreams.of("demo").flatMap((peer) => peer.received.filter(({ method }) => method === "tools/call"))).toHaveLength(2);
});

test("[UP27] a call without an answer ends at the server's deadline, is cancelled there, and harms no other call", async () => {
  const { pool, upstreams, clock } = await poolUnderTest({ servers: [serverDefinition("demo", { requestTimeoutMs: 5000 })] });
  const script = upstreams.script("demo");
  await echo(pool, "demo");
  script.methods["tools/call"] = () => NEVER;
  const stuck = failureOf(echo(pool, "demo"));
  await settled();
  clock.advance(5001);
  expect(await stuck).toMatchObject({ code: "REQUEST_TIMEOUT", message: expect.stringMatching(/did not answer within 5000 ms/) });
  await settled();
  const [peer] = upstreams.of("demo");
  expect(peer?.received.at(-1)?.method).toBe("notifications/cancelled");
  delete script.methods["tools/call"];
  expect(await echo(pool, "demo")).toMatchObject({ ok: true });
  expect(upstreams.of("demo")).toHaveLength(1);
});

test("[UP27] without a configured deadline a call has a minute, and progress begins it anew", async () => {
  const { pool, upstreams, clock } = await poolUnderTest({ servers: [serverDefinition("demo")] });
  const answer = Promise.withResolvers<unknown>();
  upstreams.script("demo").methods["tools/call"] = () => answer.promise;
  const reports: number[] = [];
  const call = pool.use("demo", useOptions(), (upstream) =>
    upstream.callTool(
      { name: "echo", arguments: {} },
      upstream.requestOptions(({ progress }) => reports.push(progress)),
    ),
  );
  await settled();
  const [peer] = upstreams.of("demo");
  const meta = peer?.received.at(-1)?.params["_meta"];
  for (let step = 1; step <= 4; step++) {
    clock.advance(50_000);
    peer?.notify("notifications/progress", { ...(meta as object), progress: step });
    await settled();
  }
  answer.resolve({ content: [] });
  expect(await call).toMatchObject({ ok: true });
  expect(reports).toEqual([1, 2, 3, 4]);
});

test("[UP28] a cancelled call is cancelled at the server, and its late answer harms nothing", async () => {
  const { pool, upstreams } = await poolUnderTest({ servers: [serverDefinition("demo")] });
  const answer = Promise.withResolvers<unknown>();
  const script = upstreams.script("demo");
  await echo(pool, "demo");
  script.methods["tools/call"] = () => answer.promise;
  const leaving = new AbortController();
  const call = failureOf(echo(pool, "demo", useOptions({ signal: leaving.signal })));
  await settled();
  leaving.abort(new Error("the person pressed stop"));
  expect(await call).toBeInstanceOf(Error);
  answer.resolve({ content: [] });
  delete script.methods["tools/call"];
  await settled();
  expect(upstreams.of("demo")[0]?.received.map(({ method }) => method)).toContain("notifications/cancelled");
  expect(await echo(pool, "demo")).toMatchObject({ ok: true });
});

test("[UP28] an error of the server's reaches the caller as it is", async () => {
  const { pool, upstreams } = await poolUnderTest({ servers: [serverDefinition("demo")] });
  upstreams.script("demo").methods["tools/call"] = () => new RpcError(-32602, "no such tool", { hint: "echo" });
  await expect(echo(pool, "demo")).rejects.toMatchObject({ code: -32602, data: { hint: "echo" } });
});

test("[UP30] a project's own server runs only when the person allows it", async () => {
  const origins = { command: { layer: "project", file: "/w/.mcp.json" }, env: { layer: "user", file: "/h/mcp.json" } } as const;
  const under = await poolUnderTest({ servers: [serverDefinition("demo", { projectText: "npx demo", origins, lifecycle: "eager" })] });
  under.trust.known = "unasked";
  under.trust.answer = false;
  under.pool.start();
  await settled();
  expect(under.trust.asked).toEqual([]);
  expect(under.pool.state("demo")).toEqual({ at: "untrusted", denied: false });
  expect(await echo(under.pool, "demo")).toMatchObject({ ok: false, error: { code: "server_untrusted" } });
  expect(under.trust.asked).toEqual([{ server: "demo", text: "npx demo", files: ["/w/.mcp.json"] }]);
  expect(await echo(under.pool, "demo")).toMatchObject({ ok: false, error: { code: "server_untrusted" } });
  expect(under.trust.asked).toHaveLength(1);
  expect(under.upstreams.of("demo")).toEqual([]);
  under.trust.forget();
  under.trust.answer = true;
  expect(await echo(under.pool, "demo")).toMatchObject({ ok: true });
});

test("[UP58] what the person allows after the adapter was closed is not started", async () => {
  const allowed = Promise.withResolvers<boolean>();
  const trust: ProjectTrust = { known: () => "unasked", ask: () => allowed.promise };
  const { pool, upstreams } = await poolUnderTest({ servers: [serverDefinition("demo", { projectText: "npx demo" })], ports: { trust } });
  const use = echo(pool, "demo");
  await settled();
  await pool.close();
  allowed.resolve(true);
  expect(await use).toMatchObject({ ok: false, error: { code: "aborted" } });
  expect(upstreams.of("demo")).toEqual([]);
});

test("[UP23] a way to a server that breaks instead of failing is a failure like any other", async () => {
  const { pool, upstreams, clock } = await poolUnderTest({ servers: [serverDefinition("demo")] });
  const broken = Promise.reject(new Error("out of handles"));
  upstreams.script("demo").opening = broken;
  expect(await echo(pool, "demo")).toMatchObject({
    ok: false,
    error: { code: "connect_failed", message: expect.stringContaining("out of handles") },
  });
  upstreams.script("demo").opening = null;
  clock.advance(60_001);
  expect(await echo(pool, "demo")).toMatchObject({ ok: true });
});

test("[UP23] a use joins a connect that runs, however short a time ago the server failed", async () => {
  const { pool, upstreams } = await poolUnderTest({ servers: [serverDefinition("demo")] });
  const script = upstreams.script("demo");
  script.failure = { kind: "failed", message: "down" };
  await echo(pool, "demo");
  script.failure = null;
  const opening = Promise.withResolvers<void>();
  script.opening = opening.promise;
  const asked = pool.connect("demo", useOptions({ ignoreBackoff: true }));
  await settled();
  const joined = echo(pool, "demo");
  opening.resolve();
  expect(await Promise.all([asked, joined])).toMatchObject([{ ok: true }, { ok: true }]);
});

test("[UP24] uses that arrive while connections take each other's place all find one that serves", async () => {
  const { pool } = await poolUnderTest({ servers: [serverDefinition("demo")] });
  await echo(pool, "demo");
  const work: Promise<{ readonly ok: boolean }>[] = [];
  for (let turn = 0; turn < 40; turn++) {
    work.push(echo(pool, "demo"));
    if (turn % 4 === 0) work.push(pool.connect("demo", { ...useOptions(), replace: true }));
    for (let microtask = 0; microtask < turn % 7; microtask++) await Promise.resolve();
  }
  expect((await Promise.all(work)).every(({ ok }) => ok)).toBe(true);
});
