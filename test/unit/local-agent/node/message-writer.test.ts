import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { writeMessage } from "../../../../local-agent/node/message-writer.ts";

const MESSAGE = { jsonrpc: "2.0", id: 1, result: {} } as const;

/** One that takes nothing until it is told to. */
function stuckStream() {
  const taken: (() => void)[] = [];
  const stream = new Writable({ highWaterMark: 1, write: (_chunk, _encoding, done) => void taken.push(done) });
  const release = (): void => {
    for (let done = taken.shift(); done !== undefined; done = taken.shift()) done();
  };
  return { stream, release };
}

test("[UT7] however many messages wait for a server that does not read, they wait together, and go on together", async () => {
  const { stream, release } = stuckStream();
  const waiting = Array.from({ length: 50_000 }, () => writeMessage(stream, MESSAGE));
  expect([stream.listenerCount("drain"), stream.listenerCount("close")]).toEqual([1, 1]);
  const free = setInterval(release, 1);
  await Promise.all(waiting);
  clearInterval(free);
  expect([stream.listenerCount("drain"), stream.listenerCount("close")]).toEqual([0, 0]);
});

test("[UT7] when it closes instead, each of them fails", async () => {
  const { stream } = stuckStream();
  const waiting = [writeMessage(stream, MESSAGE), writeMessage(stream, MESSAGE)];
  stream.destroy();
  const ends = await Promise.allSettled(waiting);
  expect(ends.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  await expect(writeMessage(stream, MESSAGE)).rejects.toThrow("Not connected");
});
