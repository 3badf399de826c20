/**
 * What people reported about proxies that pass a server through, as tests through a relay apart whose clock and network are ours: one agent
 * with all of these servers exposed. Ids of reports are plain (A…), those of our rules stand in brackets.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Server } from "@modelcontextprotocol/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ask, bash, callTool, said, send, type Endpoint, type SendOptions } from "../support/agent-requests.ts";
import { isAlive } from "../support/alive.ts";
import { HOUR_MS, MOVED_CLOCK_ENTRY, pass } from "../support/moved-clock.ts";
import { commandLine, newHome, startPimcp, type Home, type Pimcp } from "../support/pimcp.ts";
import { startRelayApart, type RelayApart } from "../support/relay-apart.ts";
import { SDK_CLIENTS } from "../support/sdk-clients.ts";
import { signIn } from "../support/sign-in.ts";
import { said as saying, type SmallTool } from "../support/small-upstream.ts";
import { MODERN, reply, toolCall } from "../support/surface-under-test.ts";
import { FarmServer } from "../support/upstream-farm.ts";
import { fixtureEntry, mcpJson, type ServerEntry } from "../support/upstream-files.ts";
import { readJournal } from "../support/upstream-fixture.ts";
import { waitUntil } from "../support/wait-until.ts";

let relay: RelayApart;
let home: Home;
let agent: Pimcp;
let other: Endpoint;
let servers: Awaited<ReturnType<typeof startServers>>;

/** Counts for each session of the upstream, as a browser or a debugger keeps its page. */
function remembering(): SmallTool {
  const counts = new WeakMap<Server, number>();
  return {
    description: "Says how often it was called in this session.",
    run: (_args, _context, server) => {
      counts.set(server, (counts.get(server) ?? 0) + 1);
      return saying(`call ${counts.get(server)}`);
    },
  };
}

/** Reports progress until somebody ends it. */
function endless(): SmallTool & { readonly running: () => number } {
  let running = 0;
  return {
    running: () => running,
    description: "Is always about to be done.",
    run: async (_args, { mcpReq }) => {
      running += 1;
      const progressToken = mcpReq._meta?.progressToken ?? "";
      for (let progress = 1; !mcpReq.signal.aborted; progress++) {
        await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress } }).catch(() => undefined);
        await sleep(50);
      }
      running -= 1;
      return saying("ended");
    },
  };
}

const LARGE = "x".repeat(12_000_000);

async function startServers() {
  const never = { legacy: endless(), modern: endless() };
  return {
    never,
    stateful: await FarmServer.start({ remember: remembering() }),
    large: await FarmServer.start({ all: { run: () => saying(LARGE) } }),
    legacy: await FarmServer.start({ old: { run: () => saying("of the old one") }, endless: never.legacy }),
    modern: await FarmServer.start({ fresh: { run: () => saying("of the new one") }, endless: never.modern }, { era: "modern" }),
  };
}

/** Of a person with these servers. */
function homeWith(entries: Readonly<Record<string, ServerEntry>>): Home {
  const made = newHome();
  mkdirSync(join(made.dir, ".config/mcp"), { recursive: true });
  writeFileSync(join(made.dir, ".config/mcp/mcp.json"), mcpJson(entries));
  return made;
}

beforeAll(async () => {
  servers = await startServers();
  const entries = {
    stateful: { url: servers.stateful.url },
    large: { url: servers.large.url },
    legacy: { url: servers.legacy.url },
    modern: { url: servers.modern.url, protocolVersion: "auto" },
  };
  home = homeWith(entries);
  relay = await startRelayApart({ entry: MOVED_CLOCK_ENTRY });
  agent = await relay.dial(home, { args: ["--expose", Object.keys(entries).join()] });
  const grant = await signIn(relay.worker.origin, agent.pageUrl());
  other = { url: agent.url, token: grant.accessToken };
});
afterAll(async () => {
  await agent?.[Symbol.asyncDispose]();
  await relay?.[Symbol.asyncDispose]();
  await home?.remove();
  for (const server of Object.values(servers ?? {})) if (server instanceof FarmServer) await server.stop();
});

test("A27 [PT63] [PT80] three calls of a client find the state of the one before, though the object was evicted, the link cut and the relay started anew between them", async () => {
  await using session = await SDK_CLIENTS["SDK v1"](agent);
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "claude-ai", version: "0.1.0" } };
  /** Greets before each call and brings no session. */
  const greeting = async (at: Endpoint): Promise<string> => {
    await ask(at, { id: 0, method: "initialize", params });
    return said(await callTool(at, "stateful_remember", {}));
  };
  const textOf = ({ content }: { readonly content: unknown }) => (content as readonly { readonly text: string }[])[0]?.text;
  const round = async () => [
    textOf(await session.call("stateful_remember", {})),
    await greeting(other),
    said(await callTool(other, "stateful_remember", {}, { era: "modern" })),
  ];
  const first = await round();
  await relay.worker.hibernate();
  relay.proxy.cut();
  const second = await round();
  await relay.worker.redeploy();
  const third = await round();
  // The two that bring no session and declare the same share a connection.
  const words = (...calls: readonly number[]) => calls.map((each) => `call ${each}`);
  expect([first, second, third]).toEqual([words(1, 1, 2), words(2, 3, 4), words(3, 5, 6)]);
});

test("A31 [MC1] [MC2] [PT80] a client that discovers first and then speaks as of old is answered in the era of each request, over the connections it has", async () => {
  const legacy: SendOptions = { headers: { "mcp-protocol-version": "2025-06-18" } };
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "connector", version: "1" } };
  const names = async (options: SendOptions): Promise<string[]> => {
    const { result } = await ask(other, { id: 1, method: "tools/list" }, options);
    return ((result?.["tools"] ?? []) as readonly { name: string }[]).map(({ name }) => name);
  };
  const round = async () => {
    const discovered = await ask(other, { id: 0, method: "server/discover" }, { era: "modern" });
    const greeted = await ask(other, { id: 0, method: "initialize", params });
    expect((await send(other, { method: "notifications/initialized" }, legacy)).status).toBe(202);
    expect([discovered.result, greeted.result]).toMatchObject([{ supportedVersions: [MODERN] }, { protocolVersion: "2025-06-18" }]);
    const listed = await names(legacy);
    expect(await names({ era: "modern" })).toEqual(listed);
    expect(listed).toEqual(expect.arrayContaining(["read", "legacy_old", "modern_fresh"]));
    for (const options of [legacy, { era: "modern" } as const]) {
      expect(said(await callTool(other, "legacy_old", {}, options))).toBe("of the old one");
      expect(said(await callTool(other, "modern_fresh", {}, options))).toBe("of the new one");
    }
  };
  await round();
  const connected = () => [servers.legacy, servers.modern].map((server) => server.asked("initialize") + server.asked("server/discover"));
  const before = connected();
  for (let again = 0; again < 4; again++) await round();
  expect(connected()).toEqual(before);
});

test("A57 [EE12] [WP8] [WP17] a client that stops reading holds up nobody, and is cut", async () => {
  const stuck = await send(agent, toolCall("stuck", "large_all", {}));
  expect(stuck.status).toBe(200);
  for (const at of [agent, other]) {
    for (let n = 0; n < 5; n++) expect(said(await callTool(at, "legacy_old", {}))).toBe("of the old one");
  }
  const silent = bash(other, "sleep 600").catch((error: unknown) => String(error));
  await waitUntil("it runs", () => home.processes().some((pid) => commandLine(pid) === "sleep 600"));
  // Both are silent for as long. A sign of life that comes between the jump and the relay's next look spares the one that is read.
  await waitUntil("both are over", async () => {
    await pass(relay.worker.origin, 91_000);
    return Promise.race([silent.then(() => true), sleep(2500, false)]);
  });
  expect(await silent).toContain("look before you run it again");
  expect(said(await callTool(other, "legacy_old", {}))).toBe("of the old one");
  const rest = await stuck.text().catch((error: unknown) => `cut off: ${String(error)}`);
  expect(rest.length).toBeLessThan(LARGE.length);
  expect(rest.slice(-1000)).toMatch(/^cut off|look before you run it again/);
});

test(
  "A58 A03 [WP17] [PT26] [CL16] what is never done ends with the hour, at the server too, and nothing is connected anew",
  { timeout: 90_000 },
  async () => {
    const { legacy, modern, never } = servers;
    const running = () => [never.legacy.running(), never.modern.running()];
    const connected = () => [legacy, modern].map((server) => server.asked("initialize") + server.asked("server/discover"));
    const asked = (name: string, args: object, options: SendOptions) => {
      const params = { name, arguments: args, _meta: { progressToken: "p" } };
      return send(other, { id: `${name} ${options.era}`, method: "tools/call", params }, options).then(reply);
    };
    const calls = (["legacy", "modern"] as const).flatMap((era) => [
      asked("legacy_endless", {}, { era }),
      asked("modern_endless", {}, { era }),
      asked("mcp", { tool: "legacy_endless" }, { era }),
    ]);
    const subscribe = { id: "changes", method: "subscriptions/listen", params: { notifications: { toolsListChanged: true } } };
    const changes = await send(other, subscribe, { era: "modern" });
    expect(changes.headers.get("content-type")).toContain("text/event-stream");
    await waitUntil("all of them run", () => running().join() === "4,2");
    const before = connected();
    await pass(relay.worker.origin, HOUR_MS);
    for (const answer of await Promise.all(calls)) expect(answer.error?.message).toContain("look before you run it again");
    await changes.text().catch(() => "cut off");
    await waitUntil("none runs", () => running().join() === "0,0", 10_000);
    expect(connected()).toEqual(before);
    expect(said(await callTool(other, "legacy_old", {}))).toBe("of the old one");
  },
);

/** Connections to one upstream: for one client, and the one of `mcp`. */
const AT_MOST = 8 + 1;

test(
  "A13 [PT60] [PT81] two hundred sessions that are opened and left are served, and few of them stay at a server",
  { timeout: 120_000 },
  async () => {
    await using server = await FarmServer.start({ remember: remembering() });
    await using own = homeWith({ server: { url: server.url } });
    await using forgotten = await startPimcp({ home: own, args: ["--expose", "server"] });
    for (let round = 0; round < 25; round++) {
      const answers = await Promise.all(Array.from({ length: 8 }, () => inNewSession(forgotten, "remember", {})));
      expect(answers).toEqual(answers.map(() => "call 1"));
    }
    await waitUntil("few are left", () => server.sessions <= AT_MOST);
    expect(server.asked("initialize")).toBeGreaterThanOrEqual(200);
  },
);

test("A13 [PT81] so it is with the processes of a server on pipes", { timeout: 120_000 }, async () => {
  const journal = join(home.dir, "journal");
  await using own = homeWith({ server: fixtureEntry("legacy-only", ["--journal", journal]) });
  await using forgotten = await startPimcp({ home: own, args: ["--expose", "server"] });
  const started = () => readJournal(journal).flatMap(({ event, pid }) => (event === "start" ? [pid] : []));
  for (let round = 0; round < 4; round++) {
    const answers = await Promise.all(Array.from({ length: 5 }, () => inNewSession(forgotten, "echo", { text: "x" })));
    expect(answers).toEqual(answers.map(() => "x"));
  }
  expect(started().length).toBeGreaterThanOrEqual(20);
  await waitUntil("few are left", () => started().filter(isAlive).length <= AT_MOST);
});

/** Opens a session, calls once, and never comes back. */
async function inNewSession(at: Endpoint, tool: string, args: Record<string, unknown>): Promise<string> {
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "forgetful", version: "1" } };
  const greeted = await send(at, { id: 0, method: "initialize", params });
  const id = greeted.headers.get("mcp-session-id") ?? "";
  await greeted.text();
  expect(id).not.toBe("");
  return said(await callTool(at, tool, args, { headers: { "mcp-session-id": id } }));
}
