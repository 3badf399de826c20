import { describe, expect, test } from "vitest";
import { readAuditArguments } from "../../../../local-agent/cli/audit-arguments.ts";
import { runAuditCommand, tableText } from "../../../../local-agent/cli/audit-command.ts";
import { createAuditLog } from "../../../../local-agent/daemon/audit-log.ts";
import { silentLog } from "../../../../local-agent/node/log-sinks.ts";
import type { AuditEntry } from "../../../../shared/audit.ts";
import { join } from "node:path";
import { tempDir } from "../../../support/temp-dir.ts";

const CALL = { tool: "bash", callId: "c", principal: "grant:1", client: "“app”", argsSha256: "ab".repeat(32) };
const AT = { at: "2026-11-30T12:00:00.000Z", agent: 7 };

describe("[HU94] the words of pimcp audit", () => {
  test.each([
    [[], { kind: "list", json: false, last: 50 }],
    [["--last", "3", "--json"], { kind: "list", json: true, last: 3 }],
    [["--last=100000"], { kind: "list", json: false, last: 100_000 }],
    [["--help"], { kind: "help" }],
  ])("%j", (argv, order) => {
    expect(readAuditArguments(argv)).toEqual({ ok: true, value: order });
  });

  test.each([
    [["--last", "0"], "from 1 to 100000"],
    [["--last", "100001"], "from 1 to 100000"],
    [["--last", "3x"], "from 1 to 100000"],
    [["--last"], "from 1 to 100000"],
    [["yesterday"], "takes no words"],
    [["--lost", "3"], "Did you mean --last"],
  ])("%j is one sentence", (argv, sentence) => {
    const read = readAuditArguments(argv);
    expect(read.ok ? "" : read.error).toContain(sentence);
  });
});

test("[HU94] every kind of entry is one line that says what happened, and nothing in it hides", () => {
  const entries: AuditEntry[] = [
    { ...AT, event: "agent.started", root: "/home/ada/x", guarded: ["bash"] },
    { ...AT, event: "approval.asked", ...CALL, client: "“a\u202eb\n”" },
    { ...AT, event: "approval.denied", ...CALL, reasonChars: 12 },
    { ...AT, event: "approval.withdrawn", ...CALL, why: "the connection to the relay was lost" },
    { ...AT, event: "approval.allowed_once", ...CALL, args: { command: "ls\u001b[2J" } },
    { ...AT, event: "authorization.decided", id: "1", outcome: "allowed", client: "App", redirectHost: "app.example" },
    { ...AT, event: "grants.revoked", all: true, ids: [], revoked: 2 },
  ];
  const text = tableText({ entries, unreadable: 2 });
  const lines = text.trimEnd().split("\n");
  expect(lines).toHaveLength(entries.length + 1);
  for (const hidden of ["\u202e", "\u001b"]) expect(text).not.toContain(hidden);
  expect(lines[0]).toContain("guarded: bash");
  expect(lines[1]).toContain("a‹U+202E›b⏎");
  expect(lines[2]).toContain("denied");
  expect(lines[2]).toContain("a reason of 12 characters");
  expect(lines[3]).toContain("because the connection to the relay was lost");
  expect(lines[4]).toContain("allowed once");
  expect(lines[5]).toContain("“App” · at app.example · allowed");
  expect(lines[6]).toContain("all · 2 ended");
  expect(lines[7]).toContain("2 lines could not be read");
});

test("[HU94] an empty log is said, and JSON is one object", async () => {
  const stateDir = tempDir();
  const said: string[] = [];
  const around = { stateDir, show: (text: string) => void said.push(text) };
  expect(runAuditCommand({ kind: "list", json: false, last: 50 }, around)).toBe(0);
  expect(said[0]).toContain("Nothing was written");
  const log = createAuditLog({ path: join(stateDir, "audit.jsonl"), agent: 7, clock: { now: () => 0 }, log: silentLog });
  await log.record({ event: "approval.asked", ...CALL });
  expect(runAuditCommand({ kind: "list", json: true, last: 50 }, around)).toBe(0);
  expect(JSON.parse(said[1] ?? "")).toEqual({
    entries: [{ at: "1970-01-01T00:00:00.000Z", agent: 7, event: "approval.asked", ...CALL }],
    unreadable: 0,
  });
});
