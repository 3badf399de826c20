import { join } from "node:path";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { StdioTransport } from "../../../local-agent/node/stdio-transport.ts";
import { isAlive } from "../../support/alive.ts";
import { stdioServer } from "../../support/server-transports.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { fixtureCommand, listeningFixture, readJournal } from "../../support/upstream-fixture.ts";
import { transportsUnderTest } from "../../support/upstream-transports.ts";
import { waitUntil } from "../../support/wait-until.ts";

const signal = new AbortController().signal;

function good(...flags: readonly string[]) {
  const { command, args } = fixtureCommand("good", ...flags);
  return (more: Parameters<typeof stdioServer>[2] = {}) => stdioServer(command, args, more);
}

test("[UT10] a child finds the agent's environment and its own entries, and nothing that is the agent's own", async () => {
  const env = { PATH: process.env["PATH"], KEPT: "yes", PI_AS_MCP_TOKEN: "t", CLOUDFLARE_API_TOKEN: "c", HOME: "/home/someone" };
  const { define, connect } = transportsUnderTest({ env });
  const { call } = await connect(
    define(good()({ env: { OWN: "${KEPT} $env:MISSING!", LITERAL: "!!x", NAMED: "${PI_AS_MCP_TOKEN}", MADE: "!printf ' made\\n'" } })),
  );
  const seen = async (name: string): Promise<unknown> => (JSON.parse(await call("environment", { name })) as { value: unknown }).value;
  expect(await seen("KEPT")).toBe("yes");
  expect(await seen("OWN")).toBe("yes !");
  expect(await seen("LITERAL")).toBe("!x");
  expect(await seen("MADE")).toBe("made");
  expect(await seen("PI_AS_MCP_TOKEN")).toBeNull();
  expect(await seen("NAMED")).toBe("");
  expect(await seen("CLOUDFLARE_API_TOKEN")).toBeNull();
});

test("[UT10] with inheritEnv off it finds the platform's defaults and its own entries only", async () => {
  const { define, connect } = transportsUnderTest({ env: { PATH: process.env["PATH"], KEPT: "no", HOME: "/home/someone" } });
  const { call } = await connect(define(good()({ inheritEnv: false, env: { OWN: "yes" } })));
  expect(await call("environment", { name: "KEPT" })).toContain('"value":null');
  expect(await call("environment", { name: "HOME" })).toContain('"value":"/home/someone"');
  expect(await call("environment", { name: "OWN" })).toContain('"value":"yes"');
});

test("[UT11] placeholders and ~ in command, arguments and directory are filled in; a relative directory begins at the project", async () => {
  const { factory, define, connect, cwd } = transportsUnderTest({ env: { PATH: process.env["PATH"], NODE: process.execPath, JOURNAL: "here.log" } });
  const { args } = fixtureCommand("good", "--journal", "${JOURNAL}");
  const { call } = await connect(define(stdioServer("${NODE}", args, { cwd: "." })));
  expect(await call("environment", { name: "x" })).toContain(`"cwd":"${cwd}"`);
  expect(readJournal(join(cwd, "here.log"))[0]?.event).toBe("start");
  const missing = await factory.open(define(stdioServer("${NODE}", args, { cwd: "~/gone" })), { signal, wire: "streamable-http" });
  expect(missing.ok && (await missing.value.transport.start().catch((error: Error) => error.message))).toMatch(/"cwd"\) does not exist: .*gone$/);
});

test("[UT12] a value of a plugin is literal but for the plugin's two places, which its child finds in its environment too", async () => {
  const root = tempDir();
  const { args } = fixtureCommand("good");
  const { define, connect } = transportsUnderTest({ env: { PATH: process.env["PATH"], NAME: "no" } });
  const plugin = { root, data: join(tempDir(), "new", "data") };
  const { call } = await connect(
    define(stdioServer(process.execPath, args, { plugin, cwd: "${PLUGIN_ROOT}", env: { A: "${PLUGIN_ROOT}/a ${NAME}", B: "!echo b" } })),
  );
  expect(await call("environment", { name: "A" })).toBe(JSON.stringify({ value: `${root}/a \${NAME}`, cwd: root, pid: await pidOf(call) }));
  expect(await call("environment", { name: "B" })).toContain('"value":"!echo b"');
  expect(await call("environment", { name: "PLUGIN_DATA" })).toContain(JSON.stringify(plugin.data));
  expect(statSync(plugin.data).mode & 0o777).toBe(0o700);
});

test("[UT13] what was told before a server died is told instead of the connection's end", async () => {
  const { command, args } = fixtureCommand("dying", "--at", "initialize");
  const { factory, define, connect } = transportsUnderTest();
  const definition = define(stdioServer(command, args));
  const error = await connect(definition).catch((thrown: unknown) => thrown);
  expect(await factory.explain(definition, error, signal)).toEqual({
    kind: "failed",
    message: "The server's process ended with exit code 7. It wrote last: reading the settings | no database at /nowhere | giving up",
  });
});

test("[UT13] so is the end of one that died before it read anything, and before a request", async () => {
  const { factory, define, connect } = transportsUnderTest();
  const early = define(stdioServer("sh", ["-c", "echo no licence >&2; exit 7"]));
  const error = await connect(early).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "CONNECTION_CLOSED" });
  expect((await factory.explain(early, error, signal))?.message).toBe("The server's process ended with exit code 7. It wrote last: no licence");
  const { client, opened } = await connect(define(good()()));
  const { pid } = opened.transport as StdioTransport;
  process.kill(pid ?? 0, "SIGKILL");
  await expect(client.ping()).rejects.toMatchObject({ code: "CONNECTION_CLOSED" });
});

test("[UT13] one that closes its input and lives on is found out all the same", async () => {
  const { factory, define } = transportsUnderTest();
  const opened = await factory.open(define(stdioServer("sh", ["-c", "exec 0<&-; echo closed >&2; sleep 60"])), { signal, wire: "streamable-http" });
  if (!opened.ok) throw new Error(opened.error.message);
  const { value } = opened;
  const { transport } = value;
  onTestFinished(() => value.close());
  await transport.start();
  await waitUntil("it has closed its input", () => value.stderrTail() === "closed");
  const sending = async (): Promise<never> => {
    for (;;) {
      await transport.send({ jsonrpc: "2.0", method: "a" });
      await setImmediate();
    }
  };
  await expect(sending()).rejects.toMatchObject({ code: "NOT_CONNECTED" });
});

test("[UT13] [UT44] its last words keep no password or key of an address", async () => {
  const { factory, define, connect } = transportsUnderTest();
  const definition = define(stdioServer("sh", ["-c", 'echo "no answer from https://me:hush@a.b/c?key=hush, redis://:hush@c:1" >&2; exit 7']));
  const error = await connect(definition).catch((thrown: unknown) => thrown);
  expect((await factory.explain(definition, error, signal))?.message).toBe(
    "The server's process ended with exit code 7. It wrote last: no answer from https://a.b/c, redis://c:1",
  );
});

test("[UT13] the error stream of a server with debug is shown, of another one not", async () => {
  const shown: string[] = [];
  const { define, connect } = transportsUnderTest({ showErrorOutput: (server, text) => void shown.push(`${server}: ${text}`) });
  const { command, args } = fixtureCommand("flooding", "--stderr", "0", "--stdout", "0");
  await (await connect(define(stdioServer(command, args)))).call("echo", { text: "a" });
  expect(shown).toEqual([]);
  await (await connect(define(stdioServer(command, args), { debug: true }))).call("echo", { text: "a" });
  await expect.poll(() => shown.join("")).toContain("upstream: \nthe last words");
});

test("[UT14] a secret command has ten seconds, no input, and must print something; its failure stops the connection before anything starts", async () => {
  const journal = join(tempDir(), "journal");
  const { factory, define } = transportsUnderTest();
  const open = (value: string) => factory.open(define(good("--journal", journal)({ env: { TOKEN: value } })), { signal, wire: "streamable-http" });
  const refused = async (value: string) => {
    const result = await open(value);
    return result.ok ? null : result.error;
  };
  expect(await refused("!exit 3")).toEqual({ kind: "config", message: 'The command for "env.TOKEN" ended with exit code 3.' });
  expect(await refused("!true")).toEqual({ kind: "config", message: 'The command for "env.TOKEN" printed nothing; it must print the value.' });
  expect((await refused("!head -c 1100000 /dev/zero"))?.message).toBe('The command for "env.TOKEN" printed more than 1048576 bytes.');
  expect(await refused("!printf 'secret\\0'")).toEqual({
    kind: "config",
    message: 'The command for "env.TOKEN" printed a NUL character; it must print a text.',
  });
  expect((await refused("!cat; echo secret >&2; exit 1"))?.message).not.toContain("secret");
  expect(readJournal(journal)).toEqual([]);
});

test("[UT14] one that nobody waits for any more is ended with all it started", async () => {
  const { factory, define, cwd } = transportsUnderTest();
  const controller = new AbortController();
  const opening = factory.open(define(good()({ env: { TOKEN: "!sleep 60 & echo $! > pid; wait" } })), {
    signal: controller.signal,
    wire: "streamable-http",
  });
  const pid = (): number => Number(existsSync(join(cwd, "pid")) ? readFileSync(join(cwd, "pid"), "utf8") : 0);
  await waitUntil("it runs", () => pid() > 0);
  controller.abort();
  expect(await opening).toEqual({ ok: false, error: { kind: "config", message: 'The command for "env.TOKEN" was cancelled.' } });
  await waitUntil("it is gone", () => !isAlive(pid()));
});

async function pidOf(call: (name: string, args?: Record<string, unknown>) => Promise<string>): Promise<number> {
  return (JSON.parse(await call("environment", { name: "x" })) as { pid: number }).pid;
}

test("[UT15] a trace holds what went which way and never what was in it", async () => {
  const { define, connect, cwd } = transportsUnderTest({
    trace: () => ({ enabled: false, file: "t/trace.jsonl", maxBytes: 262_144, maxEvents: 10_000 }),
  });
  const { client, call } = await connect(define(good()(), { trace: true }));
  await call("echo", { text: "very secret" });
  await client.close();
  const file = join(cwd, "t/trace.jsonl");
  const text = readFileSync(file, "utf8");
  const events = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(text).not.toMatch(/secret|"text"|echo/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(events.find(({ direction, method }) => direction === "out" && method === "tools/call")).toMatchObject({
    version: 1,
    server: "upstream",
    transport: "stdio",
    kind: "request",
    status: "ok",
  });
  expect(events.filter(({ direction, kind }) => direction === "in" && kind === "response")).toHaveLength(2);
  expect(events.at(-1)).toMatchObject({ direction: "local", kind: "lifecycle", method: "close" });
  expect(events.filter(({ method }) => method === "close")).toHaveLength(1);
});

test("[UT15] a trace stops at its bound", async () => {
  const { define, connect, cwd } = transportsUnderTest({ trace: () => ({ enabled: true, file: "trace.jsonl", maxBytes: 262_144, maxEvents: 3 }) });
  const { call } = await connect(define(good()()));
  expect(await call("echo", { text: "a" })).toBe("a");
  expect(readFileSync(join(cwd, "trace.jsonl"), "utf8").trim().split("\n")).toHaveLength(3);
});

test("[UT16] a Unix socket is spoken to as a pipe; only this end of it is closed", async () => {
  const path = join(tempDir(), "s");
  const { child } = await listeningFixture("good", "--socket", path);
  const { define, connect } = transportsUnderTest({ env: { PLACE: path } });
  for (let round = 0; round < 2; round++) {
    const { client, call, opened } = await connect(define({ kind: "socket", path: "${PLACE}" }));
    expect(await call("echo", { text: "a" })).toBe("a");
    expect(opened.wire).toBe("socket");
    await client.close();
  }
  expect(child.exitCode).toBeNull();
});

test("[UT16] a socket where nobody listens is named", async () => {
  const { define, connect, cwd } = transportsUnderTest();
  await expect(connect(define({ kind: "socket", path: "gone.sock" }))).rejects.toThrow(`There is no socket at ${join(cwd, "gone.sock")}`);
  writeFileSync(join(cwd, "plain"), "");
  await expect(connect(define({ kind: "socket", path: "plain" }))).rejects.toThrow(/Nobody listens on the socket|is no socket/);
});
