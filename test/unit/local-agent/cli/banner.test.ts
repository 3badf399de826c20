import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bannerJson, bannerText } from "../../../../local-agent/cli/banner.ts";
import { ENV_PREFIX, envName, FLAGS, WITHOUT_ENV, type Flag } from "../../../../local-agent/cli/flags.ts";
import { DEPLOY_HELP } from "../../../../local-agent/cli/deploy-arguments.ts";
import { helpText } from "../../../../local-agent/cli/help.ts";
import type { RunningAgent } from "../../../../local-agent/daemon/running-agent.ts";

const agent: RunningAgent = {
  info: {
    version: "1.2.3",
    root: "/srv/work",
    tools: ["read", "bash"],
    mcpServers: [],
    deny: [".ssh"],
    mcpUrls: ["http://127.0.0.1:8777/mcp", "http://localhost:8777/mcp"],
    relay: "http://127.0.0.1:8777",
    relayIsLocal: true,
    oauth: true,
    tokenSet: true,
    client: { id: "pimcp-abc", redirects: null },
    human: false,
    approve: [],
    waitMs: 45_000,
    patientWaitMs: 90_000,
    uiToken: false,
    confinement: ["bash is not confined.", "read is confined to /srv/work."],
    warnings: [],
    startedAt: 0,
  },
  token: { token: "SECRET-TOKEN", file: "/c/token", sha256: "" },
  client: { id: "pimcp-abc", secret: "SECRET-CLIENT", sha256: "", file: "/c/oauth-client.json", redirects: null },
  page: { url: "http://127.0.0.1:8790/#SECRET-PAGE", file: "/s/page.html" },
  local: true,
  watchCards: null,
  talk: null,
};
function clientOf({ client }: RunningAgent) {
  if (client === null) throw new Error("this agent has no client");
  return client;
}

const terminal = { isTerminal: true, colour: false, columns: 80, deployCommand: "npm run deploy" } as const;
const pipe = { ...terminal, isTerminal: false };

test("[ST91] the MCP servers of the workstation stand in the banner with what is to know of each, and JSON has them too", () => {
  const servers = [
    { name: "github", state: "on" },
    { name: "docs\u202e", state: "exposed" },
    { name: "notes", state: "waits" },
  ] as const;
  const withServers = { ...agent, info: { ...agent.info, mcpServers: [...servers] } };
  expect(bannerText(withServers, { ...terminal, columns: 200 })).toContain(
    "MCP servers   github, docs‹U+202E› (exposed), notes (waits for you on the page); through the tool mcp.",
  );
  expect(bannerText(agent, terminal)).not.toContain("MCP servers");
  expect(JSON.parse(bannerJson(withServers, pipe))).toMatchObject({ mcpServers: servers });
});

test("[ST50] on a terminal everything needed to connect is there", () => {
  expect(bannerText(agent, terminal)).toBe(`
pimcp 1.2.3 is ready.

  MCP URL       http://127.0.0.1:8777/mcp (or http://localhost:8777/mcp)
                Only clients on this machine can use it. For a URL that works
                from anywhere: npm run deploy
  Page          http://127.0.0.1:8790/#SECRET-PAGE
                Clients are allowed there. Its address is a secret of yours.
  With OAuth    Give the client the MCP URL and nothing else; when it asks,
                allow it on the page.
  By hand       For an app that asks for a client id and secret: paste these.
                Its redirect address needs no setting up: the first time it
                comes, the page shows it, and your Allow permits it.
                client id      pimcp-abc
                client secret  SECRET-CLIENT
  With a token  header         Authorization: Bearer …
                token          SECRET-TOKEN
  Root          /srv/work
  Tools         read, bash
  Confinement   bash is not confined.
                read is confined to /srv/work.

  Ctrl-C ends it.

`);
});

test("[ST50] what is pasted stands whole on a line of its own, and of 80 columns fits", () => {
  const token = "x".repeat(43);
  const text = bannerText({ ...agent, token: { ...agent.token, token } }, terminal);
  const line = text.split("\n").find((each) => each.includes(token)) ?? "";
  expect(line).toBe(`                token          ${token}`);
  expect(line.length).toBeLessThan(80);
  expect(bannerText(agent, { ...terminal, columns: 40 })).toContain("header         Authorization: Bearer …\n");
});

test("[ST51] anywhere else no secret is printed, but the files that hold them are named", () => {
  for (const text of [bannerText(agent, pipe), bannerJson(agent, pipe)]) {
    expect(text).not.toContain("SECRET");
    expect(text).toContain("/c/token");
    expect(text).toContain("/s/page.html");
  }
  expect(bannerText({ ...agent, token: { ...agent.token, file: null } }, pipe)).toContain("token          the one given at the start\n");
});

const named = { ...agent, client: { ...clientOf(agent), redirects: ["https://a.example/r/1", "http://localhost:9/cb"] } };

test("[ST55] with addresses named in advance they stand beside the pair, whole", () => {
  expect(bannerText(named, { ...terminal, columns: 40 })).toContain(`
                client id      pimcp-abc
                client secret  SECRET-CLIENT
                redirects to   https://a.example/r/1
                               http://localhost:9/cb
`);
  expect(bannerText(named, terminal)).not.toContain("needs no setting up");
});

test("[ST55] [ST51] the secret of the pair is printed on a terminal only, its file elsewhere, and nothing without OAuth", () => {
  const facts = (of: RunningAgent, audience: typeof pipe | typeof terminal): object => {
    const { clientId, clientSecret, clientFile, redirects } = JSON.parse(bannerJson(of, audience)) as Record<string, unknown>;
    return { clientId, clientSecret, clientFile, redirects };
  };
  const pair = { clientId: "pimcp-abc", clientFile: "/c/oauth-client.json", redirects: null };
  expect(facts(agent, terminal)).toEqual({ ...pair, clientSecret: "SECRET-CLIENT" });
  expect(facts(named, pipe)).toEqual({ ...pair, clientSecret: null, redirects: ["https://a.example/r/1", "http://localhost:9/cb"] });
  expect(bannerText(agent, pipe)).toMatch(/client id {6}pimcp-abc\n +client secret {2}in \/c\/oauth-client\.json\n/);
  const given = { ...agent, client: { ...clientOf(agent), file: null } };
  expect(bannerText(given, pipe)).toMatch(/client secret {2}the one given at the start\n/);
  for (const text of [bannerText(given, pipe), bannerJson(given, pipe)]) expect(text).not.toContain("SECRET");
  const without = { ...agent, client: null };
  expect(facts(without, terminal)).toEqual({ clientId: null, clientSecret: null, clientFile: null, redirects: null });
  expect(bannerText(without, terminal)).not.toMatch(/By hand|client id/);
});

test("[ST50] how to get a URL that works from anywhere is said as it can be typed here, and not with --http", () => {
  expect(bannerText(agent, { ...terminal, deployCommand: "pimcp deploy" })).toContain("from anywhere: pimcp deploy\n");
  const http = bannerText({ ...agent, info: { ...agent.info, relay: "" } }, terminal);
  expect(http).toContain("Only clients on this machine can use it.\n");
  expect(http).not.toContain("deploy");
});

test("[ST50] what does not exist is not mentioned", () => {
  const bare = bannerText({ ...agent, page: null, local: false, info: { ...agent.info, oauth: false, warnings: ["There is no bash."] } }, terminal);
  expect(bare).not.toMatch(/Page|OAuth|Only clients/);
  expect(bare).toMatch(/Warning +There is no bash\./);
});

test("[ST51] where no secret may be printed the page is reached by its file, or by the command that is at hand", () => {
  const flat = (deployCommand: "npm run deploy" | "pimcp deploy"): string =>
    bannerText(agent, { ...pipe, columns: 200, deployCommand }).replaceAll(/\s+/g, " ");
  expect(flat("npm run deploy")).toContain("Page open /s/page.html in a browser, or run npm start -- open ");
  expect(flat("pimcp deploy")).toContain("Page open /s/page.html in a browser, or run pimcp open ");
});

test("[ST51] colours are for a terminal that wants them", () => {
  expect(bannerText(agent, terminal)).not.toContain("\u001B");
  expect(bannerText(agent, { ...terminal, colour: true })).toContain("\u001B[1mMCP URL");
});

test("[ST50] --json is one line that parses", () => {
  const text = bannerJson(agent, pipe);
  expect(text.trimEnd()).not.toContain("\n");
  expect(JSON.parse(text)).toMatchObject({
    mcpUrl: "http://127.0.0.1:8777/mcp",
    root: "/srv/work",
    tools: ["read", "bash"],
    token: null,
    tokenFile: "/c/token",
  });
});

test("[ST50] with --human it says that clients can talk with the person, how long a call waits and what needs a click", () => {
  const talking = { ...agent, info: { ...agent.info, human: true, approve: ["bash", "write"] } };
  const said = bannerText(talking, { ...terminal, columns: 200 }).replaceAll(/\s+/g, " ");
  expect(said).toContain("Clients are allowed and you talk with them there. Its address is a secret of yours.");
  expect(said).toContain(
    "Person Clients can say something to you, ask and wait. A call waits up to 45 s, 90 s where its client is known to bear that;",
  );
  const fixed = { ...talking, info: { ...talking.info, waitMs: 20_000, patientWaitMs: 20_000 } };
  expect(bannerText(fixed, { ...terminal, columns: 200 }).replaceAll(/\s+/g, " ")).toContain("A call waits up to 20 s;");
  expect(said).toContain("Each call of bash, write waits for your click on the page, and without it does not run.");
  const alone = { ...talking, info: { ...talking.info, oauth: false } };
  expect(bannerText(alone, terminal)).toContain("You talk with clients there.");
  expect(JSON.parse(bannerJson(talking, pipe))).toMatchObject({ human: true, approve: ["bash", "write"], waitMs: 45_000 });
  expect(JSON.parse(bannerJson(agent, pipe))).toMatchObject({ human: false, approve: [], waitMs: null });
  expect(bannerText(agent, terminal)).not.toContain("Person");
});

const ESCAPE = "\u001B";

test("[PG106] a warning is red where there are colours", () => {
  const warned = { ...agent, info: { ...agent.info, warnings: ["Other machines can reach the page."] } };
  expect(bannerText(warned, { ...terminal, colour: true })).toMatch(new RegExp(`${ESCAPE}\\[1;31mWarning +${ESCAPE}\\[0mOther machines`));
  expect(bannerText(warned, terminal)).not.toContain(ESCAPE);
});

test("[ST9] the help names every flag, its default and how variables are formed", () => {
  const text = helpText("1.2.3");
  for (const line of [...text.split("\n"), ...DEPLOY_HELP.split("\n")]) expect(line.length).toBeLessThanOrEqual(100);
  const help = text.replaceAll(/(?<=\S)\n {24}/g, " ");
  for (const flag of FLAGS) {
    expect(help).toMatch(new RegExp(`^ {2}--${flag.name}\\b`, "m"));
    expect(help).toContain(flag.fallback);
  }
  expect(help).toContain(envName("ui-port"));
  expect(envName("ui-port")).toBe(`${ENV_PREFIX}UI_PORT`);
});

test("[ST9] docs/configuration.md has a row for every flag, with its variable, default and meaning", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../../docs/configuration.md"), "utf8").replaceAll(/ +/g, " ");
  for (const flag of FLAGS as readonly Flag[]) {
    const variable = WITHOUT_ENV.has(flag.name) ? "" : `\`${envName(flag.name)}\``;
    const name = `\`--${flag.name}${flag.value === null ? "" : ` ${flag.value}`}\``;
    const fallback = flag.fallback.startsWith(".") ? `\`${flag.fallback}\`` : flag.fallback;
    expect(page).toContain(`| ${[name, variable, fallback, flag.meaning].join(" | ")} |`.replaceAll(/ +/g, " "));
  }
});
