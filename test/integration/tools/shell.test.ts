/** What a command finds, prints, leaves and cannot survive. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { findMarked } from "../../../local-agent/tools/process-marker.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { textOf, toolHostUnderTest } from "../../support/tool-host-under-test.ts";
import { waitUntil } from "../../support/wait-until.ts";

const ESCAPES = [
  ["ignores SIGTERM", "trap '' TERM; sleep 300"],
  ["starts a session of its own", "setsid sleep 300 & sleep 300"],
  ["is a pipeline", "find / -name 'no such name' | grep y | cat & sleep 300 | cat"],
  ["keeps writing from another session", "setsid sh -c 'while :; do echo x; sleep 0.02; done' & sleep 300"],
  ["starts what starts another", "setsid sh -c 'setsid sleep 300 & sleep 300' & sleep 300"],
] as const;

test.each(ESCAPES)("[TL12] a time-out ends a command that %s, and says so", async (_what, command) => {
  const under = await toolHostUnderTest();
  const outcome = await under.call("bash", { command, timeout: 0.5 });
  expect(outcome.isError).toBe(true);
  expect(textOf(outcome)).toContain("Command timed out after 0.5 seconds");
  expect(leftBy(under.mark)).toEqual([]);
});

test.each(ESCAPES)("[TL12] a cancellation ends a command that %s, and says why", async (_what, command) => {
  const under = await toolHostUnderTest();
  const abort = new AbortController();
  const running = under.call(
    "bash",
    { command: `echo begun; ${command}` },
    { signal: abort.signal, onProgress: () => abort.abort("the client cancelled") },
  );
  const outcome = await running;
  expect(outcome.isError).toBe(true);
  expect(textOf(outcome)).toContain("Command aborted");
  expect(textOf(outcome)).toContain("Stopped: the client cancelled");
  expect(leftBy(under.mark)).toEqual([]);
});

test("[TL12] cancelling one call leaves another alone", async () => {
  const under = await toolHostUnderTest();
  const abort = new AbortController();
  const other = under.call("bash", { command: "setsid sleep 0.8; echo survived" });
  const cancelled = under.call("bash", { command: "echo begun; sleep 300" }, { signal: abort.signal, onProgress: () => abort.abort() });
  expect((await cancelled).isError).toBe(true);
  expect(textOf(await other)).toBe("survived\n");
});

test("[TL12] a cancelled search ends", async () => {
  const under = await toolHostUnderTest({}, { root: "/" });
  for (const [name, args] of [
    ["grep", { pattern: "no such text anywhere", path: "/usr" }],
    ["find", { pattern: "no-such-name", path: "/usr" }],
  ] as const) {
    const abort = new AbortController();
    const running = under.call(name, args, { signal: abort.signal });
    await waitUntil(`${name} searches`, () => leftBy(under.mark).length > 0);
    abort.abort();
    expect([name, (await running).isError]).toEqual([name, true]);
    await waitUntil(`${name} has ended`, () => leftBy(under.mark).length === 0, 2_000);
  }
});

test("[TL13] a process that cleared its environment cannot keep a call from ending", async () => {
  const under = await toolHostUnderTest();
  const pidFile = join(under.root, "pid");
  const command = `setsid env -i sh -c 'echo $$ > ${pidFile}; while :; do echo x || exit; sleep 0.02; done' & sleep 300`;
  const began = performance.now();
  const outcome = await under.call("bash", { command, timeout: 0.5 });
  expect(performance.now() - began).toBeLessThan(4_000);
  expect(textOf(outcome)).toContain("timed out");
  const pid = execFileSync("cat", [pidFile], { encoding: "utf8" }).trim();
  // Its pipe is gone, and with it the process.
  await waitUntil("the writer has ended", () => !existsSync(`/proc/${pid}/cwd`), 3_000);
  expect((await under.call("bash", { command: "echo next" })).isError).toBe(false);
});

test("[TL9] commands that wait for input return at once", async () => {
  const { call } = await toolHostUnderTest();
  expect(textOf(await call("bash", { command: 'cat; read x; echo "got:$x"; grep foo; echo done', timeout: 5 }))).toBe("got:\ndone\n");
});

test("[TL8] no secret reaches a shell, and its environment is the person's own", async () => {
  const env = {
    ...process.env,
    TMPDIR: tempDir("person"),
    PI_CODING_AGENT_DIR: "/home/person/.pi/agent",
    PI_AS_MCP_TOKEN: "secret-1",
    PI_AS_MCP_ANYTHING: "secret-2",
    MY_AGENT_KEY: "secret-3",
    PI_SESSION_ID: "of-an-outer-pi",
    KEPT: "yes",
  };
  const { call } = await toolHostUnderTest({}, { env, secretEnv: ["MY_AGENT_KEY"] });
  const shell = parseEnvironment(textOf(await call("bash", { command: "env -0 | tr '\\0' '\\n'" })));
  const host = parseEnvironment(textOf(await call("bash", { command: "tr '\\0' '\\n' < /proc/$PPID/environ" })));
  for (const seen of [shell, host]) {
    expect(JSON.stringify(seen)).not.toContain("secret-");
    expect(seen["KEPT"]).toBe("yes");
  }
  expect(shell["TMPDIR"]).toBe(env.TMPDIR);
  expect(shell["PI_CODING_AGENT_DIR"]).toBe("/home/person/.pi/agent");
  expect(shell["PATH"]).toBe(process.env["PATH"]);
  const ours = new Set(["PIMCP_MARK", "_", "SHLVL", "PWD", "OLDPWD"]);
  expect(shell).not.toHaveProperty("PI_SESSION_ID");
  const added = Object.keys(shell).filter((name) => !(name in env) && !ours.has(name.replace(/_[0-9a-f]{32}$/, "")));
  expect(added).toEqual([]);
});

test("[TL6] output is reported while the command runs, as text not reported before", async () => {
  const { call } = await toolHostUnderTest();
  const reports: { at: number; delta: string }[] = [];
  const began = performance.now();
  const outcome = await call(
    "bash",
    { command: "for i in 1 2 3 4 5 6; do printf 'tick %s \\xe2\\x82' $i; printf '\\xac\\n'; sleep 0.2; done" },
    { onProgress: ({ delta }) => reports.push({ at: performance.now() - began, delta }) },
  );
  expect(reports.map((report) => report.delta).join("")).toBe(textOf(outcome));
  expect(textOf(outcome)).toContain("tick 6 €");
  expect(reports.length).toBeGreaterThanOrEqual(5);
  expect(reports[0]!.at).toBeLessThan(700);
});

test("[TL6] a flood is reported in few bounded pieces", async () => {
  const { call } = await toolHostUnderTest();
  let chars = 0;
  let count = 0;
  const began = performance.now();
  await call("bash", { command: "yes 0123456789abcdef | head -c 50000000" }, { onProgress: ({ delta }) => ((count += 1), (chars += delta.length)) });
  const intervals = (performance.now() - began) / 100 + 2;
  expect(count).toBeLessThanOrEqual(intervals);
  expect(chars).toBeLessThan(intervals * 33_000);
});

test("[TL7] long output is kept where read, and only read, can open it, and goes with the agent", async () => {
  const { call, host, root } = await toolHostUnderTest();
  const shown = textOf(await call("bash", { command: "seq 200000" }));
  const path = /Full output: (.+)\]/.exec(shown)?.[1] ?? "";
  expect(dirname(path).startsWith(root)).toBe(false);
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(textOf(await call("read", { path, offset: 100_000, limit: 2 }))).toContain("100000\n100001");
  for (const [name, args] of [
    ["write", { content: "x" }],
    ["edit", { edits: [{ oldText: "1", newText: "2" }] }],
    ["grep", { pattern: "1" }],
    ["ls", {}],
    ["find", { pattern: "*" }],
  ] as const) {
    expect(`${name}: ${textOf(await call(name, { path, ...args }))}`).toContain("outside the root");
  }
  for (const near of [dirname(path), join(path, "x"), join(dirname(path), "../agent/bin/rg"), join(dirname(path), "..")]) {
    expect([near, (await call("read", { path: near })).isError]).toEqual([near, true]);
  }
  mkdirSync(join(dirname(path), "of-a-server"));
  writeFileSync(join(dirname(path), "of-a-server/answer.txt"), "kept deeper");
  symlinkSync("/etc", join(dirname(path), "of-a-server/out"));
  expect(textOf(await call("read", { path: join(dirname(path), "of-a-server/answer.txt") }))).toBe("kept deeper");
  expect(textOf(await call("read", { path: join(dirname(path), "of-a-server/out/hostname") }))).toContain("outside the root");
  await host.close();
  expect(existsSync(dirname(dirname(path)))).toBe(false);
});

test("[TL7] a cleaned-up temporary directory is made again instead of crashing the host", async () => {
  const { call, hostPid } = await toolHostUnderTest({ "a.txt": "x" });
  const path = /Full output: (.+)\]/.exec(textOf(await call("bash", { command: "seq 200000" })))?.[1] ?? "";
  const before = hostPid();
  rmSync(dirname(dirname(path)), { recursive: true });
  expect(textOf(await call("bash", { command: "seq 200000" }))).toContain("Full output");
  expect(textOf(await call("grep", { pattern: "x" }))).toBe("a.txt:1: x");
  expect(textOf(await call("find", { pattern: "a*" }))).toBe("a.txt");
  expect(hostPid()).toBe(before);
});

test("[TL10] grep and find work with neither rg nor fd on PATH", async () => {
  const bin = tempDir("bin");
  for (const name of ["bash", "sh"]) execFileSync("ln", ["-s", `/bin/${name}`, join(bin, name)]);
  const { call } = await toolHostUnderTest({ "a.txt": "needle" }, { env: { PATH: bin, HOME: tempDir("home") } });
  expect(textOf(await call("bash", { command: "command -v rg fd fdfind || echo none" }))).toBe("none\n");
  expect(textOf(await call("grep", { pattern: "needle" }))).toBe("a.txt:1: needle");
  expect(textOf(await call("find", { pattern: "*.txt" }))).toBe("a.txt");
});

test("[TL11] find matches as Pi's does with fd", async () => {
  const files = {
    "src/a.ts": "",
    "src/deep/b.ts": "",
    "pkg/src/c.ts": "",
    "README.md": "",
    ".env": "",
    "ignored/x.ts": "",
    ".gitignore": "ignored/\n",
    "odd name\n.ts": "",
    "br{ace}.ts": "",
    "node_modules/m/i.ts": "",
    "pkg/.git/config": "",
  };
  const { call, root } = await toolHostUnderTest(files);
  const find = async (pattern: string, more = {}) => textOf(await call("find", { pattern, ...more })).split("\n");
  expect(await find("src/*.ts")).toEqual(["src/a.ts"]);
  expect(await find("./src/*.ts")).toEqual(["src/a.ts"]);
  expect(await find("**/src/*.ts")).toEqual(["pkg/src/c.ts", "src/a.ts"]);
  expect(await find("src/**")).toEqual(["src/a.ts", "src/deep/", "src/deep/b.ts"]);
  expect(await find("src")).toEqual(["pkg/src/", "src/"]);
  expect(await find("readme*")).toEqual(["README.md"]);
  expect(await find("Readme*")).toEqual(["No files found matching pattern"]);
  expect(await find(".env")).toEqual([".env"]);
  expect(await find("x.ts")).toEqual(["No files found matching pattern"]);
  expect(await find("i.ts")).toEqual(["No files found matching pattern"]);
  expect(await find("config")).toEqual(["No files found matching pattern"]);
  expect(await find("br\\{ace\\}.ts")).toEqual(["br{ace}.ts"]);
  expect(await find("{a,c}.ts")).toEqual(["pkg/src/c.ts", "src/a.ts"]);
  expect(await find(`${root}/src/*.ts`)).toEqual(["src/a.ts"]);
  expect(await find("*.ts", { path: "src", limit: 1 })).toHaveLength(3);
  expect(await find("*", { path: "missing" })).toEqual([`Path not found: ${join(root, "missing")}`]);
  execFileSync("git", ["init", "-q"], { cwd: root });
  expect(await find("x.ts")).toEqual(["No files found matching pattern"]);
});

test("[TL14] a background job lives on after a normal return and ends with the agent", async () => {
  const under = await toolHostUnderTest();
  await under.call("bash", { command: "nohup sleep 300 >/dev/null 2>&1 & setsid sleep 301 >/dev/null 2>&1 &" });
  await sleep(200);
  expect(leftBy(under.mark)).toHaveLength(2);
  await under.call("bash", { command: "sleep 5", timeout: 0.2 });
  expect(leftBy(under.mark)).toHaveLength(2);
  await under.host.close();
  expect(findMarked({ mark: under.mark })).toEqual([]);
});

test("[TL14] an agent started inside a shell keeps the outer mark", async () => {
  const outer = await toolHostUnderTest();
  const env = Object.fromEntries(
    textOf(await outer.call("bash", { command: "env" }))
      .split("\n")
      .map((line) => line.split(/=(.*)/s).slice(0, 2)),
  );
  const inner = await toolHostUnderTest({}, { env });
  const text = textOf(await inner.call("bash", { command: "env | grep -c '^PIMCP_MARK_'" }));
  expect(text).toBe("2\n");
});

test("[TL20] ten calls at once, and no more than 64", async () => {
  const { call } = await toolHostUnderTest({ "a.txt": "needle" });
  const ten = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      index % 2 === 0 ? call("bash", { command: `sleep 0.3; echo ${index}` }) : call("grep", { pattern: "needle" }),
    ),
  );
  expect(ten.map(textOf)).toEqual(Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? `${index}\n` : "a.txt:1: needle")));
  const many = await Promise.all(Array.from({ length: 66 }, () => call("bash", { command: "sleep 0.5" })));
  const refused = many.filter((outcome) => outcome.isError);
  expect(refused).toHaveLength(2);
  expect(textOf(refused[0]!)).toContain("64 calls are running already");
});

test("[TL8] the working directory is the root, also when it is missing for a while", async () => {
  const { call, root } = await toolHostUnderTest();
  expect(textOf(await call("bash", { command: "pwd" }))).toBe(`${root}\n`);
  rmSync(root, { recursive: true });
  expect((await call("bash", { command: "pwd" })).isError).toBe(true);
  mkdirSync(root);
  writeFileSync(join(root, "back.txt"), "back");
  expect(textOf(await call("bash", { command: "ls" }))).toBe("back.txt\n");
  expect(readdirSync(tmpdir())).not.toContain(basename(root));
});

/** Marked processes other than the host itself. */
function leftBy(mark: string): number[] {
  const host = new Set(findMarked({ mark, label: "host" }));
  return findMarked({ mark }).filter((pid) => !host.has(pid));
}

function parseEnvironment(text: string): Record<string, string> {
  return Object.fromEntries(
    text
      .trim()
      .split("\n")
      .map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]),
  );
}
