import { spawn, spawnSync } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { PendingAuthorization } from "../../../shared/authorization.ts";
import { newHome, QUIET, startProgram, type Announcement, type Home } from "../../support/agent-program.ts";
import { pageAddress, pageShows } from "../../support/page-shows.ts";
import { decideOnPage, openAndAllow } from "../../support/sign-in.ts";
import { waitUntil } from "../../support/wait-until.ts";
import { AGENT_KEY, startWorker } from "../../support/worker-runtime.ts";

/** Each starts the program twice, on a machine that may have other work. */
const TWO_STARTS = { timeout: 60_000 };

const ADDRESS = "https://oauth-redirect.example.com/r/my-project?from=dialog";

interface Pair {
  readonly id: string;
  readonly secret: string;
}

function keptPair({ clientFile }: Announcement): Pair {
  return JSON.parse(readFileSync(clientFile ?? "", "utf8")) as Pair;
}

const pageOf = ({ pageFile }: Announcement): string => pageAddress(pageFile);

const authorizeUrl = (said: Announcement, id: string, address = ADDRESS): URL =>
  new URL(`/authorize?${new URLSearchParams({ response_type: "code", client_id: id, redirect_uri: address, state: "s" })}`, said.mcpUrl);

/** Without PKCE, as hosted products do it. Allowed on the page; gives the card that was up and the code. */
async function allowed(said: Announcement, id: string, address = ADDRESS): Promise<{ readonly card: PendingAuthorization; readonly code: string }> {
  const decide = decideOnPage(pageOf(said));
  let card: PendingAuthorization | undefined;
  const { callback: redirect } = await openAndAllow(authorizeUrl(said, id, address), async (decision) => {
    card ??= (await pageShows(pageOf(said))).authorizations.find((each) => each.id === decision.id);
    return card === undefined ? undefined : decide(decision);
  });
  if (card === undefined) throw new Error("there was no card");
  expect(redirect.href.startsWith(address)).toBe(true);
  return { card, code: redirect.searchParams.get("code") ?? "" };
}

function exchange(said: Announcement, code: string, { id, secret }: Pair, by: "body" | "basic"): Promise<Response> {
  const form = new URLSearchParams({ grant_type: "authorization_code", code, redirect_uri: ADDRESS });
  if (by === "body") {
    form.set("client_id", id);
    form.set("client_secret", secret);
  }
  const headers: Record<string, string> = by === "body" ? {} : { authorization: `Basic ${btoa(`${id}:${secret}`)}` };
  return fetch(`${new URL(said.mcpUrl).origin}/token`, { method: "POST", headers, body: form });
}

async function accessWith(said: Announcement, tokens: Response): Promise<number> {
  const { access_token } = (await tokens.json()) as { access_token: string };
  const response = await fetch(said.mcpUrl, {
    method: "POST",
    headers: { authorization: `Bearer ${access_token}`, "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "ls", arguments: {} } }),
  });
  await response.text();
  return response.status;
}

/** Everything the program keeps, apart from the pair's own file, that holds this text. */
function holding(home: Home, text: string): readonly string[] {
  const kept = readdirSync(home.dir, { recursive: true, encoding: "utf8" }).filter((path) => !path.endsWith("oauth-client.json"));
  return kept.filter((path) => statSync(join(home.dir, path)).isFile() && readFileSync(join(home.dir, path), "latin1").includes(text));
}

test(
  "[ST19] [OA101] [OA104] the printed pair and nothing else: allowed at a new address, known there after a restart, by body and by Basic",
  TWO_STARTS,
  async () => {
    const home = newHome();
    const args = [...QUIET, "--verbose"];
    const first = startProgram(home, args);
    const said = await first.ready();
    const pair = keptPair(said);
    expect(said).toMatchObject({
      clientId: pair.id,
      clientSecret: null,
      clientFile: join(home.dir, "config/pimcp/oauth-client.json"),
      redirects: null,
    });
    expect(statSync(said.clientFile ?? "").mode & 0o777).toBe(0o600);
    expect((await pageShows(pageOf(said))).info.client).toEqual({ id: pair.id, redirects: null });

    const asked = await allowed(said, pair.id);
    expect(asked.card).toMatchObject({ configured: "new", redirectUri: ADDRESS, clientId: pair.id, codeRequired: false });
    expect((await exchange(said, asked.code, { ...pair, secret: "another" }, "body")).status).toBe(401);
    expect(await accessWith(said, await exchange(said, asked.code, pair, "body"))).toBe(200);
    expect((await allowed(said, pair.id, `${ADDRESS}&other=1`)).card.configured).toBe("new");
    first.process.kill("SIGINT");
    await first.exit;

    const second = startProgram(home, args);
    const again = await second.ready();
    expect(keptPair(again)).toEqual(pair);
    const known = await allowed(again, pair.id);
    expect(known.card.configured).toBe("approved");
    expect(await accessWith(again, await exchange(again, known.code, pair, "basic"))).toBe(200);
    for (const text of [first.stdout(), first.stderr(), second.stdout(), second.stderr()]) expect(text).not.toContain(pair.secret);
    expect(holding(home, pair.secret)).toEqual([]);
  },
);

test("[ST19] starts at the same moment have one pair", TWO_STARTS, async () => {
  const home = newHome();
  const said = await Promise.all([1, 2].map(() => startProgram(home, QUIET).ready()));
  expect(new Set(said.map(({ clientId }) => clientId)).size).toBe(1);
  const [first, second] = said;
  if (first === undefined || second === undefined) throw new Error("both have started");
  for (const each of [first, second]) {
    const { code } = await allowed(each, keptPair(first).id);
    expect((await exchange(each, code, keptPair(first), "body")).status).toBe(200);
  }
});

test("[ST26] [ST19] [OA106] a pair and addresses of one's own: only these pass, and another gets a page and no card", async () => {
  const home = newHome();
  const pair = { id: "pimcp-gemini", secret: "a-secret/of=enough-length" };
  const program = startProgram(home, [...QUIET, "--oauth-client-id", pair.id, "--oauth-redirect", `${ADDRESS},https://other.example/cb`], {
    PI_AS_MCP_OAUTH_CLIENT_SECRET: pair.secret,
  });
  const said = await program.ready();
  expect(said).toMatchObject({ clientId: pair.id, clientSecret: null, clientFile: null, redirects: [ADDRESS, "https://other.example/cb"] });
  const refused = await fetch(authorizeUrl(said, pair.id, "https://elsewhere.example/cb"), { redirect: "manual" });
  expect([refused.status, refused.headers.get("location")]).toEqual([400, null]);
  expect(await refused.text()).toContain("https://elsewhere.example/cb");
  expect((await pageShows(pageOf(said))).authorizations).toEqual([]);
  const { card, code } = await allowed(said, pair.id);
  expect(card.configured).toBe("named");
  expect(await accessWith(said, await exchange(said, code, pair, "basic"))).toBe(200);
  expect(readdirSync(join(home.dir, "config/pimcp"))).not.toContain("oauth-client.json");
  for (const text of [program.stdout(), program.stderr()]) expect(text).not.toContain(pair.secret);
  expect(holding(home, pair.secret)).toEqual([]);
});

test("[ST19] a relay that is dialled learns the pair too", async () => {
  const home = newHome();
  const keyFile = join(home.dir, "key");
  writeFileSync(keyFile, AGENT_KEY, { mode: 0o600 });
  const relay = await startWorker();
  onTestFinished(() => relay.close());
  const said = await startProgram(home, ["--relay", relay.origin, "--key-file", keyFile, "--ui-port", "0", "--no-open", "--json"]).ready();
  const { card, code } = await allowed(said, keptPair(said).id);
  expect(card.configured).toBe("new");
  expect(await accessWith(said, await exchange(said, code, keptPair(said), "basic"))).toBe(200);
});

test("[ST19] [ST24] a damaged pair is one sentence with exit code 2, and with --no-oauth there is none", TWO_STARTS, async () => {
  const home = newHome();
  const quiet = startProgram(home, ["--port", "0", "--json", "--no-oauth"]);
  expect(await quiet.ready()).toMatchObject({ clientId: null, clientSecret: null, clientFile: null, redirects: null });
  const file = join(home.dir, "config/pimcp/oauth-client.json");
  writeFileSync(file, "{", { mode: 0o600 });
  const program = startProgram(home, QUIET);
  expect(await program.exit).toBe(2);
  expect(program.stderr()).toMatch(/^[^\n]*oauth-client\.json is damaged: restore it, or remove it to have a new id and secret made[^\n]*\n$/);
});

test.skipIf(process.platform !== "linux" || spawnSync("script", ["--version"]).error !== undefined)(
  "[ST55] [ST51] on a terminal the pair is printed at every start, whole",
  TWO_STARTS,
  async () => {
    const home = newHome();
    const program = join(import.meta.dirname, "../../../bin/pimcp.mjs");
    const command = `'${process.execPath}' '${program}' --port 0 --ui-port 0 --no-open --oauth-redirect ${ADDRESS}`;
    for (let start = 0; start < 2; start++) {
      const terminal = spawn("script", ["-qfec", command, "/dev/null"], { cwd: home.root, env: { ...home.env, NO_COLOR: "1" } });
      onTestFinished(() => void terminal.kill("SIGKILL"));
      let said = "";
      terminal.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
      await waitUntil("it is ready", () => said.includes("Ctrl-C ends it."), 20_000);
      const { id, secret } = JSON.parse(readFileSync(join(home.dir, "config/pimcp/oauth-client.json"), "utf8")) as Pair;
      const lines = said.split("\r\n").map((line) => line.trim());
      for (const line of [`client id      ${id}`, `client secret  ${secret}`, `redirects to   ${ADDRESS}`]) expect(lines).toContain(line);
      terminal.stdin.write("\u0003");
      await waitUntil("it ended", () => terminal.exitCode !== null, 10_000);
    }
  },
);
