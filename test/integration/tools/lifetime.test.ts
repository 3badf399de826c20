/** What happens to calls, processes and files when the host or its agent ends, in every way it can. */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { silentLog } from "../../../local-agent/node/log-sinks.ts";
import { claimMark, endLeftBehind } from "../../../local-agent/tools/mark-file.ts";
import { removePrivateDir } from "../../../local-agent/tools/private-dir.ts";
import { endMarked, findMarked, markEntry } from "../../../local-agent/tools/process-marker.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { marksIn, privateDirOf, textOf, toolCall, toolHostChild, toolHostUnderTest } from "../../support/tool-host-under-test.ts";
import { waitUntil } from "../../support/wait-until.ts";

const ownerPath = join(dirname(fileURLToPath(import.meta.url)), "../../fixtures/tool-host-owner.ts");
const ESCAPING = "setsid sleep 300 & nohup sleep 301 & echo begun; sleep 302";

test("[TL16] a killed host: its calls are answered at once, what they started ends, the next call works", async () => {
  const under = await toolHostUnderTest({ "a.txt": "still here" });
  const first = under.hostPid();
  let killed = 0;
  const running = under.call(
    "bash",
    { command: ESCAPING },
    {
      onProgress: () => {
        killed = performance.now();
        process.kill(first, "SIGKILL");
      },
    },
  );
  const outcome = await running;
  expect(performance.now() - killed).toBeLessThan(1_500);
  expect(outcome.isError).toBe(true);
  expect(textOf(outcome)).toBe(
    "the tool host ended while it ran bash (it was killed by SIGKILL): the call may have taken effect, check before you repeat it",
  );
  // Arrives while the host is down, and waits for it.
  expect(textOf(await under.call("read", { path: "a.txt" }))).toBe("still here");
  expect(under.hostPid()).not.toBe(first);
  const host = under.hostPid();
  expect(findMarked({ mark: under.mark })).toEqual([host]);
});

test("[TL16] a full disk while long output is kept: the caller is told, and the host comes back", async () => {
  const under = await toolHostUnderTest({ "a.txt": "x" });
  const first = under.hostPid();
  // The directory vanishes while the command runs, so Pi's stream fails with nobody listening.
  const outcome = await under.call("bash", { command: `rm -rf ${under.privateDir}/output; seq 200000; sleep 2; seq 200000` });
  expect(outcome.isError).toBe(true);
  expect(textOf(outcome)).toMatch(/tool host ended while it ran bash \(ENOENT: .*may have taken effect/);
  expect(textOf(await under.call("read", { path: "a.txt" }))).toBe("x");
  expect(under.hostPid()).not.toBe(first);
});

test("[TL16] a host that keeps dying is started again and again, and calls in between are bounded", async () => {
  const under = await toolHostUnderTest({ "a.txt": "x" });
  for (let round = 0; round < 3; round += 1) {
    await waitUntil("a host runs", () => findMarked({ mark: under.mark, label: "host" }).length > 0);
    process.kill(under.hostPid(), "SIGKILL");
    expect(textOf(await under.call("read", { path: "a.txt" }))).toMatch(/^x$|nothing was run/);
  }
  expect(textOf(await under.call("read", { path: "a.txt" }))).toBe("x");
});

test("[TL17] a host that does not answer a cancellation is killed and started again", async () => {
  const under = await toolHostUnderTest({ "a.txt": "x" });
  const first = under.hostPid();
  const abort = new AbortController();
  const outcome = await under.call(
    "bash",
    { command: "echo begun; sleep 300" },
    {
      signal: abort.signal,
      onProgress: () => {
        process.kill(first, "SIGSTOP");
        abort.abort("the client cancelled");
      },
    },
  );
  expect(textOf(outcome)).toMatch(/tool host ended while it ran bash.*\nStopped: the client cancelled/s);
  expect(textOf(await under.call("read", { path: "a.txt" }))).toBe("x");
  expect(findMarked({ mark: under.mark })).toEqual([under.hostPid()]);
});

test("[TL18] a call cancelled before it starts is not run", async () => {
  const under = await toolHostUnderTest();
  const outcome = await under.call("bash", { command: "touch ran" }, { signal: AbortSignal.abort("the client is gone") });
  expect(textOf(outcome)).toBe("bash was cancelled before it started: nothing was run\nStopped: the client is gone");
  process.kill(under.hostPid(), "SIGKILL");
  const abort = new AbortController();
  const waiting = under.call("bash", { command: "touch ran" }, { signal: abort.signal });
  abort.abort();
  expect(textOf(await waiting)).toContain("nothing was run");
  await under.call("ls", {});
  const approval = new AbortController();
  const prepared = await under.host.prepare(toolCall("bash", { command: "touch ran" }, { signal: approval.signal }));
  approval.abort();
  const late = prepared.ok ? await prepared.value.execute() : prepared.error;
  expect(textOf(late)).toBe("bash was cancelled before it started: nothing was run");
  expect(existsSync(join(under.root, "ran"))).toBe(false);
});

test("[TL19] closing ends a running call, its processes and the private directory", async () => {
  const under = await toolHostUnderTest();
  let begun = () => {};
  const started = new Promise<void>((resolve) => (begun = resolve));
  const running = under.call("bash", { command: ESCAPING }, { onProgress: () => begun() });
  await started;
  await under.host.close();
  expect((await running).isError).toBe(true);
  expect(findMarked({ mark: under.mark })).toEqual([]);
  expect(marksIn(under.stateDir)).toEqual([]);
  expect(textOf(await under.call("ls", {}))).toContain("was not run");
  await under.host.close();
});

test("[TL19] [TL14] an agent that is killed takes its host, what that started and the private directory along", async () => {
  const { owner, mark, dir } = await startOwner();
  owner.kill("SIGKILL");
  await waitUntil("nothing marked and no directory is left", () => findMarked({ mark }).length === 0 && !existsSync(dir));
  expect(findMarked({ mark })).toEqual([]);
});

test("[TL14] what a killed agent and a killed host left ends at the next start", async () => {
  const { owner, mark, dir, stateDir } = await startOwner();
  const [hostPid] = findMarked({ mark, label: "host" });
  if (hostPid === undefined) throw new Error("the tool host is not running");
  // Neither gets a chance to clean up.
  owner.kill("SIGSTOP");
  process.kill(hostPid, "SIGKILL");
  owner.kill("SIGKILL");
  await once(owner, "exit");
  expect(findMarked({ mark }).length).toBeGreaterThanOrEqual(3);
  expect(existsSync(dir)).toBe(true);
  await toolHostUnderTest({}, { stateDir });
  expect(findMarked({ mark })).toEqual([]);
  expect(existsSync(dir)).toBe(false);
  expect(marksIn(stateDir)).not.toContain(mark);
});

test("[TL14] an agent that exits without closing leaves nothing", async () => {
  const { owner, mark, dir, stateDir } = await startOwner();
  // A host that hangs cannot clean up after its agent.
  for (const pid of findMarked({ mark, label: "host" })) process.kill(pid, "SIGSTOP");
  owner.send("exit");
  await once(owner, "exit");
  await waitUntil("nothing marked is left", () => findMarked({ mark }).length === 0, 3_000);
  expect(existsSync(dir)).toBe(false);
  expect(marksIn(stateDir)).toEqual([]);
});

test("[TL15] a mark of a living agent is left alone by another start, and its file is private", async () => {
  const { mark, stateDir } = await startOwner();
  const before = findMarked({ mark });
  await toolHostUnderTest({}, { stateDir });
  expect(findMarked({ mark })).toEqual(before);
  expect(statSync(join(stateDir, "marks", `${mark}.json`)).mode & 0o777).toBe(0o600);
  expect(statSync(join(stateDir, "marks")).mode & 0o777).toBe(0o700);
});

test("[TL15] damaged and foreign mark files end nothing and remove nothing", async () => {
  const stateDir = tempDir("state");
  const keep = tempDir("keep");
  const marks = join(stateDir, "marks");
  mkdirSync(marks);
  writeFileSync(join(marks, "a.json"), "{");
  writeFileSync(join(marks, "b.json"), JSON.stringify({ mark: "", pid: 999_999, startedAt: "" }));
  writeFileSync(join(marks, "c.json"), JSON.stringify({ mark: "0".repeat(32), pid: 4_000_000, startedAt: "1", privateDir: keep }));
  expect(await endLeftBehind(stateDir, silentLog)).toBe(0);
  expect(existsSync(keep)).toBe(true);
  expect(readdirSync(marks)).toEqual([]);
});

test("[TL14] any owner can mark a process of its own and have it ended later", async () => {
  const stateDir = tempDir("state");
  const inner = tempDir("inner");
  const claim = claimMark(stateDir);
  const relay = fork(ownerPath, [await toolHostChild(), tempDir("root"), inner, "echo begun; sleep 300"], {
    env: { ...process.env, ...markEntry(claim.mark, "relay") },
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  await once(relay, "message");
  const [pid = 0] = findMarked({ mark: claim.mark, label: "relay" });
  expect(readFileSync(`/proc/${pid}/environ`, "utf8")).toContain(claim.mark);
  expect(await endMarked({ mark: claim.mark })).toBeGreaterThanOrEqual(3);
  expect(findMarked({ mark: claim.mark })).toEqual([]);
  claim.release();
  await endLeftBehind(inner, silentLog);
});

test("[TL21] a root that is missing or no directory is one sentence, and nothing is left behind", async () => {
  const stateDir = tempDir("state");
  await expect(toolHostUnderTest({}, { stateDir, root: "/no/such/place" })).rejects.toThrow(
    "the root /no/such/place cannot be used (ENOENT): give an existing directory with --root",
  );
  await expect(toolHostUnderTest({}, { stateDir, root: "/etc/passwd" })).rejects.toThrow(
    "is not a directory: give an existing directory with --root",
  );
  await expect(toolHostUnderTest({}, { stateDir, deny: [".."] })).rejects.toThrow(/^deny entry/);
  await expect(toolHostUnderTest({}, { stateDir, childPath: "/no/such/child.mjs" })).rejects.toThrow(
    /^the tool host did not start: it exited with code 1/,
  );
  expect(readdirSync(join(stateDir, "marks"))).toEqual([]);
});

/** A separate process that owns a tool host with a running, escaping command. Killed when the test ends, if need be. */
async function startOwner(): Promise<{ owner: ChildProcess; mark: string; dir: string; stateDir: string }> {
  const stateDir = tempDir("state");
  const owner = fork(ownerPath, [await toolHostChild(), tempDir("root"), stateDir, ESCAPING], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  await once(owner, "message");
  const [mark = ""] = marksIn(stateDir);
  const dir = privateDirOf(stateDir, mark);
  onTestFinished(async () => {
    owner.kill("SIGKILL");
    await endMarked({ mark });
    removePrivateDir(dir);
  });
  await waitUntil("the command has started its children", () => findMarked({ mark }).length >= 4);
  return { owner, mark, dir, stateDir };
}
