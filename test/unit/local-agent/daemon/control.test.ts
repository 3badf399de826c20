import { statSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { dirname } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { askAgent } from "../../../../local-agent/daemon/control-client.ts";
import { controlPath, serveControl } from "../../../../local-agent/daemon/control-server.ts";
import type { ControlRequest } from "../../../../local-agent/daemon/control-protocol.ts";
import { withFailedAccepts } from "../../../support/failed-accepts.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { waitUntil } from "../../../support/wait-until.ts";

async function serving(handle: (request: ControlRequest) => Promise<unknown> = () => Promise.resolve("done")) {
  const path = controlPath(tempDir("state"), "/state/relays/r.example-0123abcd");
  const clock = new ManualClock();
  const server = await serveControl({ path, handle, timers: clock });
  onTestFinished(() => server.close());
  return { path, clock, server };
}

interface Raw {
  readonly socket: Socket;
  readonly heard: () => string;
  readonly isClosed: () => boolean;
}

function raw(path: string): Raw {
  const socket = connect({ path, allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  let text = "";
  let closed = false;
  socket.on("data", (piece: Buffer) => (text += piece.toString()));
  socket.on("end", () => socket.end());
  socket.on("close", () => (closed = true));
  socket.on("error", () => undefined);
  return { socket, heard: () => text, isClosed: () => closed };
}

test("[ST60] is a socket of 0600 in a directory of 0700, replaces one that a killed agent left, and ends with the agent", async () => {
  const state = tempDir("state");
  const path = controlPath(state, "/state/relays/a-very-long-name-of-a-relay-0123abcd");
  expect(path).toBe(`${state}/control/0123abcd.sock`);
  writeFileSync(path, "left over");
  const server = await serveControl({ path, handle: () => Promise.resolve(1), timers: new ManualClock() });
  expect([statSync(path).mode & 0o777, statSync(dirname(path)).mode & 0o777, statSync(path).isSocket()]).toEqual([0o600, 0o700, true]);
  expect(await askAgent(path, { method: "grants.list" })).toBe(1);
  const waiting = raw(path);
  await waitUntil("it is connected", () => !waiting.socket.connecting);
  await server.close();
  await waitUntil("the open connection has ended", waiting.isClosed);
  await expect(askAgent(path, { method: "grants.list" })).rejects.toThrow("The running agent cannot be asked (ENOENT)");
});

test("[ST61] still answers after connections that could not be accepted", async () => {
  const { path } = await withFailedAccepts(() => serving());
  expect(await askAgent(path, { method: "grants.list" })).toBe("done");
});

test("[ST61] hands over what was asked, and gives back the result or the sentence", async () => {
  const asked: ControlRequest[] = [];
  const { path } = await serving((request) => {
    asked.push(request);
    return request.method === "grants.list" ? Promise.resolve({ grants: [] }) : Promise.reject(new Error("The relay is away."));
  });
  expect(await askAgent(path, { method: "grants.list" })).toEqual({ grants: [] });
  await expect(askAgent(path, { method: "grants.revoke", params: { ids: ["a"] } })).rejects.toMatchObject({
    message: "The relay is away.",
    exitCode: 1,
  });
  expect(asked).toEqual([{ method: "grants.list" }, { method: "grants.revoke", params: { ids: ["a"] } }]);
});

test.for([
  "\n",
  "{}\n",
  "[\n",
  '{"method":"tools.call","params":{"name":"bash"}}\n',
  '{"method":"authorization.decide","params":{"id":"a"}}\n',
  '{"method":"grants.revoke","params":{"ids":[]}}\n',
])("[ST61] refuses %j with a sentence and does nothing", async (line) => {
  const { path } = await serving(() => Promise.reject(new Error("must not be called")));
  const { socket, heard, isClosed } = raw(path);
  socket.write(line);
  await waitUntil("it is refused", isClosed);
  expect(JSON.parse(heard())).toMatchObject({ ok: false, message: expect.stringContaining("does not understand") as string });
});

test("[ST61] ends what sends too much, what says nothing for 20 s, and a handler that takes longer", async () => {
  const { path, clock } = await serving(() => new Promise(() => undefined));
  const flood = raw(path);
  flood.socket.write("x".repeat(200_000));
  await waitUntil("the flood has ended", flood.isClosed);
  const silent = raw(path);
  const asking = raw(path);
  asking.socket.write('{"method":"grants.list"}\n');
  const hurried = raw(path);
  hurried.socket.end('{"method":');
  await waitUntil("the unfinished one has ended", hurried.isClosed);
  await waitUntil("both are connected", () => !silent.socket.connecting && !asking.socket.connecting);
  // What is connected here need not have been accepted there yet.
  await waitUntil("both have ended", () => {
    clock.advance(20_000);
    return silent.isClosed() && asking.isClosed();
  });
  expect(asking.heard()).toContain("did not answer in time");
});

test("[ST61] serves no more than 16 at once, and the next when one has gone", async () => {
  const { path } = await serving();
  const waiting = Array.from({ length: 16 }, () => raw(path));
  await waitUntil("they are connected", () => waiting.every(({ socket }) => !socket.connecting));
  await expect(askAgent(path, { method: "grants.list" })).rejects.toThrow();
  for (const { socket } of waiting) socket.destroy();
  await waitUntil("one is served", () =>
    askAgent(path, { method: "grants.list" }).then(
      () => true,
      () => false,
    ),
  );
});
