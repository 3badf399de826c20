import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { WebSocketServer, type WebSocket } from "ws";
import { createRelayLink, type RelayLink } from "../../../local-agent/daemon/relay-link.ts";
import type { LinkState } from "../../../shared/desk.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { linkOptions } from "../../support/relayed-target.ts";
import { sseHandler } from "../../support/sse-handler.ts";

/** A relay that answers what a test tells it to. */
let server: WebSocketServer;
let clock: ManualClock;
let link: RelayLink;
const states: LinkState[] = [];
const sockets: WebSocket[] = [];
let pings = 0;
let isAnswering = true;
let welcome: object | undefined;

beforeEach(async () => {
  server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await new Promise((resolve) => server.once("listening", resolve));
  clock = new ManualClock();
  states.length = 0;
  sockets.length = 0;
  pings = 0;
  isAnswering = true;
  welcome = { t: "welcome", version: 1, epoch: "e1", held: [] };
  server.on("connection", (socket) => {
    sockets.push(socket);
    socket.on("message", (message: Buffer) => {
      const text = message.toString();
      if (text === "ping") {
        pings += 1;
        if (isAnswering) socket.send("pong");
      } else if (text.startsWith('{"t":"hello"') && welcome !== undefined) socket.send(JSON.stringify(welcome));
    });
  });
  const { port } = server.address() as AddressInfo;
  link = createRelayLink(
    linkOptions(
      `http://127.0.0.1:${port}`,
      sseHandler(() => undefined),
      { clock, timers: clock, random: () => 0.5, onState: (state) => void states.push(state) },
    ),
  );
});
afterEach(async () => {
  const closing = link.close();
  for (const socket of sockets) socket.terminate();
  await closing;
  await new Promise((resolve) => server.close(resolve));
});

async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 5000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error("the condition did not come true");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** In steps, so that pongs can arrive between them. */
async function pass(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 2500) {
    clock.advance(Math.min(2500, left));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test("[WP18] an idle link is pinged every 25 s and stays while pongs come", async () => {
  await link.opened;
  await pass(130_000);
  expect(pings).toBe(5);
  expect(sockets).toHaveLength(1);
  expect(states.at(-1)?.at).toBe("open");
});

test("[WP18] a link whose ping stays unanswered is dead a minute after the last answer, and dialled again", async () => {
  await link.opened;
  isAnswering = false;
  await pass(55_000);
  expect(states.at(-1)?.at).toBe("open");
  await pass(10_000);
  expect(states.map((state) => state.at)).toContain("waiting");
  await pass(2500);
  await until(() => sockets.length === 2);
});

test("[WP18] a busy link is pinged every 10 s and dead after 25", async () => {
  await link.opened;
  sockets[0]?.send(
    JSON.stringify({
      t: "request",
      x: 1,
      method: "POST",
      path: "/mcp",
      headers: [],
      principal: { id: "token:a", kind: "token", name: "a", scope: [] },
      bytes: 0,
    }),
  );
  await new Promise((resolve) => setTimeout(resolve, 50));
  await pass(42_000);
  expect(pings).toBe(4);
  isAnswering = false;
  await pass(30_000);
  expect(states.map((state) => state.at)).toContain("waiting");
});

test("[WP12] a second welcome of one socket is ignored, and frames before the first", async () => {
  welcome = undefined;
  await until(() => sockets.length === 1);
  sockets[0]?.send(JSON.stringify({ t: "ack", x: 1, next: 5 }));
  sockets[0]?.send(JSON.stringify({ t: "welcome", version: 1, epoch: "e1", held: [] }));
  await link.opened;
  sockets[0]?.send(JSON.stringify({ t: "welcome", version: 1, epoch: "e2", held: [] }));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(states.filter((state) => state.at === "open")).toHaveLength(1);
});

test("[WP9] a bye that says not to come back retires the link with its sentence", async () => {
  await link.opened;
  sockets[0]?.send(JSON.stringify({ t: "bye", why: "replaced", message: "Another start took this place.", comeBack: false }));
  expect(await link.retired).toEqual({ reason: "replaced", message: "Another start took this place." });
  await pass(60_000);
  expect(sockets).toHaveLength(1);
});

test("[WP9] a bye that says to come back is followed by a dial within a second, without waiting for the close", async () => {
  await link.opened;
  sockets[0]?.send(JSON.stringify({ t: "bye", why: "bad_frame", message: "", comeBack: true }));
  await until(() => states.at(-1)?.at === "waiting");
  clock.advance(1000);
  await until(() => sockets.length === 2);
  expect(states.slice(0, 4).map((state) => state.at)).toEqual(["connecting", "open", "waiting", "connecting"]);
});

/** What stands between an agent and its relay for a while: a portal, a proxy, an edge that is down. */
async function answering(status: number, body: string): Promise<{ origin: string; close: () => Promise<void> }> {
  const http = createServer((_request, response) => response.writeHead(status).end(body));
  http.on("upgrade", (_request, socket) =>
    socket.end(`HTTP/1.1 ${status} Whatever\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`),
  );
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const { port } = http.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, close: () => new Promise((resolve) => http.close(() => resolve())) };
}

test.each([
  [503, "hi", "waiting"],
  [502, "<html>", "waiting"],
  [401, '{"error":"wrong_agent_key"}', "retired"],
  [503, '{"error":"no_agent_key"}', "retired"],
  [404, "not here", "retired"],
])("[ST25] a first dial answered %i %s leaves the link %s", async (status, body, at) => {
  const peer = await answering(status, body);
  const seen: LinkState[] = [];
  const dialled = createRelayLink(
    linkOptions(
      peer.origin,
      sseHandler(() => undefined),
      { clock, timers: clock, onState: (state) => void seen.push(state) },
    ),
  );
  await until(() => seen.some((state) => state.at === at));
  expect(seen.map((state) => state.at)).toEqual(["connecting", at]);
  await dialled.close();
  await peer.close();
});

test("[ST25] an agent that was linked before outlives whatever stands in between for a while", async () => {
  await link.opened;
  server.removeAllListeners("connection");
  server.options.verifyClient = (_info, answer) => answer(false, 404, "not here");
  sockets[0]?.terminate();
  await until(() => states.at(-1)?.at === "waiting");
  clock.advance(1000);
  await until(() => states.filter((state) => state.at === "waiting").length === 2);
  expect(states.map((state) => state.at)).not.toContain("retired");
});

test("[WP22] a decision fails when the relay does not answer in time, or the link goes", async () => {
  await link.opened;
  const late = link.decide({ id: "a", allow: false });
  clock.advance(20_000);
  await expect(late).rejects.toThrow("did not answer in time");
  const cut = link.decide({ id: "b", allow: false });
  sockets[0]?.terminate();
  await expect(cut).rejects.toThrow("was lost");
  await expect(link.decide({ id: "c", allow: false })).rejects.toThrow("not connected");
});
