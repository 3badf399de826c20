/** The extension in programs that embed Pi: a configuration given whole, several at once, sessions that never begin, other extensions. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { SessionManager } from "@earendil-works/pi-coding-agent";
import { describe, expect, test, vi } from "vitest";
import { createMcpAdapter, MCP_STATUS_EVENT, MCP_TOOL_APPROVAL_REQUEST_EVENT } from "../../../local-agent/pi/sdk/root.ts";
import type { McpToolApprovalRequest } from "../../../local-agent/pi/approval-broker.ts";
import { packageWarnings } from "../../../local-agent/pi/package-servers.ts";
import type { McpStatusSnapshot } from "../../../local-agent/pi/mcp-status.ts";
import { isAlive } from "../../support/alive.ts";
import { type EmbeddedPi, embedPi, piHome } from "../../support/pi-sdk-session.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { fixtureCommand, readJournal } from "../../support/upstream-fixture.ts";
import { waitUntil } from "../../support/wait-until.ts";

interface Upstream {
  readonly entry: Record<string, unknown>;
  /** Pids of those that live. */
  readonly living: () => number[];
  readonly calls: () => string[];
}

function upstream(name: string, more: Record<string, unknown> = {}): Upstream {
  const journal = join(tempDir(), "journal");
  const pids = (): number[] => readJournal(journal).flatMap(({ event, pid }) => (event === "start" ? [pid] : []));
  return {
    entry: { ...fixtureCommand(name, "--journal", journal), ...more },
    living: () => pids().filter(isAlive),
    calls: () => readJournal(journal).flatMap(({ tool }) => tool ?? []),
  };
}

const ECHO = 'mcp {"tool":"good_echo","args":{"text":"hello"}}';

describe("a configuration that is given whole", () => {
  test("[PI3] is a copy, reads and writes no file, and works with what needs none", async () => {
    const { project } = piHome();
    writeFileSync(join(project, ".mcp.json"), JSON.stringify({ mcpServers: { other: { command: "false" } } }));
    const good = upstream("good");
    const config = { mcpServers: { good: good.entry } };
    const extension = createMcpAdapter({ config });
    config.mcpServers.good = { command: "false" };
    const pi = await embedPi(project, [extension]);
    await pi.begin();
    const [called, listed] = await pi.calls(ECHO, "mcp {}");
    expect(called).toMatchObject({ text: "hello", isError: false });
    expect(listed?.text).not.toContain("other");
    await pi.session.prompt("/mcp disable good");
    expect(JSON.stringify(pi.session.messages.at(-1))).toContain("/mcp disable is not available here");
    await pi.session.prompt("/mcp");
    expect(JSON.stringify(pi.session.messages.at(-1))).toContain("good: connected");
    expect(existsSync(join(project, ".pi"))).toBe(false);
  });

  test("[PI7] two in one process have servers of their own, and the end of one is not felt by the other", async () => {
    const { project } = piHome();
    const [one, two] = [upstream("good"), upstream("legacy-only")];
    const first = await embedPi(project, [createMcpAdapter({ config: { mcpServers: { good: one.entry } } })]);
    const second = await embedPi(project, [createMcpAdapter({ config: { mcpServers: { plain: two.entry } } })]);
    await Promise.all([first.begin(), second.begin()]);
    expect((await first.calls(ECHO))[0]).toMatchObject({ text: "hello" });
    expect((await second.calls(ECHO))[0]).toMatchObject({ isError: true });
    expect((await second.calls('mcp {"tool":"plain_echo","args":{"text":"me too"}}'))[0]).toMatchObject({ text: "me too" });
    first.dispose();
    await waitUntil("the first one's server has ended", () => one.living().length === 0);
    expect((await second.calls('mcp {"tool":"plain_echo","args":{"text":"still"}}'))[0]).toMatchObject({ text: "still" });
    expect(two.living()).toHaveLength(1);
  });
});

test("[PI6] a file that is named takes the place of the one in Pi's directory, and the others count as ever", async () => {
  const { home, project } = piHome();
  const off = (name: string): string => JSON.stringify({ mcpServers: { [name]: { command: "false", disabled: true } } });
  mkdirSync(join(home, "agent"));
  writeFileSync(join(home, "agent/mcp.json"), off("of_pi"));
  writeFileSync(join(home, "named.json"), off("named"));
  writeFileSync(join(project, ".mcp.json"), off("of_project"));
  const pi = await embedPi(project, [createMcpAdapter({ configPath: join(home, "named.json") })]);
  await pi.begin();
  await pi.session.prompt("/mcp status");
  const said = JSON.stringify(pi.session.messages.at(-1));
  expect(["named", "of_project", "of_pi"].map((name) => said.includes(`${name}: disabled`))).toEqual([true, true, false]);
});

describe("/mcp status", () => {
  const off = (name: string) => ({ [name]: { command: "false", disabled: true } });
  const manifest = (mcp?: string) => ({ name: "x", pi: { extensions: [], ...(mcp !== undefined && { mcp }) } });
  const put = (path: string, content: unknown): void => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, JSON.stringify(content));
  };

  test("[PI68] [PI70] tells of packages whose servers are not started, and of other programs' files", async () => {
    const { home, project } = piHome();
    put(join(home, "brings/package.json"), manifest("./mcp.json"));
    put(join(home, "agent/mcp.json"), { mcpServers: off("both"), settings: { hostConfigDiscovery: "prompt" } });
    put(join(home, ".cursor/mcp.json"), { mcpServers: { ...off("both"), ...off("theirs") } });
    const pi = await embedPi(project, [createMcpAdapter()], undefined, { packages: [join(home, "brings")] });
    await pi.begin();
    await pi.session.prompt("/mcp status");
    const said = JSON.stringify(pi.session.messages.at(-1));
    expect(said).toContain(`${join(home, "brings/package.json")}: the servers that this Pi package names`);
    expect(said).toContain(`Found and not used: ${join(home, ".cursor/mcp.json")} with both (configured already), theirs.`);
  });

  test("[PI68] finds packages where Pi puts them, and says nothing of those without servers", async () => {
    const { home, project } = piHome();
    const agent = join(home, "agent");
    put(join(agent, "npm/node_modules/@of/npm/package.json"), manifest("./mcp.json"));
    put(join(project, ".pi/git/example.com/of/git/package.json"), manifest("./mcp.json"));
    put(join(agent, "local/package.json"), manifest("./mcp.json"));
    put(join(agent, "plain/package.json"), manifest());
    const packages = ["npm:@of/npm@1.2.3", "git:git@example.com:of/git@main", { source: "./local" }, "./plain", "npm:gone"];
    const found = await packageWarnings({ getSettings: () => ({ packages }) } as Partial<ExtensionAPI> as ExtensionAPI, project);
    expect(found.map(({ file }) => file)).toEqual([
      join(agent, "npm/node_modules/@of/npm/package.json"),
      join(project, ".pi/git/example.com/of/git/package.json"),
      join(agent, "local/package.json"),
    ]);
  });
});

describe("a program that begins no session", () => {
  test("[PI10] [PI11] [PI12] only what is to be connected at once is, and a session that begins later has the only process", async () => {
    const { project } = piHome();
    const [eager, lazy] = [upstream("good", { lifecycle: "eager" }), upstream("legacy-only")];
    const pi = await embedPi(project, [createMcpAdapter({ config: { mcpServers: { good: eager.entry, plain: lazy.entry } } })]);
    await waitUntil("the eager server has started", () => eager.living().length === 1);
    await pi.begin();
    await waitUntil("one process is left", () => eager.living().length === 1 && pi.tools().includes("mcp"));
    expect((await pi.calls(ECHO))[0]).toMatchObject({ text: "hello" });
    expect(eager.living()).toHaveLength(1);
    pi.dispose();
    await waitUntil("nothing is left", () => eager.living().length + lazy.living().length === 0);
  });
});

describe("beside other extensions", () => {
  test("[PI4] [PI5] servers they register are there at once, below what files say, and go with their registration", async () => {
    const { project } = piHome();
    const [brought, later] = [upstream("good", { directTools: ["echo"] }), upstream("legacy-only")];
    let other: ExtensionAPI | undefined;
    const pi = await embedPi(project, [
      createMcpAdapter(),
      (api) => {
        other = api;
        api.registerMcpServer("good", brought.entry as never);
        api.registerMcpServer("off", { command: "false" });
      },
    ]);
    writeFileSync(join(project, ".mcp.json"), JSON.stringify({ mcpServers: { off: { disabled: true } } }));
    await pi.begin();
    expect((await pi.calls(ECHO))[0]).toMatchObject({ text: "hello" });
    expect((await pi.calls("mcp {}"))[0]?.text).toMatch(/"off".*disabled/);
    await waitUntil("its direct tool is there", () => pi.tools().includes("good_echo"));
    other?.registerMcpServer("plain", later.entry as never);
    other?.unregisterMcpServer("good");
    await waitUntil("it is gone", () => brought.living().length === 0 && !pi.tools().includes("good_echo"));
    const [gone, added] = await pi.calls('good_echo {"text":"x"}', 'mcp {"tool":"plain_echo","args":{"text":"new"}}');
    expect(gone).toMatchObject({ isError: true, text: expect.stringContaining("not found") as string });
    expect(added).toMatchObject({ text: "new", isError: false });
  });

  test("[PI55] they are told how the servers stand: at the start, at changes, and an empty report at the end", async () => {
    const { project } = piHome();
    const told: McpStatusSnapshot[] = [];
    const good = upstream("good");
    const config = { mcpServers: { good: good.entry, off: { command: "false", disabled: true } } };
    const pi = await embedPi(project, [
      createMcpAdapter({ config }),
      (api) => void api.events.on(MCP_STATUS_EVENT, (snapshot) => told.push(snapshot as McpStatusSnapshot)),
    ]);
    await pi.begin();
    expect(told[0]).toMatchObject({ version: 1, connectedCount: 0, disabledCount: 1, totalTools: 0 });
    await pi.calls(ECHO);
    await waitUntil("it is told of the connection", () => told.at(-1)?.connectedCount === 1);
    expect(told.at(-1)).toMatchObject({
      totalTools: 12,
      totalResources: 2,
      servers: [
        { name: "good", status: "connected", toolCount: 12 },
        { name: "off", status: "disabled" },
      ],
    });
    await pi.session.extensionRunner.emit({ type: "session_shutdown", reason: "quit" });
    expect(told.at(-1)).toEqual({ version: 1, servers: [], totalTools: 0, totalResources: 0, connectedCount: 0, disabledCount: 0 });
  });

  test("[PI69] who asks for a server of its own on the adapter's channels is told of Pi's call", async () => {
    const { project } = piHome();
    let other: ExtensionAPI | undefined;
    const pi = await embedPi(project, [createMcpAdapter({ config: {} }), (api) => void (other = api)]);
    await pi.begin();
    for (const channel of ["pi-mcp-adapter:runtime-register:v1", "pi-mcp-adapter:runtime-snapshot:v1"]) {
      const request: { version: 1; name: string; result?: { ok: boolean; error: Error } } = { version: 1, name: "mine" };
      other?.events.emit(channel, request);
      expect(request.result?.ok).toBe(false);
      expect(request.result?.error.message).toContain("pi.registerMcpServer(name, config)");
      const answered = { result: "by another one" };
      other?.events.emit(channel, answered);
      expect(answered).toEqual({ result: "by another one" });
    }
  });

  test("[PI20] whoever claims a call first decides about it, and who fails to has denied it", async () => {
    const { project } = piHome();
    const good = upstream("good");
    const asked: McpToolApprovalRequest[] = [];
    let decide: () => unknown = () => "abstain";
    const broker = (api: ExtensionAPI): void => {
      api.events.on(MCP_TOOL_APPROVAL_REQUEST_EVENT, (event) => {
        const request = event as McpToolApprovalRequest;
        asked.push(request);
        request.claim(() => decide() as never);
      });
    };
    const second = (api: ExtensionAPI): void => {
      api.events.on(MCP_TOOL_APPROVAL_REQUEST_EVENT, (event) => (event as McpToolApprovalRequest).claim(() => "allow_once"));
    };
    const config = { settings: { approveTools: ["good_add"] }, mcpServers: { good: good.entry } };
    const pi = await embedPi(project, [createMcpAdapter({ config }), broker, second]);
    await pi.begin();
    const add = 'mcp {"tool":"good_add","args":{"a":1,"b":2}}';
    const answer = async (next: () => unknown, line = add): Promise<unknown> => {
      decide = next;
      return (await pi.calls(line))[0]?.details["error"] ?? "ran";
    };
    expect(await answer(() => "abstain")).toBe("approval_required");
    expect(await answer(() => "allow_once")).toBe("ran");
    expect(await answer(() => "deny")).toBe("approval_denied");
    expect(await answer(() => "whatever")).toBe("approval_denied");
    expect(
      await answer(() => {
        throw new Error("broken");
      }),
    ).toBe("approval_denied");
    expect(await answer(() => "deny", ECHO)).toBe("approval_denied");
    expect(await answer(() => "abstain", ECHO)).toBe("ran");
    expect(asked[0]).toMatchObject({
      serverName: "good",
      originalToolName: "add",
      prefixedToolName: "good_add",
      args: { a: 1, b: 2 },
      origin: "proxy",
    });
    expect(good.calls()).toEqual(["add", "echo"]);
  });
});

describe("what was allowed for the session", () => {
  test("[PI23] is kept with the session's branch: a later run of it asks no more, another session does", async () => {
    const { project } = piHome();
    const good = upstream("good");
    const config = { settings: { approveTools: true }, mcpServers: { good: good.entry } };
    const allow = (api: ExtensionAPI): void => {
      api.events.on(MCP_TOOL_APPROVAL_REQUEST_EVENT, (event) => (event as McpToolApprovalRequest).claim(() => "allow_for_session"));
    };
    const kept = SessionManager.inMemory(project);
    const first = await embedPi(project, [createMcpAdapter({ config }), allow], kept);
    await first.begin();
    expect((await first.calls(ECHO))[0]).toMatchObject({ text: "hello" });
    first.dispose();
    const entry = kept.getBranch().find((each) => each.type === "custom" && each.customType === "mcp-approval-v1");
    expect(entry).toMatchObject({ data: { version: 1, kind: "tool", decision: "allow_for_session", serverName: "good", originalToolName: "echo" } });
    const resumed = await embedPi(project, [createMcpAdapter({ config })], kept);
    await resumed.begin();
    expect((await resumed.calls(ECHO))[0]).toMatchObject({ text: "hello" });
    expect((await resumed.calls(ECHO.replace("hello", "other")))[0]).toMatchObject({ details: { error: "approval_required" } });
  });

  test("[PI23] does not hold on a branch where it was not allowed, and holds again on the one where it was", async () => {
    const { project } = piHome();
    const config = { settings: { approveTools: true }, mcpServers: { good: upstream("good").entry } };
    let answer: "allow_for_session" | "abstain" = "abstain";
    const broker = (api: ExtensionAPI): void => {
      api.events.on(MCP_TOOL_APPROVAL_REQUEST_EVENT, (event) => (event as McpToolApprovalRequest).claim(() => answer));
    };
    const kept = SessionManager.inMemory(project);
    const pi = await embedPi(project, [createMcpAdapter({ config }), broker], kept);
    await pi.begin();
    await pi.calls("mcp {}");
    const before = kept.getLeafId() ?? "";
    answer = "allow_for_session";
    expect((await pi.calls(ECHO))[0]).toMatchObject({ text: "hello" });
    answer = "abstain";
    const after = kept.getLeafId() ?? "";
    await pi.session.navigateTree(before);
    expect((await pi.calls(ECHO))[0]).toMatchObject({ details: { error: "approval_required" } });
    await pi.session.navigateTree(after);
    expect((await pi.calls(ECHO))[0]).toMatchObject({ text: "hello" });
  });
});

test("[PI74] a search finds what Pi has itself first, and none of the adapter's own tools", async () => {
  const { project } = piHome();
  const extension = (api: ExtensionAPI): void =>
    api.registerTool({
      name: "echo_back",
      label: "Echo",
      description: "Says a text again",
      parameters: { type: "object", properties: {} },
      execute: () => Promise.resolve({ content: [], details: {} }),
    });
  const pi = await embedPi(project, [createMcpAdapter({ config: { mcpServers: { good: upstream("good").entry } } }), extension]);
  await pi.begin();
  await pi.calls('mcp {"connect":"good"}');
  const [found] = await pi.calls('mcp {"search":"echo"}');
  expect(found?.text.indexOf("echo_back")).toBeGreaterThanOrEqual(0);
  expect(found?.text.indexOf("echo_back")).toBeLessThan(found?.text.indexOf("good_echo") ?? -1);
  expect((await pi.calls('mcp {"search":"mcp"}'))[0]?.text).not.toMatch(/mcpScript|mcp__good/);
});

describe("direct tools", () => {
  test("[PI57] [PI59] follow what the server offers unless frozen, and MCP_DIRECT_TOOLS chooses them for one run", async () => {
    const { project } = piHome();
    const grow = 'mcp {"tool":"good_grow"}';
    const run = async (settings: Record<string, unknown>): Promise<readonly string[]> => {
      const good = upstream("good", { directTools: true, excludeTools: ["read_*"] });
      const pi = await embedPi(project, [createMcpAdapter({ config: { settings, mcpServers: { good: good.entry } } })]);
      await pi.begin();
      await pi.calls('mcp {"connect":"good"}');
      await waitUntil("the tools are there", () => pi.tools().includes("good_grow"));
      await pi.calls(grow);
      if (settings["freezeDirectTools"] !== true) await waitUntil("the new one is there", () => pi.tools().includes("good_grown"));
      await pi.calls(ECHO);
      const tools = pi.tools();
      pi.dispose();
      return tools;
    };
    expect(await run({})).toContain("good_grown");
    expect(await run({ freezeDirectTools: true })).not.toContain("good_grown");
    vi.stubEnv("MCP_DIRECT_TOOLS", "good/grow");
    expect(await run({ freezeDirectTools: true })).toEqual(["mcp", "mcpScript", "good_grow"]);
  });
});

test("[PI65] a server's own tool is registered without being shown, calls that server's tools where it is named, and can be turned off", async () => {
  const { project } = piHome();
  const run = async (settings: Record<string, unknown>): Promise<EmbeddedPi> => {
    const pi = await embedPi(project, [createMcpAdapter({ config: { settings, mcpServers: { good: upstream("good").entry } } })]);
    await pi.begin();
    await pi.calls('mcp {"connect":"good"}');
    return pi;
  };
  const registered = ({ session }: EmbeddedPi): boolean => session.getAllTools().some(({ name }) => name === "mcp__good");
  const pi = await run({});
  await waitUntil("it is registered", () => registered(pi));
  expect(pi.tools()).toEqual(["mcp", "mcpScript"]);
  pi.session.setActiveToolsByName(["mcp__good"]);
  const [named, other] = await pi.calls('mcp__good {"tool":"echo","args":{"text":"named"}}', 'mcp__good {"tool":"nothing_like_it"}');
  expect(named).toMatchObject({ text: "named", isError: false });
  expect(other).toMatchObject({ isError: true, details: { error: "tool_not_found" } });
  expect(registered(await run({ namespaceProxyTools: false }))).toBe(false);
});
