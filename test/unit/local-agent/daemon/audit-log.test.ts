import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { AUDIT_FILES_KEPT, createAuditLog } from "../../../../local-agent/daemon/audit-log.ts";
import { readAudit } from "../../../../local-agent/daemon/audit-reader.ts";
import { silentLog } from "../../../../local-agent/node/log-sinks.ts";
import type { AuditEvent } from "../../../../shared/audit.ts";
import { tempDir } from "../../../support/temp-dir.ts";

const clock = { now: () => Date.UTC(2026, 10, 30, 12, 0, 0) };

function logIn(dir: string, maxBytes?: number) {
  const options = { path: join(dir, "audit.jsonl"), agent: 7, clock, log: silentLog };
  return createAuditLog(maxBytes === undefined ? options : { ...options, maxBytes });
}

function denied(callId: string, client = "“app”"): AuditEvent {
  return { event: "approval.denied", tool: "bash", callId, principal: "grant:1", client, argsSha256: "a".repeat(64), reasonChars: 3 };
}

const idsIn = (dir: string, most = 10_000): string[] => readAudit(dir, most).entries.map((entry) => ("callId" in entry ? entry.callId : ""));

test("[HU91] an entry is one line of JSON with its time, in a file for this account alone", async () => {
  const dir = tempDir();
  await logIn(dir).record(denied("1", "a\n\u202e\u001b[2J"));
  const text = readFileSync(join(dir, "audit.jsonl"), "utf8");
  expect(text.split("\n")).toHaveLength(2);
  expect(text).toMatch(/^[\u0020-\u007e]*\n$/);
  expect(JSON.parse(text)).toMatchObject({ at: "2026-11-30T12:00:00.000Z", agent: 7, event: "approval.denied", client: "a\n\u202e\u001b[2J" });
  expect(statSync(join(dir, "audit.jsonl")).mode & 0o777).toBe(0o600);
});

test("[HU91] a file that others could read is closed to them", async () => {
  const dir = tempDir();
  writeFileSync(join(dir, "audit.jsonl"), "");
  chmodSync(join(dir, "audit.jsonl"), 0o644);
  await logIn(dir).record(denied("1"));
  expect(statSync(join(dir, "audit.jsonl")).mode & 0o777).toBe(0o600);
});

describe("[HU92] what cannot be written is said", () => {
  test("when there is a directory at its place, and the next entry is written when that is gone", async () => {
    const dir = tempDir();
    mkdirSync(join(dir, "audit.jsonl"));
    const log = logIn(dir);
    await expect(log.record(denied("1"))).rejects.toThrow(/audit log .*audit\.jsonl cannot be written/);
    rmSync(join(dir, "audit.jsonl"), { recursive: true });
    await log.record(denied("2"));
    expect(idsIn(dir)).toEqual(["2"]);
  });

  test.skipIf(process.platform === "win32")("when it is a link: somebody else might read what it leads to", async () => {
    const dir = tempDir();
    writeFileSync(join(dir, "elsewhere"), "");
    symlinkSync(join(dir, "elsewhere"), join(dir, "audit.jsonl"));
    await expect(logIn(dir).record(denied("1"))).rejects.toThrow("ELOOP");
    expect(readFileSync(join(dir, "elsewhere"), "utf8")).toBe("");
  });

  test.skipIf(process.platform === "win32")("when it is a pipe that nobody reads, without waiting for a reader", async () => {
    const dir = tempDir();
    await promisify(execFile)("mkfifo", [join(dir, "audit.jsonl")]);
    await expect(logIn(dir).record(denied("1"))).rejects.toThrow("no regular file");
  });

  test.skipIf(process.platform !== "linux")("when the disk is full", async () => {
    const log = createAuditLog({ path: "/dev/full", agent: 7, clock, log: silentLog });
    await expect(log.record(denied("1"))).rejects.toThrow("cannot be written");
  });
});

test("[HU92] a line that was cut short costs only itself", async () => {
  const dir = tempDir();
  const log = logIn(dir);
  await log.record(denied("1"));
  writeFileSync(join(dir, "audit.jsonl"), '{"at":"2026', { flag: "a" });
  await log.record(denied("2"));
  expect(idsIn(dir)).toEqual(["1", "2"]);
  expect(readAudit(dir, 10).unreadable).toBe(1);
});

test("[HU93] a full file makes way, four are kept, and the newest entries are read across them", async () => {
  const dir = tempDir();
  const log = logIn(dir, 1000);
  for (let i = 0; i < 60; i++) await log.record(denied(String(i)));
  const files = readdirSync(dir)
    .filter((name) => name.startsWith("audit"))
    .toSorted();
  expect(files).toEqual(["audit.jsonl", ...Array.from({ length: AUDIT_FILES_KEPT }, (_, index) => `audit.jsonl.${index + 1}`)]);
  for (const name of files) {
    expect(statSync(join(dir, name)).mode & 0o777).toBe(0o600);
    expect(statSync(join(dir, name)).size).toBeLessThan(1500);
  }
  const all = idsIn(dir);
  expect(all.at(-1)).toBe("59");
  expect(all).toEqual(Array.from({ length: all.length }, (_, index) => String(60 - all.length + index)));
  expect(idsIn(dir, 7)).toEqual(["53", "54", "55", "56", "57", "58", "59"]);
});

test("[HU93] several agents that write at once lose nothing and tear nothing", async () => {
  const dir = tempDir();
  // About 60 KB in files of 20 KB: it is rotated while others write, and all of it is still kept.
  const logs = [1, 2, 3, 4].map(() => logIn(dir, 20_000));
  await Promise.all(logs.flatMap((log, agent) => Array.from({ length: 60 }, (_, i) => log.record(denied(`${agent}-${i}`)))));
  const reading = readAudit(dir, 10_000);
  expect(reading.unreadable).toBe(0);
  expect(new Set(idsIn(dir)).size).toBe(240);
});
