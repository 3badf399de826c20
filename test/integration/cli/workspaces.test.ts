/** Several projects on one relay: the real program in three workspaces at once. */
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { newHome, startProgram, type Home, type Program } from "../../support/agent-program.ts";
import { refresh, signIn, type SignedIn } from "../../support/sign-in.ts";
import { AGENT_KEY, startWorker, type WorkerRuntime } from "../../support/worker-runtime.ts";
import { waitUntil } from "../../support/wait-until.ts";

const NAMES = [null, "site", "api-2"] as const;

interface Started {
  readonly program: Program;
  readonly root: string;
  readonly url: string;
  readonly issuer: string;
  readonly pageFile: string;
  readonly token: string;
}

async function relayAnd(): Promise<{ readonly relay: WorkerRuntime; readonly home: Home; readonly dial: (name: string | null) => Promise<Started> }> {
  const home = newHome();
  const relay = await startWorker();
  onTestFinished(() => relay.close().catch(() => undefined));
  writeFileSync(join(home.dir, "key"), AGENT_KEY, { mode: 0o600 });
  return { relay, home, dial: (name) => start(home, relay, name) };
}

function argsOf(home: Home, relay: WorkerRuntime, name: string | null): string[] {
  const flags = ["--relay", relay.origin, "--key-file", join(home.dir, "key"), "--ui-port", "0", "--no-open", "--json"];
  return name === null ? flags : [...flags, "--workspace", name];
}

async function start(home: Home, relay: WorkerRuntime, name: string | null): Promise<Started> {
  const root = join(home.root, name ?? "default");
  mkdirSync(root, { recursive: true });
  const program = startProgram(home, [...argsOf(home, relay, name), "--root", root]);
  const said = await program.ready();
  const { tokenFile, pageFile } = said;
  return {
    program,
    root: realpathSync(root),
    url: said.mcpUrl,
    issuer: said.mcpUrl.slice(0, -"/mcp".length),
    pageFile: pageFile ?? "",
    token: readFileSync(tokenFile ?? "", "utf8").trim(),
  };
}

async function pwd(url: string, token: string): Promise<{ status: number; text: string }> {
  const answer = await fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "bash", arguments: { command: "pwd" } } }),
  });
  return { status: answer.status, text: await answer.text() };
}

function allow({ issuer, pageFile }: Started): Promise<SignedIn> {
  return signIn(issuer, /href="([^"]+)"/.exec(readFileSync(pageFile, "utf8"))?.[1] ?? "");
}

async function ask(home: Home, ...args: readonly string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const program = startProgram(home, args);
  return { code: await program.exit, stdout: program.stdout(), stderr: program.stderr() };
}

async function granted(home: Home, workspace: string): Promise<readonly string[]> {
  const { stdout } = await ask(home, "grants", "--json", "--workspace", workspace);
  return (JSON.parse(stdout) as { grants: readonly { id: string }[] }).grants.map(({ id }) => id);
}

const idOf = (signedIn: SignedIn): string => signedIn.accessToken.split(":")[1] ?? "";

test("[ST27] [OA93] [ED22] three agents in three workspaces: each answers from its own root to its own clients, and a restart keeps that", async () => {
  const { relay, home, dial } = await relayAnd();
  const agents = await Promise.all(NAMES.map(dial));
  expect(agents.map(({ url }) => url)).toEqual(["/mcp", "/w/site/mcp", "/w/api-2/mcp"].map((path) => relay.origin + path));

  const clients = await Promise.all(agents.map(allow));
  const credentials = agents.map(({ token }, n) => [token, clients[n]?.accessToken ?? ""]);
  const expectApart = async () => {
    for (const [to, { url, root }] of agents.entries()) {
      for (const [of, tokens] of credentials.entries()) {
        const answers = await Promise.all(tokens.map((token) => pwd(url, token)));
        const seen = answers.map(({ status, text }) => [status, text.includes(`${root}\\n`)]);
        const expected = to === of ? [200, true] : [401, false];
        expect([to, of, ...seen]).toEqual([to, of, expected, expected]);
      }
    }
  };
  await expectApart();
  const lists = () => Promise.all(NAMES.map((name) => granted(home, name ?? "default")));
  expect(await lists()).toEqual(clients.map((client) => [idOf(client)]));

  for (const agent of agents) {
    agent.program.process.kill("SIGINT");
    expect(await agent.program.exit).toBe(0);
  }
  await relay.redeploy();
  const again = await Promise.all(NAMES.map(dial));
  expect(again.map(({ url, token }) => [url, token])).toEqual(agents.map(({ url, token }) => [url, token]));
  await expectApart();

  const [, site] = clients;
  if (site === undefined) throw new Error("there are three");
  for (const other of [relay.origin, `${relay.origin}/w/api-2`]) await expect(refresh(other, site)).rejects.toThrow("/token answered 40");
  expect((await refresh(`${relay.origin}/w/site`, site)).accessToken).not.toBe("");
  expect((await ask(home, "revoke", "--all", "--workspace", "site")).stdout).toBe("Access of 1 app was taken back.\n");
  expect((await lists()).map((ids) => ids.length)).toEqual([1, 0, 1]);
}, 120_000);

test("[ST14] a second start in the same workspace names the flags of the way out, by the kind of relay", async () => {
  const { relay, home, dial } = await relayAnd();
  const first = await dial("site");
  const taken = await ask(home, ...argsOf(home, relay, "site"));
  const kill = `kill ${first.program.process.pid}`;
  expect(taken).toEqual({
    code: 2,
    stdout: "",
    stderr: `Another agent on this machine already serves ${relay.origin}/w/site (process ${first.program.process.pid}, root ${first.root}): end it with ${kill}, or start one beside it with --workspace NAME and another --ui-port.\n`,
  });
  const port = new URL(/href="([^"]+)"/.exec(readFileSync(first.pageFile, "utf8"))?.[1] ?? "").port;
  const samePage = await ask(home, "--relay", relay.origin, "--key-file", join(home.dir, "key"), "--workspace", "other", "--ui-port", port);
  expect([samePage.code, samePage.stderr]).toEqual([
    2,
    `Port ${port} is used by the agent that runs already (process ${first.program.process.pid}, root ${first.root}): choose another with --ui-port, or end that one with ${kill}.\n`,
  ]);
});

test("[ST27] the embedded relay has the workspace of its agent", async () => {
  const home = newHome();
  const program = startProgram(home, ["--port", "0", "--ui-port", "0", "--no-open", "--json", "--workspace", "mine"]);
  const said = await program.ready();
  expect(said.mcpUrls.map((url) => new URL(url).pathname)).toEqual(["/w/mine/mcp", "/w/mine/mcp"]);
  const token = readFileSync(said.tokenFile ?? "", "utf8").trim();
  expect(await pwd(said.mcpUrl, token)).toMatchObject({ status: 200 });
  const { origin } = new URL(said.mcpUrl);
  expect([(await pwd(`${origin}/mcp`, token)).status, (await pwd(`${origin}/w/other/mcp`, token)).status]).toEqual([503, 503]);
  expect((await ask(home, "grants", "--json", "--workspace", "mine")).stdout).toBe('{"grants":[]}\n');
  expect((await ask(home, "grants", "--workspace", "default")).stderr).toContain("No running agent is the one of --workspace default.");
});

test("[ST27] a relay without workspaces is said to need an update", async () => {
  const old = createServer((_request, response) => response.writeHead(404, { "content-type": "application/json" }).end('{"error":"not_found"}'));
  await new Promise<void>((resolve) => old.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void old.close());
  const home = newHome();
  writeFileSync(join(home.dir, "key"), AGENT_KEY, { mode: 0o600 });
  const { port } = old.address() as AddressInfo;
  const program = startProgram(home, [
    "--relay",
    `http://127.0.0.1:${port}`,
    "--key-file",
    join(home.dir, "key"),
    "--workspace",
    "x",
    "--ui-port",
    "0",
  ]);
  await waitUntil("it has ended", () => program.process.exitCode !== null, 15_000);
  expect(program.stderr()).toContain(
    `The relay at 127.0.0.1:${port} knows no workspaces: update it with "npm run deploy", or leave --workspace out.`,
  );
});
