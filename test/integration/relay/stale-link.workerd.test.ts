import { env, exports } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { depositsFor, TOKEN } from "../../support/deposits.ts";
import { PROTOCOL } from "../../../shared/wire/version.ts";

const ORIGIN = "https://relay.example";
const AGENT_KEY = "test-agent-key-0123456789abcdef0123456789";
const relay = exports["default"];

afterEach(() => vi.useRealTimers());

async function dial(): Promise<{ socket: WebSocket; frames: { t: string; why?: string }[] }> {
  const answer = await relay.fetch(`${ORIGIN}/agent`, { headers: { upgrade: "websocket", authorization: `Bearer ${AGENT_KEY}` } });
  const socket = answer.webSocket;
  if (socket === null) throw new Error(`no socket: ${answer.status}`);
  const frames: { t: string; why?: string }[] = [];
  socket.accept();
  socket.addEventListener("message", (event: MessageEvent) => void frames.push(JSON.parse(String(event.data)) as { t: string }));
  return { socket, frames };
}

test("[WP18] a link whose last sign of life is older than a minute counts as lost", async () => {
  const { socket, frames } = await dial();
  socket.send(
    JSON.stringify({
      t: "hello",
      versions: PROTOCOL,
      instance: "i1",
      host: "h1",
      hostName: "m",
      takeOver: false,
      epoch: null,
      begun: [],
      deposits: depositsFor([ORIGIN]),
    }),
  );
  await vi.waitFor(() => expect(frames[0]?.t).toBe("welcome"));
  const stub = env.WORKSPACE.getByName("default");
  expect(await stub.isConnected()).toBe(true);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 59_000 });
  expect(await stub.isConnected()).toBe(true);
  vi.setSystemTime(Date.now() + 2_000);
  expect(await stub.isConnected()).toBe(false);
  const answer = relay.fetch(`${ORIGIN}/mcp`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: {} }),
  });
  await scheduler.wait(300); // The request is in by now.
  vi.setSystemTime(Date.now() + 11_000);
  // The request waited for the link as after any unannounced loss, and nothing was put on the silent socket.
  expect(await (await answer).json()).toMatchObject({ id: 1, result: { isError: true } });
  expect(frames.map((frame) => frame.t)).not.toContain("request");
});
