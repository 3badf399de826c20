/** What a session of Pi is told and shown beside its tools: mistakes, debugging lines, the skill, and a second adapter beside the first. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ExtensionUIContext } from "@earendil-works/pi-coding-agent";
import { describe, expect, test } from "vitest";
import { createMcpAdapter } from "../../../local-agent/pi/sdk/root.ts";
import { lets } from "../../../local-agent/pi/scripting-skill.ts";
import { type EmbeddedPi, embedPi, piHome } from "../../support/pi-sdk-session.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { fixtureCommand } from "../../support/upstream-fixture.ts";
import { waitUntil } from "../../support/wait-until.ts";

const repository = join(import.meta.dirname, "../../..");

function put(path: string, content: unknown): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
}

/** Begins the session with a person who reads notes. */
async function withNotes(pi: EmbeddedPi): Promise<string[]> {
  const notes: string[] = [];
  const ui = { notify: (text: string, level = "info") => void notes.push(`${level}: ${text}`), setStatus: () => {} };
  await pi.begin({ uiContext: ui as unknown as ExtensionUIContext, mode: "tui" });
  return notes;
}

describe("mistakes in the configuration", () => {
  test("[PI77] are told at the start, also where no server is left", async () => {
    const { project } = piHome();
    put(join(project, ".mcp.json"), "{ broken");
    const pi = await embedPi(project, [createMcpAdapter()]);
    const notes = await withNotes(pi);
    expect(notes).toHaveLength(1);
    expect(notes[0]).toMatch(/^warning: MCP configuration: .*\.mcp\.json: .*the file is skipped\.$/);
  });

  test("[PI77] are counted where there are several, and nothing is said where there is none", async () => {
    const { project } = piHome();
    put(join(project, ".mcp.json"), { mcpServers: { one: { command: 1 }, two: { url: 2 }, fine: { command: "false", disabled: true } } });
    const notes = await withNotes(await embedPi(project, [createMcpAdapter()]));
    expect(notes).toEqual([expect.stringMatching(/\(one\): .*\. \/mcp status shows 1 more\.$/)]);
    put(join(project, ".mcp.json"), { mcpServers: { fine: { command: "false", disabled: true } } });
    expect(await withNotes(await embedPi(project, [createMcpAdapter()]))).toEqual([]);
  });
});

test("[PI78] what a server with debug writes is shown to the person, of another one nothing is", async () => {
  const { project } = piHome();
  const dying = { ...fixtureCommand("dying", "--at", "start", "--says", "I am \u001b[31mill"), lifecycle: "lazy" };
  const config = { mcpServers: { shown: { ...dying, debug: true }, silent: dying } };
  const pi = await embedPi(project, [createMcpAdapter({ config })]);
  const notes = await withNotes(pi);
  await pi.calls('mcp {"connect":"shown"}', 'mcp {"connect":"silent"}');
  await waitUntil("it is shown", () => notes.some((note) => note.startsWith("info: shown: I am")));
  expect(notes.join("\n")).not.toContain("\u001b");
  expect(notes.filter((note) => note.startsWith("info: silent"))).toEqual([]);
});

describe("the skill on scripts", () => {
  const off = { command: "false", lifecycle: "lazy" };
  const skillsOf = async (settings: Record<string, unknown>, packages: Parameters<typeof embedPi>[3] = {}): Promise<readonly string[]> => {
    const { project } = piHome();
    const pi = await embedPi(project, [createMcpAdapter({ config: { settings, mcpServers: { off } } })], undefined, packages);
    await pi.begin();
    return pi.session.resourceLoader.getSkills().skills.map(({ name }) => name);
  };

  test("[PI81] is there with mcpScript and hidden with it", async () => {
    expect(await skillsOf({})).toEqual(["mcp-scripting"]);
    expect(await skillsOf({ scriptMode: false })).toEqual([]);
  });

  test("[PI81] is hidden where Pi's settings hide the package's skills", async () => {
    const extensions: string[] = [];
    const another = tempDir();
    expect(await skillsOf({}, { packages: [{ source: repository, extensions, skills: [] }] })).toEqual([]);
    expect(await skillsOf({}, { packages: [{ source: repository, extensions }, another] })).toEqual(["mcp-scripting"]);
    expect(await skillsOf({}, { packages: [{ source: another, extensions, skills: [] }] })).toEqual(["mcp-scripting"]);
  });

  test.each([
    [[], false],
    [["skills"], true],
    [["./skills/mcp-scripting"], true],
    [["skills/*"], true],
    [["other-*"], false],
    [["!mcp-*"], false],
    [["!other-*"], true],
    [["skills/*", "!mcp-scripting"], false],
    [["!*", "+skills/mcp-scripting/SKILL.md"], true],
    [["skills/*", "-skills/mcp-scripting/SKILL.md"], false],
  ])("[PI81] the filter %j lets it through: %s", (filter, expected) => {
    expect(lets(filter)).toBe(expected);
  });
});

test("[PI80] a second adapter in one session goes by other names, and each reaches its own servers", async () => {
  const { project } = piHome();
  const adapter = (name: string, fixture: string) => createMcpAdapter({ config: { mcpServers: { [name]: fixtureCommand(fixture) } } });
  const pi = await embedPi(project, [adapter("good", "good"), adapter("plain", "legacy-only")]);
  const notes = await withNotes(pi);
  expect(pi.tools()).toEqual(expect.arrayContaining(["mcp", "mcpScript", "mcp_2", "mcpScript_2"]));
  expect(notes).toEqual(["warning: Another extension has the tool mcp. The model reaches these MCP servers by mcp_2: plain."]);
  const [first, second, foreign, script] = await pi.calls(
    'mcp {"tool":"good_echo","args":{"text":"one"}}',
    'mcp_2 {"tool":"plain_echo","args":{"text":"two"}}',
    'mcp {"tool":"plain_echo","args":{"text":"three"}}',
    'mcpScript_2 {"code":"return (await tools.plain_echo({text: \\"four\\"})).data.content[0].text"}',
  );
  expect(first).toMatchObject({ text: "one", isError: false });
  expect(second).toMatchObject({ text: "two", isError: false });
  expect(foreign).toMatchObject({ isError: true });
  expect(script).toMatchObject({ text: "four", isError: false });
});

describe("/mcp", () => {
  const said = (pi: EmbeddedPi): string => JSON.stringify(pi.session.messages.at(-1));

  test("[PI79] config says which file set what, of one server or of all, and shows no secret", async () => {
    const { home, project } = piHome();
    put(join(home, ".config/mcp/mcp.json"), {
      mcpServers: { a: { url: "https://a.example/mcp", headers: { Authorization: "s3cret" } }, b: { command: "b" } },
    });
    put(join(project, ".mcp.json"), { mcpServers: { a: { disabled: true } } });
    const pi = await embedPi(project, [createMcpAdapter()]);
    await pi.begin();
    await pi.session.prompt("/mcp config a");
    expect(said(pi)).toContain("— ~/.config/mcp/mcp.json");
    expect(said(pi)).toMatch(/disabled +true +— [^"]*\.mcp\.json/);
    expect(said(pi)).not.toContain("s3cret");
    expect(said(pi)).not.toContain("command");
    await pi.session.prompt("/mcp config");
    expect(said(pi)).toContain("Files, the later ones go before the earlier");
    await pi.session.prompt("/mcp config c");
    expect(said(pi)).toContain("There is no MCP server c");
  });

  test("[PI62] enables what the file that was named for this run disables", async () => {
    const { home, project } = piHome();
    const named = join(home, "named.json");
    put(named, { mcpServers: { off: { command: "false", disabled: true } } });
    const pi = await embedPi(project, [createMcpAdapter({ configPath: named })]);
    await pi.begin();
    await pi.session.prompt("/mcp enable off");
    const file = join(project, ".pi/mcp.json");
    expect(said(pi)).toContain(`off is enabled in ${file}`);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ mcpServers: { off: { disabled: false } } });
  });

  test("[PI62] enables what another extension registered as disabled", async () => {
    const { project } = piHome();
    const pi = await embedPi(project, [createMcpAdapter(), (api) => api.registerMcpServer("off", { command: "false", enabled: false })]);
    await pi.begin();
    await pi.session.prompt("/mcp enable off");
    expect(existsSync(join(project, ".pi/mcp.json"))).toBe(true);
    expect(JSON.parse(readFileSync(join(project, ".pi/mcp.json"), "utf8"))).toEqual({ mcpServers: { off: { disabled: false } } });
  });
});
