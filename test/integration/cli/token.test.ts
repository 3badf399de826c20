import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readTokenArguments } from "../../../local-agent/cli/token-arguments.ts";
import { runTokenCommand } from "../../../local-agent/cli/token-command.ts";
import { claimAgentPlace } from "../../../local-agent/daemon/agent-lock.ts";
import { controlPath, serveControl } from "../../../local-agent/daemon/control-server.ts";
import { StartFailure } from "../../../local-agent/daemon/start-failure.ts";
import { systemTimers } from "../../../local-agent/node/system-time.ts";
import { newHome, QUIET, startProgram, type Home } from "../../support/agent-program.ts";
import { pageAddress, pageShows } from "../../support/page-shows.ts";
import { waitUntil } from "../../support/wait-until.ts";
import { AGENT_KEY, startWorker } from "../../support/worker-runtime.ts";

interface Created {
  readonly token: string;
  readonly id: string;
  readonly name: string;
  readonly expiresAt: number | null;
  readonly told: readonly string[];
}

async function run(home: Home, ...args: readonly string[]) {
  const program = startProgram(home, ["token", ...args]);
  return { code: await program.exit, stderr: program.stderr(), stdout: program.stdout() };
}

/** The command in this process, with the agents' real files and sockets: starting the program each time would be most of the test. */
async function ask(home: Home, ...argv: readonly string[]) {
  const order = readTokenArguments(argv, Date.now());
  if (!order.ok) throw new Error(order.error);
  let stdout = "";
  const directories = { config: join(home.dir, "config/pimcp"), state: join(home.dir, "state/pimcp") };
  try {
    const code = await runTokenCommand(order.value, { directories, show: (text) => void (stdout += text), isToolShell: false });
    return { code, stderr: "", stdout };
  } catch (error) {
    if (!(error instanceof StartFailure)) throw error;
    return { code: error.exitCode, stderr: error.message, stdout };
  }
}

async function create(home: Home, ...argv: readonly string[]): Promise<Created> {
  const { code, stdout } = await ask(home, "create", ...argv, "--json");
  expect(code).toBe(0);
  return JSON.parse(stdout) as Created;
}

async function call(url: string, token: string, command?: string): Promise<{ readonly status: number; readonly text: string }> {
  const params = command === undefined ? { name: "ls", arguments: {} } : { name: "bash", arguments: { command } };
  const answer = await fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  });
  return { status: answer.status, text: await answer.text() };
}

/** Who called, as the page has it. */
async function callersOn(pageFile: string | null): Promise<readonly string[]> {
  return (await pageShows(pageAddress(pageFile))).timeline.map(({ client }) => client);
}

/** Every file of this home that is text, for what must be in none of them. */
function everythingKept(home: Home): string {
  return readdirSync(home.dir, { recursive: true, encoding: "utf8" })
    .map((name) => join(home.dir, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true)
    .map((path) => readFileSync(path, "latin1"))
    .join("\n");
}

test("[ST70] [ST73] [ST74] [OA122] a created token works at once and over a restart, is kept nowhere, and ends at once while others go on", async () => {
  const home = newHome();
  const agent = startProgram(home, QUIET);
  const said = await agent.ready();
  const made = await run(home, "create", "LM Studio", "--expires", "30d");
  expect(made).toMatchObject({ code: 0, stderr: "" });
  const lines = made.stdout.split("\n");
  expect(lines[0]).toMatch(
    /^Token “LM Studio” \(ID [0-9a-f]{8}\) for every relay of this account, until \d{4}-\d\d-\d\d \d\d:\d\d\. It is shown this once:$/,
  );
  const token = lines[2]?.trim() ?? "";
  expect(token).toMatch(/^pimcp_[\w-]{43}$/);
  expect(made.stdout).toContain(`\nIt works from now on at ${said.mcpUrl}.\n`);
  const other = await create(home, "script");
  expect(other).toMatchObject({ name: "script", expiresAt: null, told: [said.mcpUrl] });
  for (const each of [token, other.token, home.token()]) expect((await call(said.mcpUrl, each)).status).toBe(200);
  expect(await callersOn(said.pageFile)).toEqual(["your token “LM Studio”", "your token “script”", "your token"]);

  const listed = await ask(home, "list");
  expect(listed.stdout).toMatch(
    /^[0-9a-f]{8} {2}“LM Studio”\n {4}created \S+ \S+ · expires \S+ \S+ · scope mcp\n[0-9a-f]{8} {2}“script”\n.*does not expire/,
  );
  const json = (await ask(home, "list", "--json")).stdout;
  expect(JSON.parse(json)).toMatchObject({ tokens: [{ name: "LM Studio" }, { id: other.id, name: "script", scope: ["mcp"], expiresAt: null }] });
  expect(json).not.toMatch(/sha256|pimcp_/);
  expect(await ask(home, "create", "lm studio")).toMatchObject({ code: 2, stdout: "" });

  agent.process.kill("SIGINT");
  await agent.exit;
  const again = await startProgram(home, QUIET).ready();
  expect((await call(again.mcpUrl, token)).status).toBe(200);
  const revoked = await run(home, "revoke", "LM Studio");
  expect(revoked).toMatchObject({ code: 0, stderr: "" });
  expect(revoked.stdout).toBe(`Taken back: “LM Studio”.\nRefused from now on at ${again.mcpUrl}.\n`);
  const refused = await call(again.mcpUrl, token);
  expect([refused.status, refused.text.includes("invalid_token")]).toEqual([401, true]);
  for (const each of [other.token, home.token()]) expect((await call(again.mcpUrl, each)).status).toBe(200);
  expect(await ask(home, "revoke", "LM Studio")).toMatchObject({
    code: 2,
    stderr: 'There is no token "LM Studio", and nothing was taken back: pimcp token list shows them.',
  });
  for (const secret of [token, other.token]) expect(everythingKept(home)).not.toContain(secret.slice("pimcp_".length));
  expect((await ask(home, "revoke", "--all")).stdout).toContain("Taken back: “script”.");
  expect([(await call(again.mcpUrl, other.token)).status, (await call(again.mcpUrl, home.token())).status]).toEqual([401, 200]);
}, 40_000);

test("[ST74] at a deployed relay too, for every agent that runs; while it is away the command says so, and it learns later", async () => {
  const home = newHome();
  const keyFile = join(home.dir, "key");
  writeFileSync(keyFile, AGENT_KEY, { mode: 0o600 });
  const relay = await startWorker();
  onTestFinished(() => relay.close().catch(() => undefined));
  const dialled = await startProgram(home, ["--relay", relay.origin, "--key-file", keyFile, "--ui-port", "0", "--no-open", "--json"]).ready();
  const embedded = await startProgram(home, ["--relay", "local", ...QUIET]).ready();
  const [one, other] = await Promise.all([create(home, "one"), create(home, "other")]);
  expect([one.told.length, other.told.length]).toEqual([2, 2]);
  for (const { mcpUrl } of [dialled, embedded]) for (const { token } of [one, other]) expect((await call(mcpUrl, token)).status).toBe(200);

  await relay.close();
  const untold = async () =>
    JSON.parse((await ask(home, "create", "late", "--json")).stdout) as { readonly token: string; readonly untold: readonly { why: string }[] };
  let late = await untold();
  await waitUntil("the agent has noticed", async () => {
    if (late.untold.length > 0) return true;
    await ask(home, "revoke", "late");
    late = await untold();
    return late.untold.length > 0;
  });
  expect(late.untold[0]?.why).toBe("The relay could not be told: the relay is not connected right now.");
  const revoked = await ask(home, "revoke", "one");
  expect(revoked.code).toBe(1);
  expect(revoked.stdout).toContain("It learns of this when its agent connects anew, at the latest at the next start.");
  expect((await call(embedded.mcpUrl, one.token)).status).toBe(401);

  const back = await startWorker({ port: relay.port });
  onTestFinished(() => back.close());
  await waitUntil("the agent is back", async () => (await call(dialled.mcpUrl, other.token)).status === 200, 20_000);
  expect([(await call(dialled.mcpUrl, late.token)).status, (await call(dialled.mcpUrl, one.token)).status]).toEqual([200, 401]);
}, 60_000);

test("[ST74] a relay that is too old to be told, and nobody to tell, are said", async () => {
  const home = newHome();
  expect(await ask(home, "create", "a")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(
      "No agent of this workspace is running: from the next start on it works. One with --http knows at once.",
    ) as string,
  });
  const state = join(home.dir, "state/pimcp");
  const place = join(state, "relays/r.example-01234567");
  mkdirSync(place, { recursive: true, mode: 0o700 });
  const path = controlPath(state, place);
  const why = 'The relay could not be told: this relay knows no call "tokens.set": update it with "npm run deploy".';
  const server = await serveControl({ path, timers: systemTimers, handle: () => Promise.reject(new Error(why)) });
  const release = await claimAgentPlace({ dir: place, name: "https://r.example", flagsBeside: "" }, { root: "/srv", pageFile: null, control: path });
  onTestFinished(async () => {
    release();
    await server.close();
  });
  expect(await ask(home, "revoke", "a")).toEqual({
    code: 1,
    stderr: "",
    stdout: `Taken back: “a”.\nNot yet at https://r.example: ${why} It learns of this when its agent connects anew, at the latest at the next start.\n`,
  });
});

test("[ST75] with --http created tokens open the agent's own port, at once, until they are revoked or expire; a tool's shell makes none", async () => {
  const home = newHome();
  const said = await startProgram(home, ["--http", "--port", "0", "--json", "--token", "a-token-of-this-run"]).ready();
  const one = await create(home, "one");
  const other = await create(home, "other", "--expires", "12h");
  for (const token of [one.token, other.token, "a-token-of-this-run"]) expect((await call(said.mcpUrl, token)).status).toBe(200);
  await ask(home, "revoke", one.id);
  expect([(await call(said.mcpUrl, one.token)).status, (await call(said.mcpUrl, other.token)).status]).toEqual([401, 200]);
  const path = join(home.dir, "config/pimcp/tokens.json");
  writeFileSync(path, readFileSync(path, "utf8").replace(String(other.expiresAt), String(Date.now() + 2000)), { mode: 0o600 });
  expect((await call(said.mcpUrl, other.token)).status).toBe(200);
  await waitUntil("it has expired", async () => (await call(said.mcpUrl, other.token)).status === 401);

  const program = `'${process.execPath}' '${join(import.meta.dirname, "../../../bin/pimcp.mjs")}'`;
  const { text } = await call(said.mcpUrl, "a-token-of-this-run", `${program} token create mine; echo "code $?"`);
  expect(text).toMatch(/pimcp token create is the person's alone.*code 2/);
  expect((await ask(home, "list")).stdout).toMatch(/^[0-9a-f]{8} {2}“other”\n.*expired/);
});

test("[ST70] [ST74] a token of one workspace opens no other, and its agent alone is told", async () => {
  const home = newHome();
  const keyFile = join(home.dir, "key");
  writeFileSync(keyFile, AGENT_KEY, { mode: 0o600 });
  const relay = await startWorker();
  onTestFinished(() => relay.close());
  const dial = ["--relay", relay.origin, "--key-file", keyFile, "--ui-port", "0", "--no-open", "--json"];
  const plain = await startProgram(home, dial).ready();
  const project = await startProgram(home, [...dial, "--workspace", "proj"]).ready();
  const ofPlain = await create(home, "script");
  const ofProject = await create(home, "script", "--workspace", "proj");
  expect([ofPlain.told, ofProject.told]).toEqual([[plain.mcpUrl], [project.mcpUrl]]);
  const status = async (url: string, { token }: Created) => (await call(url, token)).status;
  expect([await status(plain.mcpUrl, ofPlain), await status(plain.mcpUrl, ofProject)]).toEqual([200, 401]);
  expect([await status(project.mcpUrl, ofPlain), await status(project.mcpUrl, ofProject)]).toEqual([401, 200]);
  await ask(home, "revoke", "--all", "--workspace", "proj");
  expect([await status(plain.mcpUrl, ofPlain), await status(project.mcpUrl, ofProject)]).toEqual([200, 401]);
  expect((await ask(home, "list", "--workspace", "other")).stdout).toContain("No token was created.");
  const later = await ask(home, "create", "later", "--workspace", "nobody");
  expect(later.stdout).toMatch(
    /for the workspace nobody of every relay[^]*No agent of this workspace is running: from the next start on it works\.\n$/,
  );
  expect(readdirSync(join(home.dir, "config/pimcp"))).not.toContain("workspace-other");
}, 60_000);
