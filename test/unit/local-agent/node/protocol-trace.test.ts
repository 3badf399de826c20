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
