import { statSync, symlinkSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { protocolTrace } from "../../../../local-agent/node/protocol-trace.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { tempDir } from "../../../support/temp-dir.ts";

test("[UT15] a message that is nested without end is traced without its size, and arrives", async () => {
  const file = join(tempDir(), "trace.jsonl");
  const arrived: unknown[] = [];
  const transport = { onmessage: (message: unknown) => void arrived.push(message), send: () => Promise.resolve() } as Partial<Transport> as Transport;
  protocolTrace(file, { maxBytes: 10_000, maxEvents: 10 }, new ManualClock()).attach(transport, "s", "stdio");
  const deep = JSON.parse(`{"jsonrpc":"2.0","id":1,"result":{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}}`) as JSONRPCMessage;
  transport.onmessage?.(deep);
  expect(arrived).toHaveLength(1);
  const [line = ""] = (await readFile(file, "utf8")).split("\n");
  expect(JSON.parse(line)).toMatchObject({ direction: "in", kind: "response", status: "ok", id: 1 });
});

test("[UT15] a file that was there already is closed to others, and a link is not followed", async () => {
  const folder = tempDir();
  const [file, link, target] = ["trace.jsonl", "link.jsonl", "target"].map((name) => join(folder, name)) as [string, string, string];
  writeFileSync(file, "", { mode: 0o644 });
  writeFileSync(target, "somebody else's");
  symlinkSync(target, link);
  const message: JSONRPCMessage = { jsonrpc: "2.0", method: "ping", id: 1 };
  for (const path of [file, link]) {
    const transport = { send: () => Promise.resolve() } as Partial<Transport> as Transport;
    protocolTrace(path, { maxBytes: 10_000, maxEvents: 10 }, new ManualClock()).attach(transport, "s", "stdio");
    await transport.send(message);
  }
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await readFile(file, "utf8")).toContain('"ping"');
  expect(await readFile(target, "utf8")).toBe("somebody else's");
});
