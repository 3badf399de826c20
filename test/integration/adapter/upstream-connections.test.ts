import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { ServerDefinition } from "../../../local-agent/adapter/config/server-definition.ts";
import { systemClock, systemTimers } from "../../../local-agent/node/system-time.ts";
import { isAlive } from "../../support/alive.ts";
import { callOf, echo, failureOf, poolUnderTest, useOptions } from "../../support/pool-under-test.ts";
import { serverDefinition } from "../../support/server-definitions.ts";
import { httpServer, stdioServer } from "../../support/server-transports.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { fixtureCommand, listeningFixture, readJournal } from "../../support/upstream-fixture.ts";
import { transportsUnderTest } from "../../support/upstream-transports.ts";
import { waitUntil } from "../../support/wait-until.ts";

function fixture(name: string, flags: readonly string[] = [], fields: Partial<ServerDefinition> = {}): ServerDefinition {
  const { command, args } = fixtureCommand(name, ...flags);
  return serverDefinition(name, { transport: stdioServer(command, args), ...fields });
}

const poolOf = (...servers: ServerDefinition[]) =>
  poolUnderTest({ servers, transports: transportsUnderTest().factory, time: { ...systemClock, ...systemTimers } });

const journalled = () => {
  const file = join(tempDir(), "journal");
  return { flags: ["--journal", file], starts: () => readJournal(file).filter(({ event }) => event === "start") };
};

test("[UP2] of either era, a process is spoken to in its own way, and nothing of it is left behind", async () => {
  const journals = { modern: journalled(), legacy: journalled(), fragile: journalled() };
  const auto = { protocolVersion: "auto" } as const;
  const { pool } = await poolOf(
    fixture("modern-only", journals.modern.flags, auto),
    fixture("legacy-only", [...journals.legacy.flags, "--name", "plain"], auto),
    { ...fixture("legacy-only", [...journals.fragile.flags, "--dies-of-probe"], auto), name: "fragile" },
  );
  const results = await Promise.all(["modern-only", "legacy-only", "fragile"].map((server) => echo(pool, server)));
  expect(results).toMatchObject(results.map(() => ({ ok: true, value: { content: [{ text: "hello" }] } })));
  expect(pool.state("modern-only")).toMatchObject({ facts: { era: "modern", wire: "stdio" } });
  expect(pool.state("fragile")).toMatchObject({ facts: { era: "legacy" } });
  expect([journals.modern, journals.legacy, journals.fragile].map(({ starts }) => starts().length)).toEqual([1, 2, 2]);
  await pool.close();
  const pids = Object.values(journals).flatMap(({ starts }) => starts().map(({ pid }) => pid));
  expect(pids.filter(isAlive)).toEqual([]);
});

test("[UP2] a socket that somebody else serves is spoken to in the way its server speaks", async () => {
  const directory = tempDir();
  const [both, legacy] = await Promise.all([
    listeningFixture("good", "--socket", join(directory, "both")),
    listeningFixture("legacy-only", "--socket", join(directory, "legacy")),
  ]);
  const at = (name: string, path: string) => serverDefinition(name, { transport: { kind: "socket", path }, protocolVersion: "auto" });
  const { pool } = await poolOf(at("both", both.socket), at("legacy", legacy.socket));
  expect(await Promise.all([echo(pool, "both"), echo(pool, "legacy")])).toMatchObject([{ ok: true }, { ok: true }]);
  expect([pool.state("both"), pool.state("legacy")]).toMatchObject([
    { facts: { era: "modern", wire: "socket" } },
    { facts: { era: "legacy", wire: "socket" } },
  ]);
});

test("[UP4] a pinned revision that a server does not offer is a failure that says so", async () => {
  const { pool } = await poolOf(fixture("legacy-only", [], { protocolVersion: "2026-07-28" }));
  expect(await echo(pool, "legacy-only")).toMatchObject({
    ok: false,
    error: { code: "connect_failed", message: expect.stringContaining("2026-07-28") },
  });
});

test("[UP25] a server that forgot the session answers the call over a new one, however it says so", async () => {
  const wordings = ["404", "-32000", "no-valid"];
  const servers = wordings.map(async (says) => {
    const { url } = await listeningFixture("stale-session", "--http", "--says", says);
    return serverDefinition(says, { transport: httpServer(url) });
  });
  const { pool } = await poolOf(...(await Promise.all(servers)));
  for (let call = 0; call < 4; call++) {
    const answers = await Promise.all(wordings.map((says) => echo(pool, says)));
    expect(answers).toMatchObject(wordings.map(() => ({ ok: true })));
  }
});

test("[UP25] a server that keeps forgetting, or refuses for another reason, is not asked on and on", async () => {
  const always = await listeningFixture("stale-session", "--http", "--always");
  const other = await listeningFixture("stale-session", "--http", "--says", "other");
  const { pool, events } = await poolOf(
    serverDefinition("always", { transport: httpServer(always.url) }),
    serverDefinition("other", { transport: httpServer(other.url) }),
  );
  expect(await failureOf(echo(pool, "always"))).toBeInstanceOf(Error);
  expect(await echo(pool, "other")).toMatchObject({ ok: true });
  expect(await failureOf(echo(pool, "other"))).toBeInstanceOf(Error);
  const connects = (server: string) => events.filter((event) => event.t === "state" && event.server === server && event.state.at === "connected");
  expect([connects("always").length, connects("other").length]).toEqual([2, 1]);
});

test("[UP25] a server that was restarted at its address answers the next call", async () => {
  const first = await listeningFixture("good", "--http", "--era", "legacy");
  const { pool } = await poolOf(serverDefinition("good", { transport: httpServer(first.url) }));
  expect(await echo(pool, "good")).toMatchObject({ ok: true });
  first.child.kill("SIGKILL");
  await waitUntil("it ended", () => first.child.exitCode !== null || first.child.signalCode !== null);
  await listeningFixture("good", "--http", "--era", "legacy", "--port", new URL(first.url).port);
  expect(await echo(pool, "good")).toMatchObject({ ok: true });
});

test("[UP26] a process that dies of a call says how and what it wrote, and the next call has a new one", async () => {
  const journal = journalled();
  const { pool } = await poolOf(fixture("dying", [...journal.flags, "--at", "call"]));
  const failure = await failureOf(echo(pool, "dying"));
  expect(String(failure)).toMatch(/ended during the request: The server's process ended with exit code 7\..*no database at \/nowhere/);
  await waitUntil("its end is known", () => pool.state("dying").at === "idle");
  await failureOf(echo(pool, "dying"));
  expect(journal.starts()).toHaveLength(2);
});

test("[UP8] a process that dies early is a failure with its last words, and is not started for every call", async () => {
  const places = ["initialize", "list"];
  const journals = places.map(journalled);
  const { pool } = await poolOf(...places.map((at, index) => ({ ...fixture("dying", [...(journals[index]?.flags ?? []), "--at", at]), name: at })));
  const message: unknown = expect.stringMatching(/exit code 7.*no database at \/nowhere/);
  expect(await Promise.all(places.map((at) => echo(pool, at)))).toMatchObject(
    places.map(() => ({ ok: false, error: { code: "connect_failed", message } })),
  );
  expect(await Promise.all(places.map((at) => echo(pool, at)))).toMatchObject(places.map(() => ({ ok: false, error: { code: "server_backoff" } })));
  expect(journals.map(({ starts }) => starts().length)).toEqual([1, 1]);
});

test("[UP20] an eager server that is used at the very start is one process", async () => {
  const journal = journalled();
  const { pool } = await poolOf(fixture("good", journal.flags, { lifecycle: "eager", idleTimeoutMs: null }));
  pool.start();
  const results = await Promise.all([echo(pool, "good"), pool.connect("good", useOptions()), echo(pool, "good")]);
  expect(results.every(({ ok }) => ok)).toBe(true);
  expect(journal.starts()).toHaveLength(1);
});

test("[UP20] over a long session every one of many calls finds its tool", async () => {
  const { pool, events } = await poolOf(fixture("good", [], { protocolVersion: "auto" }));
  for (let round = 0; round < 30; round++) {
    const results = await Promise.all(Array.from({ length: 10 }, () => callOf(pool, "good", { name: "add", arguments: { a: round, b: 1 } })));
    expect(results).toMatchObject(results.map(() => ({ ok: true, value: { structuredContent: { sum: round + 1 } } })));
  }
  expect(events.filter((event) => event.t === "state" && event.state.at === "connected").length).toBeLessThanOrEqual(3);
});

test("[UP27] an upstream that hangs and one that floods disturb nobody else", async () => {
  const servers = [fixture("hanging"), fixture("flooding", ["--stderr", "1000000", "--stdout", "500", "--logs", "2000"]), fixture("good")];
  const { pool, clock } = await poolUnderTest({ servers, transports: transportsUnderTest().factory });
  let stuck = true;
  const hanging = failureOf(echo(pool, "hanging")).finally(() => (stuck = false));
  const flooded = echo(pool, "flooding");
  expect(await echo(pool, "good")).toMatchObject({ ok: true });
  expect(await flooded).toMatchObject({ ok: true });
  await waitUntil("the hanging one is called", () => pool.state("hanging").at === "connected");
  expect(stuck).toBe(true);
  clock.advance(60_000);
  expect(await hanging).toMatchObject({ code: "REQUEST_TIMEOUT" });
  expect(pool.state("hanging").at).toBe("connected");
});

test("[UP28] a cancelled call ends at the server too, in either era", async () => {
  const { pool } = await poolOf(fixture("good", ["--era", "legacy"]), { ...fixture("good", [], { protocolVersion: "auto" }), name: "modern" });
  const cancelled = async (server: string): Promise<unknown> => {
    const leaving = new AbortController();
    const sleeping = failureOf(callOf(pool, server, { name: "sleep", arguments: { ms: 60_000 } }, useOptions({ signal: leaving.signal })));
    await pool.connect(server, useOptions());
    leaving.abort(new Error("stop"));
    return [await sleeping, await echo(pool, server)];
  };
  const ended = [expect.any(Error), expect.objectContaining({ ok: true })];
  expect(await Promise.all([cancelled("good"), cancelled("modern")])).toEqual([ended, ended]);
});

test.each(["legacy", "auto"] as const)("[UP40] a server asks the person and the model during a call (%s)", async (protocolVersion) => {
  const era = protocolVersion === "legacy" ? "legacy" : "modern";
  const { pool, questions, answerForm } = await poolOf(fixture("asking", ["--era", era], { protocolVersion }));
  const asked = callOf(pool, "asking", { name: "ask_twice", arguments: {} });
  for (let form = 1; form <= 2; form++) {
    await waitUntil("the form is there", () => questions.length === form);
    expect(questions.at(-1)).toMatchObject({ server: "asking", caller: { principalId: "grant:1" } });
    answerForm("accept", form === 1 ? { name: "Ada" } : { colour: "green", color: "green", name: "Bob" });
  }
  expect(await asked).toMatchObject({ ok: true });
  expect(JSON.stringify(await callOf(pool, "asking", { name: "sample", arguments: { prompt: "2+2?" } }))).toContain("sampled");
});

test("[UP43] what a modern server asks last is still the first caller's, when another one's call has begun meanwhile", async () => {
  const { pool, questions, answerForm } = await poolOf(fixture("asking", ["--era", "modern"], { protocolVersion: "auto" }));
  const other = { kind: "remote", principalId: "grant:2", client: "other", probe: () => undefined } as const;
  const first = callOf(pool, "asking", { name: "ask_twice", arguments: {} });
  await waitUntil("the first form is there", () => questions.length === 1);
  const second = callOf(pool, "asking", { name: "ask", arguments: {} }, useOptions({ caller: other }));
  await waitUntil("the other caller's form is there", () => questions.length === 2);
  answerForm("accept", { name: "Ada" });
  await waitUntil("the first call asks again", () => questions.length === 3);
  expect(questions.map(({ caller }) => caller.kind === "remote" && caller.principalId)).toEqual(["grant:1", "grant:2", "grant:1"]);
  answerForm("accept", { name: "Bob" });
  answerForm("accept", { color: "green" });
  expect(JSON.stringify(await second)).toContain("name: Bob");
  expect(JSON.stringify(await first)).toContain("name: Ada, color: green");
});

test("[UP74] a tool that appears is there without asking, in either era, over a pipe and over HTTP", async () => {
  const { url } = await listeningFixture("good", "--http");
  const auto = { protocolVersion: "auto" } as const;
  const { pool } = await poolOf(
    { ...fixture("good", ["--era", "legacy"]), name: "legacy" },
    { ...fixture("good", ["--era", "modern"], auto), name: "modern" },
    serverDefinition("http", { transport: httpServer(url), ...auto }),
  );
  const servers = ["legacy", "modern", "http"];
  await Promise.all(servers.map((server) => callOf(pool, server, { name: "grow", arguments: {} })));
  const knows = (server: string) => pool.held(server)?.catalog.tools.some(({ name }) => name === "grown") === true;
  await waitUntil("the new tool is known", () => servers.every(knows));
  expect(servers.map((server) => pool.state(server))).toMatchObject([{ listening: "legacy" }, { listening: "active" }, { listening: "active" }]);
});

test("[UP73] pages of a real server are gathered, and those without end are not", async () => {
  const { pool } = await poolOf(fixture("paginated"), { ...fixture("paginated", ["--endless"]), name: "endless" });
  const pages = await pool.connect("paginated", useOptions());
  expect(pages.ok && [pages.value.tools.length, pages.value.resources.length, pages.value.prompts.length]).toEqual([250, 250, 250]);
  const endless = await pool.connect("endless", useOptions());
  expect(endless.ok && endless.value.tools.length).toBeLessThanOrEqual(5000);
});

test("[UP23] an address that answers 503 is temporarily unavailable: its tools stay known, and it is not asked for every call", async () => {
  let requests = 0;
  const down = createServer((_request, response) => {
    requests++;
    response.writeHead(503).end("later");
  });
  await new Promise<void>((resolve) => down.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void down.close());
  const definition = serverDefinition("down", { transport: httpServer(`http://127.0.0.1:${(down.address() as AddressInfo).port}/mcp`) });
  const catalog = {
    tools: [{ name: "kept", inputSchema: { type: "object" as const } }],
    resources: [],
    prompts: [],
    instructions: null,
    ttlMs: null,
    cacheScope: null,
    listedAt: Date.now(),
  };
  const kept = new Map([["down", { configHash: "hash of down", catalog }]]);
  const { pool } = await poolUnderTest({ servers: [definition], kept, transports: transportsUnderTest().factory });
  expect(await echo(pool, "down")).toMatchObject({ ok: false, error: { message: expect.stringContaining("temporarily unavailable") } });
  const asked = requests;
  for (let call = 0; call < 20; call++) expect(await echo(pool, "down")).toMatchObject({ error: { code: "server_backoff" } });
  expect(requests).toBe(asked);
  expect(requests).toBeLessThanOrEqual(4);
  expect(pool.held("down")?.catalog.tools).toHaveLength(1);
});
