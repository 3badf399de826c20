import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import * as fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { hashOf } from "../../../local-agent/node/shared-transports.ts";
import { isJsonObject, parseJson } from "../../../shared/json.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { callOf, echo, failureOf, useOptions } from "../../support/pool-under-test.ts";
import { NEVER, ScriptedUpstreams } from "../../support/scripted-upstreams.ts";
import { serverDefinition } from "../../support/server-definitions.ts";
import { withFailedAccepts } from "../../support/failed-accepts.ts";
import { goodServer, sharingUnderTest, type SharingUnderTest } from "../../support/sharing-under-test.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { waitUntil } from "../../support/wait-until.ts";

const { definition } = goodServer();

interface RawClient {
  readonly socket: Socket;
  readonly lines: Record<string, unknown>[];
  readonly ended: Promise<void>;
  send(message: object): void;
}

function rawClient(sharing: SharingUnderTest, first?: string): RawClient {
  const socket = connect(join(sharing.stateDir, "shared", sharing.sockets()[0] ?? ""));
  onTestFinished(() => void socket.destroy());
  const lines: Record<string, unknown>[] = [];
  const ended = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.on("error", () => {});
  createInterface(socket).on("line", (line) => {
    // A connection may end in the middle of one.
    const message = parseJson(line);
    if (isJsonObject(message)) lines.push({ ...message });
  });
  if (first !== undefined) socket.write(first);
  return { socket, lines, ended, send: (message) => void socket.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`) };
}

const hello = (sharing: SharingUnderTest, more: object = {}): string =>
  `${JSON.stringify({
    shared: "attach",
    version: 1,
    server: definition.name,
    configHash: hashOf(definition, sharing.place),
    directory: sharing.place.cwd,
    ofProject: false,
    asks: { form: false, url: false, sampling: false },
    ...more,
  })}\n`;

const INITIALIZE = {
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
};

async function attached(sharing: SharingUnderTest): Promise<RawClient> {
  const client = rawClient(sharing, hello(sharing));
  await waitUntil("it is attached", () => client.lines.length === 2);
  client.send(INITIALIZE);
  await waitUntil("it has begun", () => client.lines.length === 3);
  return client;
}

test("[SH1] the socket and its directory are private, and gone with the agent", async () => {
  const sharing = await sharingUnderTest([definition], goodServer());
  const directory = join(sharing.stateDir, "shared");
  const [socket = ""] = sharing.sockets();
  expect([statSync(directory).mode & 0o777, statSync(join(directory, socket)).mode & 0o777]).toEqual([0o700, 0o600]);
  await sharing.close();
  expect(sharing.sockets()).toEqual([]);
});

test("[SH1] connections that cannot be accepted, for want of file descriptors, end nothing", async () => {
  const sharing = await withFailedAccepts(() => sharingUnderTest([definition], goodServer()));
  const client = await attached(sharing);
  expect(client.lines[2]).toMatchObject({ id: 0 });
});

test("[SH2] one line says what is wanted, and is answered with that it waits and that it is attached", async () => {
  const sharing = await sharingUnderTest([definition], goodServer());
  const client = await attached(sharing);
  expect(client.lines.slice(0, 2)).toEqual([{ answer: "wait" }, { answer: "ok" }]);
  expect(client.lines[2]).toMatchObject({ id: 0, result: { serverInfo: { name: "good", version: "1.2.3" }, instructions: expect.any(String) } });
});

test.each([
  ["no line of that kind", '{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n'],
  ["no JSON", "GET / HTTP/1.1\r\n"],
  ["a line that is too long", "x".repeat(17 * 1024)],
])("[SH2] %s ends the connection without a word", async (_what, text) => {
  const sharing = await sharingUnderTest([definition], goodServer());
  const client = rawClient(sharing, text);
  await client.ended;
  expect(client.lines).toEqual([]);
});

test("[SH2] a client that says nothing is not waited for", async () => {
  const timers = new ManualClock();
  const sharing = await sharingUnderTest([definition], { ...goodServer(), timers });
  const client = rawClient(sharing);
  await once(client.socket, "connect");
  const ended = { yet: false };
  void client.ended.then(() => (ended.yet = true));
  await waitUntil("it is ended", () => {
    timers.advance(1000);
    return ended.yet;
  });
  expect(client.lines).toEqual([]);
});

test.each([
  ["another version", { version: 2 }, "version"],
  ["a name that is not known", { server: "other" }, "unknown"],
  ["another definition", { configHash: "0".repeat(64) }, "other-definition"],
  ["the same one of a project's file", { ofProject: true }, "other-definition"],
  ["another directory", { directory: "/" }, "other-directory"],
])("[SH3] %s is refused", async (_what, more, because) => {
  const sharing = await sharingUnderTest([definition], goodServer());
  const client = rawClient(sharing, hello(sharing, more));
  await client.ended;
  expect(client.lines).toEqual([{ answer: "refused", because, message: expect.stringMatching(/\.$/) }]);
});

test("[SH3] a disabled server is refused, and one that is no process", async () => {
  const disabled = { state: "disabled", name: "off", definition: { ...definition, name: "off" } } as const;
  const web = serverDefinition("web", { transport: { kind: "socket", path: "/nowhere" } });
  const sharing = await sharingUnderTest([definition, web], { ...goodServer(), others: new Map([["off", disabled]]) });
  const clients = ["off", "web"].map((server) => rawClient(sharing, hello(sharing, { server })));
  await Promise.all(clients.map(({ ended }) => ended));
  expect(clients.map(({ lines }) => lines[0]?.["because"])).toEqual(["disabled", "not-shareable"]);
});

test("[SH4] a project's server is shared only when it was allowed there, and nobody is asked", async () => {
  const good = goodServer({ projectText: "the entry" });
  const sharing = await sharingUnderTest([good.definition], good);
  sharing.agent.trust.known = "unasked";
  const refused = await sharing.session();
  expect(await echo(refused.pool, "good")).toMatchObject({ ok: false });
  expect(refused.notices).toEqual([expect.stringContaining("Nobody has allowed it there yet")]);
  sharing.agent.trust.known = "allowed";
  expect(await echo((await sharing.session()).pool, "good")).toMatchObject({ ok: true });
  expect(sharing.agent.trust.asked).toEqual([]);
});

test("[SH5] a server that cannot be connected to is refused with the reason", async () => {
  const upstreams = new ScriptedUpstreams();
  upstreams.script("demo").failure = { kind: "failed", message: "it has no database" };
  const sharing = await sharingUnderTest([serverDefinition("demo")], { transports: upstreams });
  const { pool, notices } = await sharing.session();
  await echo(pool, "demo");
  expect(notices).toEqual([expect.stringMatching(/"demo" runs in this session.*it has no database/)]);
});

test("[SH6] what a killed agent left is passed over, and taken away by the next one", async () => {
  const stateDir = tempDir("state");
  const directory = join(stateDir, "shared");
  mkdirSync(directory, { mode: 0o700 });
  const left = createServer();
  await new Promise<void>((resolve) => left.listen(join(directory, "4194304-0badcafe.sock"), resolve));
  // The file stays, as when the process is killed.
  writeFileSync(join(directory, "4194303-0badcafe.sock"), "");
  left.close();
  const good = goodServer();
  const sharing = await sharingUnderTest([good.definition], { ...good, stateDir });
  expect(sharing.sockets()).toHaveLength(1);
  expect(existsSync(join(directory, "4194303-0badcafe.sock"))).toBe(false);
  writeFileSync(join(directory, "4194302-0badcafe.sock"), "");
  const { pool, notices } = await sharing.session();
  expect(await echo(pool, "good")).toMatchObject({ ok: true });
  expect(notices).toEqual([]);
});

test("[SH22] one request too many is refused at once, and others are served", async () => {
  const upstreams = new ScriptedUpstreams();
  upstreams.script("good").methods["tools/call"] = ({ name }) => (name === "hang" ? NEVER : undefined);
  const sharing = await sharingUnderTest([definition], { transports: upstreams });
  const flood = await attached(sharing);
  for (let id = 1; id <= 40; id++) flood.send({ id, method: "tools/call", params: { name: "hang", arguments: {} } });
  await waitUntil("the last are refused", () => flood.lines.length === 3 + 8);
  expect(flood.lines.slice(3).map(({ error }) => (error as { message: string }).message)).toEqual(
    Array.from({ length: 8 }, () => expect.stringContaining("At most 32 requests")),
  );
  const { pool } = await sharing.session();
  expect(await echo(pool, "good")).toMatchObject({ ok: true });
});

test("[SH22] a server has 32 sessions at most; one that leaves makes room", async () => {
  const sharing = await sharingUnderTest([definition], goodServer());
  const clients = await Promise.all(Array.from({ length: 32 }, () => attached(sharing)));
  const late = rawClient(sharing, hello(sharing));
  await late.ended;
  expect(late.lines).toMatchObject([{ answer: "refused", because: "busy" }]);
  clients[0]?.socket.destroy();
  await waitUntil("there is room", async () => {
    const next = rawClient(sharing, hello(sharing));
    await waitUntil("it is answered", () => next.lines.length >= 1);
    return next.lines[0]?.["answer"] === "wait";
  });
});

test("[SH23] a session that does not read is read no more, and holds up nobody", async () => {
  const good = goodServer();
  const sharing = await sharingUnderTest([good.definition], good);
  const stalled = await attached(sharing);
  const ran = () => good.calls.filter((tool) => tool === "big").length;
  const ask = (from: number, to: number) => {
    for (let id = from; id <= to; id++) stalled.send({ id, method: "tools/call", params: { name: "big", arguments: { bytes: 1_000_000 } } });
  };
  stalled.socket.pause();
  ask(1, 30);
  const { pool } = await sharing.session();
  await waitUntil("the first have run", () => ran() === 30);
  expect(await echo(pool, "good")).toMatchObject({ ok: true });
  ask(31, 60);
  for (let call = 0; call < 20; call++) expect(await echo(pool, "good")).toMatchObject({ ok: true });
  expect([ran(), stalled.lines.length]).toEqual([30, 3]);
  stalled.socket.resume();
  await waitUntil("all are answered", () => stalled.lines.length === 63);
  expect(stalled.lines.filter(({ error }) => error !== undefined)).toEqual([]);
});

test("[SH23] what changed while a session did not read is told when it does", async () => {
  const good = goodServer();
  const sharing = await sharingUnderTest([good.definition], good);
  const [stalled, other] = [await attached(sharing), await attached(sharing)];
  const changes = ({ lines }: RawClient) => lines.filter(({ method }) => method === "notifications/tools/list_changed").length;
  stalled.socket.pause();
  for (let id = 1; id <= 30; id++) stalled.send({ id, method: "tools/call", params: { name: "big", arguments: { bytes: 1_000_000 } } });
  await echo((await sharing.session()).pool, "good");
  other.send({ id: 1, method: "tools/call", params: { name: "grow", arguments: {} } });
  await waitUntil("the other has heard", () => changes(other) === 1);
  expect(changes(stalled)).toBe(0);
  stalled.socket.resume();
  await waitUntil("it has heard, too", () => changes(stalled) === 1);
});

test("[SH23] after half a minute without reading its connection is ended", async () => {
  const timers = new ManualClock();
  const good = goodServer();
  const sharing = await sharingUnderTest([good.definition], { ...good, timers });
  const stalled = await attached(sharing);
  stalled.socket.pause();
  for (let id = 1; id <= 20; id++) stalled.send({ id, method: "tools/call", params: { name: "big", arguments: { bytes: 1_000_000 } } });
  await waitUntil("the connection is given up", () => {
    timers.advance(5000);
    return sharing.detached() === 1;
  });
  stalled.socket.resume();
  await stalled.ended;
  expect(stalled.lines.length).toBeLessThan(23);
});

test("[SH23] a line that is too long, and a stream of nonsense, end or disturb only their own connection", async () => {
  const good = goodServer();
  const sharing = await sharingUnderTest([good.definition], good);
  const [endless, noisy] = [await attached(sharing), await attached(sharing)];
  const { pool } = await sharing.session({ connected: "good" });
  noisy.socket.write("nonsense\n{}\n[]\nnull\n".repeat(1000));
  noisy.send({ id: 7, method: "tools/call", params: { name: "echo", arguments: { text: "still here" } } });
  noisy.send({ id: 8, method: "unheard/of" });
  endless.socket.write(Buffer.alloc(17 * 1024 * 1024, "x"));
  await endless.ended;
  await waitUntil("it is answered all the same", () => noisy.lines.some(({ id }) => id === 8));
  expect(noisy.lines.find(({ id }) => id === 7)).toMatchObject({ result: { content: [{ text: "still here" }] } });
  expect(noisy.lines.find(({ id }) => id === 8)).toMatchObject({ error: { code: -32601 } });
  expect(await echo(pool, "good")).toMatchObject({ ok: true });
  expect(good.starts()).toBe(1);
});

test("[SH10] equal ids of two clients are not confused", async () => {
  const sharing = await sharingUnderTest([definition], goodServer());
  const clients = await Promise.all([attached(sharing), attached(sharing), attached(sharing)]);
  for (const [index, client] of clients.entries()) {
    for (const id of [0, "", 1]) client.send({ id, method: "tools/call", params: { name: "echo", arguments: { text: `${index}-${id}` } } });
  }
  await waitUntil("all are answered", () => clients.every(({ lines }) => lines.length === 6));
  for (const [index, { lines }] of clients.entries()) {
    const said = lines.slice(3).map(({ id, result }) => [id, (result as { content: { text: string }[] }).content[0]?.text]);
    expect(new Map(said as [unknown, string][])).toEqual(new Map([0, "", 1].map((id) => [id, `${index}-${id}`])));
  }
});

test("[SH10] whatever several clients send at once, each gets the answers to its own requests", { timeout: 60_000 }, async () => {
  const sharing = await sharingUnderTest([definition], goodServer());
  const clients = await Promise.all([attached(sharing), attached(sharing), attached(sharing)]);
  const id = fc.oneof(fc.integer({ min: 0, max: 20 }), fc.string({ maxLength: 3 }));
  const step = fc.record({ from: fc.nat(2), id, cancels: fc.boolean() });
  let round = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      round++;
      const seen = new Set<string>();
      const sent = steps.filter(({ from, id }) => !seen.has(JSON.stringify([from, id])) && seen.add(JSON.stringify([from, id])));
      const begin = clients.map(({ lines }) => lines.length);
      for (const { from, id, cancels } of sent) {
        const text = JSON.stringify([round, from, id]);
        clients[from]?.send({ id, method: "tools/call", params: { name: "echo", arguments: { text } } });
        if (cancels) clients[from]?.send({ method: "notifications/cancelled", params: { requestId: id } });
      }
      const expected = (from: number) => sent.filter((one) => one.from === from && !one.cancels).map((one) => JSON.stringify([round, from, one.id]));
      const got = (from: number) =>
        (clients[from]?.lines ?? []).slice(begin[from]).map((line) => {
          const text = (line["result"] as { content: { text: string }[] }).content[0]?.text ?? "";
          expect(text).toBe(JSON.stringify([round, from, line["id"]]));
          return text;
        });
      await waitUntil("all that stay are answered", () => clients.every((_, from) => expected(from).every((text) => got(from).includes(text))));
      // An answer that was on its way when its request was cancelled may still come, and belongs to this round.
      for (const [from, client] of clients.entries()) {
        client.send({ id: `end-${round}`, method: "ping" });
        await waitUntil("the round is over", () => client.lines.some((line) => line["id"] === `end-${round}`));
        client.lines.splice(
          client.lines.findIndex((line) => line["id"] === `end-${round}`),
          1,
        );
        got(from);
      }
    }),
    { numRuns: 40 },
  );
});

test("[SH50] of several agents the one that shares the server is found; HTTP servers and sockets are not asked for", async () => {
  const good = goodServer();
  const stateDir = tempDir("state");
  const web = serverDefinition("web", { transport: { kind: "socket", path: "/nowhere" } });
  const shares = await sharingUnderTest([good.definition], { ...good, stateDir });
  await sharingUnderTest([serverDefinition("other")], { stateDir });
  const { pool, notices } = await shares.session({ servers: [good.definition, web] });
  expect(await echo(pool, "good")).toMatchObject({ ok: true });
  expect(await echo(pool, "web")).toMatchObject({ ok: false });
  expect([notices, readdirSync(join(stateDir, "shared")).length]).toEqual([[], 2]);
});

test("[SH51] the person is told once for each reason", async () => {
  const good = goodServer();
  const sharing = await sharingUnderTest([good.definition], good);
  const { pool, notices } = await sharing.session({ directory: tempDir("elsewhere") });
  for (let again = 0; again < 2; again++) await pool.connect("good", useOptions({ ignoreBackoff: true }));
  expect(notices).toEqual([
    'The MCP server "good" runs in this session, because the running pimcp does not share it: It runs in another directory there.',
  ]);
  expect(good.starts()).toBe(0);
});

test("[SH51] a reason that says what a screen would obey is shown written out", async () => {
  const sharing = await sharingUnderTest([serverDefinition("other")]);
  const message = "Gone.\u001b[2J\n\u202eand more";
  const agent = createServer((socket) => {
    socket.on("error", () => {});
    socket.end(`${JSON.stringify({ answer: "refused", because: "busy", message })}\n`);
  });
  onTestFinished(() => void agent.close());
  await new Promise<void>((resolve) => agent.listen(join(sharing.stateDir, "shared", `${process.pid}-0badcafe.sock`), resolve));
  const { pool, notices } = await sharing.session({ servers: [definition] });
  await pool.connect("good", useOptions());
  expect(notices).toEqual([expect.stringMatching(/does not share it: Gone\.␛\[2J⏎‹U\+202E›and more$/)]);
});

test("[SH52] a directory that others can look into is not trusted", async () => {
  const good = goodServer();
  const sharing = await sharingUnderTest([good.definition], good);
  chmodSync(join(sharing.stateDir, "shared"), 0o755);
  const { pool, notices } = await sharing.session();
  await failureOf(callOf(pool, "good", { name: "echo", arguments: {} }));
  expect(notices).toEqual(["No running pimcp of this account shares MCP servers: they run in this session."]);
});
