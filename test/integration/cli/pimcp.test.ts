import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { isStillRunning, type ProcessIdentity } from "../../../local-agent/node/process-identity.ts";
import { newHome, QUIET, startProgram, type Home } from "../../support/agent-program.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { waitUntil } from "../../support/wait-until.ts";

const MANIFEST = JSON.parse(readFileSync(join(import.meta.dirname, "../../../package.json"), "utf8")) as { readonly version: string };

async function call(url: string, token: string, command: string): Promise<string> {
  const response = await fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "bash", arguments: { command } } }),
  });
  return response.text();
}

async function squat(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The relay's processes, as the running agent recorded them. */
function relayProcesses(home: Home): readonly ProcessIdentity[] {
  const relays = join(home.dir, "state/pimcp/relays");
  return readdirSync(relays).flatMap(
    (name) => (JSON.parse(readFileSync(join(relays, name, "relay-processes.json"), "utf8")) as { processes: ProcessIdentity[] }).processes,
  );
}

async function ended(home: Home, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const program = startProgram(home, args, env);
  return { code: await program.exit, stderr: program.stderr(), stdout: program.stdout() };
}

test("[ST50] one command and no account: a client with the printed URL and the token works in the root", async () => {
  const home = newHome();
  writeFileSync(join(home.root, "a.txt"), "from the workstation");
  const said = await startProgram(home, QUIET).ready();
  expect(said).toMatchObject({ root: home.root, token: null, tokenFile: join(home.dir, "config/pimcp/token") });
  expect(said.mcpUrls[1]).toBe(said.mcpUrl.replace("127.0.0.1", "localhost"));
  expect(await call(said.mcpUrl, home.token(), "cat a.txt")).toContain("from the workstation");
});

test("[ST22] Ctrl-C ends everything with exit code 0", async () => {
  const home = newHome();
  const program = startProgram(home, QUIET);
  const said = await program.ready();
  const started = relayProcesses(home);
  expect(started.filter((process) => isStillRunning(process))).toHaveLength(2);
  void call(said.mcpUrl, home.token(), "setsid sleep 61 & sleep 60").catch(() => "");
  program.process.kill("SIGINT");
  expect(await program.exit).toBe(0);
  expect(started.filter((process) => isStillRunning(process))).toEqual([]);
  expect(program.stderr()).toBe("");
});

test("[ST15] after kill -9 nothing of the relay is left and a new start with the same ports works at once", async () => {
  const home = newHome();
  const args = ["--port", String(await freePort()), "--ui-port", String(await freePort()), "--no-open", "--json"];
  const first = startProgram(home, args);
  const before = await first.ready();
  const left = relayProcesses(home);
  first.process.kill("SIGKILL");
  await first.exit;
  const after = await startProgram(home, args).ready();
  expect(after.mcpUrl).toBe(before.mcpUrl);
  expect(left.filter((process) => isStillRunning(process))).toEqual([]);
  expect(await call(after.mcpUrl, home.token(), "echo again")).toContain("again");
});

test("[ST14] a second agent for the same relay names the first", async () => {
  const home = newHome();
  const args = ["--port", String(await freePort()), "--ui-port", "0", "--no-open", "--json"];
  const first = startProgram(home, args);
  await first.ready();
  const second = await ended(home, args);
  expect([second.code, second.stdout]).toEqual([2, ""]);
  expect(second.stderr).toMatch(new RegExp(`^Another agent on this machine already serves .* \\(process ${first.process.pid}, root `));
  const wrong = await ended(home, [...args, "--root", "/no/such/dir"]);
  expect(wrong.stderr).toMatch(/^The root \/no\/such\/dir does not exist/);
});

test("[ST14] agents whose port the system chooses run beside each other", async () => {
  const home = newHome();
  const said = await Promise.all([1, 2, 3].map(() => startProgram(home, QUIET).ready()));
  expect(new Set(said.map(({ mcpUrl }) => mcpUrl)).size).toBe(3);
  const answers = await Promise.all(said.map(({ mcpUrl }) => call(mcpUrl, home.token(), "echo here")));
  expect(answers.every((answer) => answer.includes("here"))).toBe(true);
});

test("[ER7] a port that another agent uses is said to be that agent's", async () => {
  const home = newHome();
  const [port, uiPort, other] = [String(await freePort()), String(await freePort()), String(await freePort())];
  const first = startProgram(home, ["--port", port, "--ui-port", uiPort, "--no-open", "--json"]);
  await first.ready();
  const named = (busy: string, flag: string): string =>
    `Port ${busy} is used by the agent that runs already (process ${first.process.pid}, root ${home.root}): choose another with --${flag}, or end that one with kill ${first.process.pid}.\n`;
  expect(await ended(home, ["--port", other, "--ui-port", uiPort])).toEqual({ code: 2, stdout: "", stderr: named(uiPort, "ui-port") });
  expect(await ended(home, ["--http", "--port", port])).toEqual({ code: 2, stdout: "", stderr: named(port, "port") });
});

test("[ER7] busy ports are one sentence each and no other port is taken", async () => {
  const port = String(await squat());
  const relay = await ended(newHome(), ["--port", port, "--ui-port", "0", "--no-open"]);
  expect(relay).toEqual({
    code: 2,
    stdout: "",
    stderr: `Port ${port} on 127.0.0.1 is in use by another program: end that, or choose another with --port.\n`,
  });
  const page = await ended(newHome(), ["--port", "0", "--ui-port", port, "--no-open"]);
  expect([page.code, page.stdout]).toEqual([2, ""]);
  expect(page.stderr).toMatch(
    new RegExp(`^Port ${port} on 127.0.0.1 is in use by another program: end that, or choose another with --ui-port\\.\\n$`),
  );
  const http = await ended(newHome(), ["--http", "--port", port]);
  expect(http).toMatchObject({
    code: 2,
    stderr: `Port ${port} on 127.0.0.1 is in use by another program: end that, or choose another with --port.\n`,
  });
});

test.for<[readonly string[], RegExp]>([
  [["--nonsense"], /^Unknown flag --nonsense\. See pimcp --help\.\n$/],
  [["--root", "/no/such/dir"], /^The root \/no\/such\/dir does not exist: make it, or name another with --root\.\n$/],
  [["--root", "/etc/hostname"], /^The root \/etc\/hostname is not a directory: name one with --root\.\n$/],
  [["--deny", "*.pem"], /^Deny entry "\*\.pem": patterns are not supported.*\n$/],
  [["--relay", "https://r.example"], /^--port is for the local relay, and --relay https:\/\/r\.example dials another: leave one out\.\n$/],
  [["--approve", "bash"], /^--approve needs --human: calls wait for your click on the page, and without it there is nobody to ask\.\n$/],
  [["--ui-host", "0.0.0.0"], /^--ui-host 0\.0\.0\.0 can be reached from other machines, .*\n$/],
])("[ST24] %o is one sentence with exit code 2", async ([args, sentence]) => {
  const { code, stderr, stdout } = await ended(newHome(), [...QUIET, ...args]);
  expect(stderr).toMatch(sentence);
  expect([code, stdout]).toEqual([2, ""]);
});

test.for<[readonly string[], string | null, RegExp]>([
  [["--relay", "https://r.example"], null, /^Which key https:\/\/r\.example was given is not known here.*\n$/],
  [
    ["--port", "0"],
    '{"url":"https://r.example","keyFile":"/k"}',
    /^--port is for the local relay, and the deployed one is dialled: add --relay local, or leave it out\.\n$/,
  ],
  [[], "{", /^[^\n]*relay\.json is damaged: run npm run deploy again, or remove it to use the local relay\.\n$/],
])("[ST4] [ST24] %o with %s remembered is one sentence with exit code 2", async ([args, remembered, sentence]) => {
  const home = newHome();
  const config = join(home.dir, "config/pimcp");
  mkdirSync(config, { recursive: true });
  if (remembered !== null) writeFileSync(join(config, "relay.json"), remembered, { mode: 0o600 });
  const { code, stderr, stdout } = await ended(home, args);
  expect(stderr).toMatch(sentence);
  expect([code, stdout]).toEqual([2, ""]);
});

test("[ST24] a wrong key ends with exit code 3 and the way out", async () => {
  const home = newHome();
  const said = await startProgram(home, QUIET).ready();
  const relay = new URL(said.mcpUrl).origin;
  const elsewhere = newHome();
  const keyFile = join(elsewhere.dir, "key");
  writeFileSync(keyFile, "0123456789abcdef0123456789abcdef", { mode: 0o600 });
  const wrong = await ended(elsewhere, ["--relay", relay, "--key-file", keyFile, "--ui-port", "0", "--no-open"]);
  expect(wrong).toMatchObject({ code: 3, stdout: "" });
  expect(wrong.stderr).toMatch(/does not know this agent key.*--key-file[^\n]*\n$/);
});

test("[ST12] a key file that others can read is refused before anything is dialled", async () => {
  const home = newHome();
  const keyFile = join(home.dir, "key");
  writeFileSync(keyFile, "k", { mode: 0o644 });
  const { code, stderr } = await ended(home, ["--relay", "http://127.0.0.1:1", "--key-file", keyFile]);
  expect([code, stderr]).toEqual([2, `${keyFile} can be read by other accounts: run chmod 600 ${keyFile}\n`]);
});

test("[ST11] everything kept on disk is private", async () => {
  const home = newHome();
  await startProgram(home, QUIET).ready();
  const kept = readdirSync(home.dir, { recursive: true, encoding: "utf8" }).filter((path) => /^(config|state)\/pimcp/.test(path));
  const found = kept.map((path) => ({ path, stat: statSync(join(home.dir, path)) }));
  const open = found.filter(({ stat }) => (stat.mode & 0o077) !== 0);
  expect(kept.length).toBeGreaterThan(5);
  expect(open).toEqual([]);
});

test("[ST5] with --no-oauth there is no page and no OAuth route", async () => {
  const home = newHome();
  const uiPort = await freePort();
  const program = startProgram(home, ["--port", "0", "--json", "--no-oauth"], { PI_AS_MCP_UI_PORT: String(uiPort) });
  const said = await program.ready();
  expect(program.stderr()).toBe("PI_AS_MCP_UI_PORT is for the page, which --no-oauth switches off where --human is not given, so it is ignored.\n");
  expect(said.pageFile).toBeNull();
  await expect(fetch(`http://127.0.0.1:${uiPort}/`)).rejects.toThrow();
  const origin = new URL(said.mcpUrl).origin;
  const statuses = await Promise.all(
    ["/authorize", "/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource/mcp"].map(
      async (path) => (await fetch(origin + path)).status,
    ),
  );
  expect(statuses).toEqual([404, 404, 404]);
  expect(await call(said.mcpUrl, home.token(), "echo works")).toContain("works");
});

test("[ST1] --http serves the token's bearer without a relay", async () => {
  const home = newHome();
  const said = await startProgram(home, ["--http", "--port", "0", "--json", "--token", "a-token-of-this-run"]).ready();
  expect(said).toMatchObject({ pageFile: null, tokenFile: null });
  expect(await call(said.mcpUrl, "a-token-of-this-run", "echo over http")).toContain("over http");
  expect(await call(said.mcpUrl, "another", "echo over http")).not.toContain("over http");
});

test("[ST1] --stdio speaks MCP on stdout and nothing else, and ends with its input", async () => {
  const home = newHome();
  const program = startProgram(home, ["--stdio"]);
  const initialize = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } };
  program.process.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: initialize })}\n`);
  await waitUntil("it answers", () => program.stdout().endsWith("\n"));
  expect(JSON.parse(program.stdout())).toMatchObject({ id: 1, result: { protocolVersion: "2025-06-18" } });
  program.process.stdin?.end();
  expect(await program.exit).toBe(0);
  expect(program.stderr()).toBe("");
});

test.skipIf(process.platform !== "linux" || spawnSync("script", ["--version"]).error !== undefined)(
  "[ST54] on a terminal --stdio says what it does, and Ctrl-C leaves the prompt a line of its own",
  async () => {
    const home = newHome();
    const program = join(import.meta.dirname, "../../../bin/pimcp.mjs");
    const terminal = spawn("script", ["-qfec", `'${process.execPath}' '${program}' --stdio`, "/dev/null"], { cwd: home.root, env: home.env });
    onTestFinished(() => void terminal.kill("SIGKILL"));
    let said = "";
    terminal.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
    await waitUntil("it says what it does", () => said.includes("Speaking MCP on stdin and stdout; a client starts this."), 10_000);
    terminal.stdin.write("\u0003");
    await waitUntil("it ended", () => terminal.exitCode !== null, 10_000);
    expect(said).toMatch(/\nEnded\.\r\n$/);
  },
);

test("[ST8] --version, --help and open answer without starting anything", async () => {
  const home = newHome();
  expect(await ended(home, ["--version"])).toEqual({ code: 0, stdout: `${MANIFEST.version}\n`, stderr: "" });
  expect((await ended(home, ["--help"])).stdout).toContain("Usage: pimcp");
  expect(await ended(home, ["open"])).toEqual({ code: 2, stdout: "", stderr: "No agent is running on this machine: start one with pimcp.\n" });
});

test("[ST8] the page file leads a browser to the page", async () => {
  const home = newHome();
  const said = await startProgram(home, QUIET).ready();
  const address = /href="([^"]+)"/.exec(readFileSync(said.pageFile ?? "", "utf8"))?.[1] ?? "";
  expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#[\w-]{43}$/);
  expect((await fetch(address)).status).toBe(200);
});

/** A desktop whose opener does what `script` says. */
function desktop(script: string): { readonly bin: string; readonly env: NodeJS.ProcessEnv } {
  const bin = tempDir("bin");
  writeFileSync(join(bin, "xdg-open"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return { bin, env: { DISPLAY: ":0", PATH: `${bin}:${process.env["PATH"] ?? ""}` } };
}

test("[ST8] pimcp open hands a browser the private file and never the secret", async () => {
  const home = newHome();
  const said = await startProgram(home, QUIET).ready();
  const { bin, env } = desktop('echo "$1" > "$(dirname "$0")/opened"; exec sleep 5');
  const startedAt = performance.now();
  expect(await ended(home, ["open"], env)).toEqual({ code: 0, stdout: "", stderr: "" });
  expect(performance.now() - startedAt).toBeLessThan(4500);
  expect(readFileSync(join(bin, "opened"), "utf8").trim()).toBe(pathToFileURL(said.pageFile ?? "").href);
});

test("[ST8] where no browser can be started pimcp open says what to open", async () => {
  const home = newHome();
  const said = await startProgram(home, QUIET).ready();
  const without = "Without one, pimcp pending and pimcp allow CODE do the same here.\n";
  const failing = await ended(home, ["open"], desktop("sleep 0.2; exit 3").env);
  expect(failing).toEqual({
    code: 0,
    stdout: `No browser could be started: open ${said.pageFile} in a browser on this machine.\n${without}`,
    stderr: "",
  });
  const bare = await ended(home, ["open"], { DISPLAY: "", WAYLAND_DISPLAY: "", WSL_DISTRO_NAME: "" });
  expect(bare).toEqual({ code: 0, stdout: `There is no display here: open ${said.pageFile} in a browser on this machine.\n${without}`, stderr: "" });
});

test("[ST11] settings that cannot be written are one sentence", async () => {
  const file = join(tempDir(), "file");
  writeFileSync(file, "");
  const { code, stderr } = await ended(newHome(), [...QUIET], { XDG_STATE_HOME: file });
  expect(code).toBe(2);
  expect(stderr).toMatch(/^Cannot use the directory .* XDG_STATE_HOME elsewhere\.\n$/);
});
