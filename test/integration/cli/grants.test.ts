import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { newHome, QUIET, startProgram, type Home } from "../../support/agent-program.ts";
import { refresh, signIn } from "../../support/sign-in.ts";
import { waitUntil } from "../../support/wait-until.ts";
import { AGENT_KEY, startWorker } from "../../support/worker-runtime.ts";

interface Listed {
  readonly grants: readonly { readonly id: string; readonly clientName: string; readonly redirectHost: string; readonly lastUsedAt: number | null }[];
}

async function ask(home: Home, ...args: readonly string[]) {
  const program = startProgram(home, args);
  return { code: await program.exit, stderr: program.stderr(), stdout: program.stdout() };
}

async function listed(home: Home): Promise<Listed["grants"]> {
  return (JSON.parse((await ask(home, "grants", "--json")).stdout) as Listed).grants;
}

async function call(url: string, token: string): Promise<number> {
  const response = await fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "ls", arguments: {} } }),
  });
  await response.text();
  return response.status;
}

function addressOf(pageFile: string | null): string {
  return /href="([^"]+)"/.exec(readFileSync(pageFile ?? "", "utf8"))?.[1] ?? "";
}

/** What an open page hears of grants, as lists of ids. */
async function pageHears(pageUrl: string): Promise<() => readonly string[][]> {
  const { origin, hash } = new URL(pageUrl);
  const headers = { authorization: `Bearer ${hash.slice(1)}` };
  const ended = new AbortController();
  onTestFinished(() => ended.abort());
  const stream = await fetch(`${origin}/api/events`, { headers, signal: ended.signal });
  let text = "";
  void (async () => {
    for await (const piece of stream.body ?? []) text += new TextDecoder().decode(piece);
  })().catch(() => undefined);
  await (await fetch(`${origin}/api/grants`, { headers })).text();
  return () =>
    text
      .split("\n")
      .slice(0, -1)
      .flatMap((line) => (line.startsWith('{"t":"grants"') ? [(JSON.parse(line) as Listed).grants.map(({ id }) => id)] : []));
}

test("[ST62] [OA81] [UI29] what was allowed is listed, and taken back at once: the next request is 401, others go on", async () => {
  const home = newHome();
  const said = await startProgram(home, QUIET).ready();
  const { origin } = new URL(said.mcpUrl);
  const pageUrl = addressOf(said.pageFile);
  const heard = await pageHears(pageUrl);
  await waitUntil("the page knows that there is none", () => heard().length === 1);
  expect(await ask(home, "grants")).toEqual({ code: 0, stderr: "", stdout: "No app has access. Clients with the token are not listed.\n" });

  const one = await signIn(origin, pageUrl);
  const other = await signIn(origin, pageUrl);
  expect([await call(said.mcpUrl, one.accessToken), await call(said.mcpUrl, other.accessToken)]).toEqual([200, 200]);
  await waitUntil("the page knows both without asking", () => heard().at(-1)?.length === 2);
  const grants = await listed(home);
  expect(grants).toHaveLength(2);
  for (const grant of grants)
    expect(grant).toMatchObject({ clientName: "a test", redirectHost: "127.0.0.1:50999", lastUsedAt: expect.any(Number) as number });

  const id = one.accessToken.split(":")[1] ?? "";
  expect((await ask(home, "grants")).stdout).toContain(`${id}  “a test” at 127.0.0.1:50999\n`);
  const missed = "No grant unknown, gone lives, and nothing was taken back: pimcp grants lists them.";
  expect(await ask(home, "revoke", id, "unknown", "gone")).toEqual({ code: 1, stderr: "", stdout: `${missed}\n` });
  expect(await ask(home, "revoke", "unknown", id, "gone", "--json")).toEqual({
    code: 1,
    stderr: "",
    stdout: `{"revoked":0,"unknown":["unknown","gone"],"message":"${missed}"}\n`,
  });
  expect(await listed(home)).toHaveLength(2);
  expect((await ask(home, "grants", "--relay", "local")).stdout).toContain("\npimcp revoke ID --relay local takes access back at once;");
  expect(await ask(home, "revoke", id.slice(0, 8))).toEqual({ code: 0, stderr: "", stdout: "Access of 1 app was taken back.\n" });
  expect([await call(said.mcpUrl, one.accessToken), await call(said.mcpUrl, other.accessToken)]).toEqual([401, 200]);
  await expect(refresh(origin, one)).rejects.toThrow("400");
  expect((await listed(home)).map((grant) => grant.id)).toEqual([other.accessToken.split(":")[1]]);
  await waitUntil("the page knows that one is left", () => heard().at(-1)?.length === 1);

  expect(await ask(home, "revoke", id)).toMatchObject({ code: 1, stdout: expect.stringContaining(`No grant ${id} lives`) as string });
  expect(await ask(home, "revoke", "--all", "--json")).toEqual({ code: 0, stderr: "", stdout: '{"revoked":1}\n' });
  expect(await ask(home, "revoke", "--all")).toEqual({ code: 0, stderr: "", stdout: "No app had access, so nothing was taken back.\n" });
  expect([await call(said.mcpUrl, other.accessToken), await call(said.mcpUrl, home.token())]).toEqual([401, 200]);
});

test("[ST60] [ST63] the socket ends with the agent, one that a killed agent left does not hinder the next, and of several one is named", async () => {
  const home = newHome();
  const sockets = join(home.dir, "state/pimcp/control");
  const none = "No agent with a relay is running on this machine: start one with pimcp.\n";
  expect(await ask(home, "grants")).toEqual({ code: 2, stdout: "", stderr: none });
  const killed = startProgram(home, QUIET);
  await killed.ready();
  killed.process.kill("SIGKILL");
  await killed.exit;
  expect(readdirSync(sockets)).toHaveLength(1);
  expect(await ask(home, "revoke", "--all")).toEqual({ code: 2, stdout: "", stderr: none });

  const first = startProgram(home, QUIET);
  const said = await first.ready();
  expect(await listed(home)).toEqual([]);
  const second = startProgram(home, QUIET);
  await second.ready();
  const several = await ask(home, "grants", "--json");
  expect([several.code, several.stdout]).toEqual([2, ""]);
  expect(several.stderr).toMatch(
    /^Several agents are running: .*process \d+, root .*\. Choose one with --relay URL, --workspace NAME or --port PORT\.\n$/,
  );
  const { port } = new URL(addressOf(said.pageFile));
  expect(await ask(home, "grants", "--json", "--port", port)).toEqual({ code: 0, stderr: "", stdout: '{"grants":[]}\n' });
  for (const agent of [first, second]) {
    agent.process.kill("SIGINT");
    expect(await agent.exit).toBe(0);
  }
  expect(existsSync(sockets) && readdirSync(sockets)).toEqual([]);
});

test("[ST63] while the relay is away both say so and end with 1", async () => {
  const home = newHome();
  const keyFile = join(home.dir, "key");
  writeFileSync(keyFile, AGENT_KEY, { mode: 0o600 });
  const relay = await startWorker();
  onTestFinished(() => relay.close().catch(() => undefined));
  await startProgram(home, ["--relay", relay.origin, "--key-file", keyFile, "--ui-port", "0", "--no-open", "--json"]).ready();
  expect(await ask(home, "grants", "--relay", relay.origin, "--json")).toEqual({ code: 0, stderr: "", stdout: '{"grants":[]}\n' });
  await relay.close();
  await waitUntil("the agent has noticed", async () => (await ask(home, "grants")).code !== 0, 15_000);
  const why = "The relay could not be asked: the relay is not connected right now.";
  expect(await ask(home, "grants")).toEqual({ code: 1, stdout: "", stderr: `${why}\n` });
  const consequence = "Nothing is known to have been taken back: look at the list, and try again.";
  expect(await ask(home, "revoke", "--all", "--json")).toEqual({ code: 1, stdout: "", stderr: `${why} ${consequence}\n` });
});
