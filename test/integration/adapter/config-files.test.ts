import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { createConfigFiles, type ConfigFilesOptions } from "../../../local-agent/node/config-files.ts";
import { configPathOf, globalConfigFiles } from "../../../local-agent/node/config-places.ts";
import type { ConfiguredServer, UpstreamConfig } from "../../../local-agent/adapter/config/server-definition.ts";
import { trustSubject } from "../../../local-agent/adapter/upstream/trust.ts";
import { shownServer } from "../../../local-agent/desk/server-trust.ts";
import { tempDir } from "../../support/temp-dir.ts";

interface Machine {
  readonly home: string;
  readonly cwd: string;
  /** Paths are below the home directory; objects are written as JSON. */
  readonly write: (files: Readonly<Record<string, unknown>>) => void;
  readonly load: (options?: Partial<ConfigFilesOptions>) => Promise<UpstreamConfig>;
}

function machine(files: Readonly<Record<string, unknown>> = {}): Machine {
  const home = tempDir("upstream-config");
  const cwd = join(home, "work");
  mkdirSync(cwd);
  const write = (some: Readonly<Record<string, unknown>>): void => {
    for (const [path, content] of Object.entries(some)) {
      mkdirSync(dirname(join(home, path)), { recursive: true });
      writeFileSync(join(home, path), typeof content === "string" ? content : JSON.stringify(content));
    }
  };
  write(files);
  const usual = { cwd, home, env: {}, platform: "linux", trustsProjectSettings: () => true };
  return { home, cwd, write, load: (options) => createConfigFiles({ ...usual, ...options }).load() };
}

const servers = (command: string, name = "x") => ({ mcpServers: { [name]: { command } } });

function commandOf(server: ConfiguredServer | undefined): string {
  if (server === undefined || server.state === "invalid" || server.definition.transport.kind !== "stdio") return "";
  return server.definition.transport.command;
}

const PLACES = [".config/mcp/mcp.json", ".agents/mcp.json", ".agents/mcp/mcp.json", ".pi/agent/mcp.json", "work/.mcp.json", "work/.pi/mcp.json"];

describe("the files", () => {
  test("[UC1] are read from the account's to the project's, and the last one wins", async () => {
    const { home, write, load } = machine();
    for (const [index, place] of PLACES.entries()) {
      write({ [place]: { mcpServers: { x: { command: `c${index}` }, [`only${index}`]: { command: "o" } } } });
      expect(commandOf((await load()).servers.get("x"))).toBe(`c${index}`);
    }
    const { servers: found, sources } = await load();
    expect([...found.keys()]).toEqual(["x", "only0", "only1", "only2", "only3", "only4", "only5"]);
    expect(sources.map(({ origin, found: there }) => [origin.file, there])).toEqual(PLACES.map((place) => [join(home, place), true]));
  });

  test("nothing configured is an empty configuration without warnings", async () => {
    const { load } = machine();
    const config = await load();
    expect(config.servers.size).toBe(0);
    expect(config.warnings).toEqual([]);
    expect(config.sources.map(({ found }) => found)).toEqual(PLACES.map(() => false));
  });

  test("[UC2] the agent directory can lie elsewhere", async () => {
    const { home, load } = machine({ "elsewhere/mcp.json": servers("e"), ".pi/agent/mcp.json": servers("a") });
    expect(commandOf((await load({ env: { PI_CODING_AGENT_DIR: join(home, "elsewhere") } })).servers.get("x"))).toBe("e");
    expect(commandOf((await load({ env: { PI_CODING_AGENT_DIR: "~/elsewhere" } })).servers.get("x"))).toBe("e");
  });

  test("[UC2] a program built on Pi has names of its own", async () => {
    const { home, load } = machine({
      "tau/package.json": { name: "tau-coding", piConfig: { name: "tau", configDir: ".tau" } },
      ".tau/agent/mcp.json": servers("agent", "a"),
      "work/.tau/mcp.json": servers("project", "b"),
      "other/mcp.json": servers("other", "c"),
      ".pi/agent/mcp.json": servers("pi", "d"),
    });
    const env = { PI_PACKAGE_DIR: join(home, "tau") };
    expect([...(await load({ env })).servers.keys()]).toEqual(["a", "b"]);
    expect([...(await load({ env: { ...env, TAU_CODING_AGENT_DIR: "~/other" } })).servers.keys()]).toEqual(["c", "b"]);
  });

  test("[UC2] a manifest cannot lead out of the project", async () => {
    const { home, load } = machine({
      "tau/package.json": { piConfig: { configDir: "../evil" } },
      "evil/mcp.json": servers("evil"),
      ".pi/agent/mcp.json": servers("pi"),
    });
    expect(commandOf((await load({ env: { PI_PACKAGE_DIR: join(home, "tau") } })).servers.get("x"))).toBe("pi");
  });

  test.each<[readonly string[], string | null]>([
    [["--mcp-config", "a=b.json"], "a=b.json"],
    [["--mcp-config=a=b.json"], "a=b.json"],
    [["-p", "--mcp-config", "-x"], null],
    [["--mcp-config", "@file"], null],
    [["--mcp-config="], null],
    [["--mcp-config"], null],
    [["--", "--mcp-config", "a.json"], null],
  ])("[UC3] %j names %s", (argv, expected) => {
    expect(configPathOf(argv)).toBe(expected);
  });

  test("[UC3] a named file stands in the place of the agent directory's; the host's code goes before the flag", async () => {
    const { load } = machine({
      ".agents/mcp.json": servers("u", "u"),
      ".pi/agent/mcp.json": servers("a", "a"),
      "work/given.json": servers("g", "g"),
      "work/code.json": servers("c", "c"),
    });
    const argv = ["--mcp-config", "given.json"];
    expect([...(await load({ argv })).servers.keys()]).toEqual(["u", "g"]);
    expect([...(await load({ argv, configPath: "~/work/code.json" })).servers.keys()]).toEqual(["u", "c"]);
  });

  test("[UC4] alone counts the agent directory's or the named one, with its imports", async () => {
    const { load } = machine({
      ".agents/mcp.json": servers("u", "u"),
      ".pi/agent/mcp.json": {
        ...servers("a", "a"),
        imports: ["cursor"],
        settings: { hostConfigDiscovery: "on", ancestorConfigRoots: ["~/"], agentPluginPaths: ["~/none"] },
      },
      ".cursor/mcp.json": servers("i", "i"),
      ".windsurf/mcp.json": servers("w", "w"),
      "work/.mcp.json": servers("p", "p"),
      ".mcp.json": servers("h", "h"),
      "work/given.json": servers("g", "g"),
    });
    const env = { PI_MCP_CONFIG_MODE: "exclusive" };
    const { servers: found, sources, warnings } = await load({ env });
    expect([...found.keys()]).toEqual(["i", "a"]);
    expect(sources.map(({ origin }) => origin.layer)).toEqual(["agent-dir", "import"]);
    expect(warnings).toEqual([]);
    expect([...(await load({ env, argv: ["--mcp-config=given.json"] })).servers.keys()]).toEqual(["g"]);
  });

  test.each(["", " \n", "\uFEFF", "// nothing yet\n", "/* nothing */"])("[UC5] %j is like no file", async (content) => {
    const { load } = machine({ "work/.mcp.json": content });
    expect(await load()).toMatchObject({ warnings: [] });
  });

  test("[UC5] comments and trailing commas are allowed", async () => {
    const { load } = machine({ "work/.mcp.json": `\uFEFF// mine\n{ "mcpServers": { "x": { "command": "c", /* why */ }, }, }` });
    expect(commandOf((await load()).servers.get("x"))).toBe("c");
  });

  test.each<[string, (home: string) => void, RegExp]>([
    ["is not JSON", (home) => writeFileSync(join(home, "work/.mcp.json"), `{\n  "mcpServers": s3cret\n}`), /not valid JSON \(.*line 2, column 17\)/],
    ["is a directory", (home) => mkdirSync(join(home, "work/.mcp.json")), /not a regular file|cannot be read/],
    ["is a pipe", (home) => void execFileSync("mkfifo", [join(home, "work/.mcp.json")]), /not a regular file/],
    ["is too large", (home) => writeFileSync(join(home, "work/.mcp.json"), " ".repeat(16 * 1024 * 1024 + 1)), /16777217 bytes/],
    ["is nested too deep", (home) => writeFileSync(join(home, "work/.mcp.json"), `{"a":${"[".repeat(100)}${"]".repeat(100)}}`), /deeper than 64/],
    ["is nested beyond the stack", (home) => writeFileSync(join(home, "work/.mcp.json"), "[".repeat(1_000_000)), /not valid JSON|deeper/],
    ["is a link that leads nowhere in a circle", (home) => symlinkSync(".mcp.json", join(home, "work/.mcp.json")), /ELOOP/],
  ])("[UC6] one that %s is skipped with a warning, and the others count", async (_what, prepare, message) => {
    const { home, load } = machine({ ".agents/mcp.json": servers("u") });
    prepare(home);
    const { servers: found, warnings } = await load();
    expect(commandOf(found.get("x"))).toBe("u");
    expect(warnings).toEqual([{ file: join(home, "work/.mcp.json"), server: null, message: expect.stringMatching(message) }]);
    expect(warnings[0]?.message).not.toContain("s3cret");
  });

  test.skipIf(process.platform !== "linux")("[UC6] one that says it is empty and never ends is skipped", async () => {
    const { home, load } = machine({ ".agents/mcp.json": servers("u") });
    symlinkSync("/proc/self/pagemap", join(home, "work/.mcp.json"));
    const { servers: found, warnings } = await load();
    expect(commandOf(found.get("x"))).toBe("u");
    expect(warnings).toMatchObject([{ message: expect.stringMatching(/^it has more than the 16777216 bytes/) }]);
  });

  test.skipIf(process.getuid?.() === 0)("[UC6] one that may not be read is skipped", async () => {
    const { home, load } = machine({ "work/.mcp.json": servers("p") });
    chmodSync(join(home, "work/.mcp.json"), 0);
    expect((await load()).warnings[0]?.message).toContain("EACCES");
  });

  test("[UC20] an entry that cannot be used is a warning, and its neighbours count", async () => {
    const { home, load } = machine({ "work/.mcp.json": { mcpServers: { bad: { command: "a", url: "https://b" }, good: { command: "g" } } } });
    const { servers: found, warnings } = await load();
    expect(found.get("bad")).toMatchObject({ state: "invalid", problem: expect.stringContaining("exactly one") });
    expect(commandOf(found.get("good"))).toBe("g");
    expect(warnings).toMatchObject([{ file: join(home, "work/.mcp.json"), server: "bad" }]);
  });

  test("[UC11] [UC30] a project that turns a server elsewhere gets no secret and needs trust", async () => {
    const { load } = machine({
      ".agents/mcp.json": { mcpServers: { x: { url: "https://a.example", headers: { Authorization: "Bearer s3cret" } } } },
      "work/.mcp.json": { mcpServers: { x: { url: "https://evil.example" } } },
    });
    const server = (await load()).servers.get("x");
    expect(JSON.stringify(server)).not.toContain("s3cret");
    expect(server).toMatchObject({ state: "enabled", definition: { projectText: expect.stringContaining("evil.example") } });
  });

  test("[UC32] the project's settings count when the host trusts exactly this text", async () => {
    const { cwd, load } = machine({ "work/.pi/mcp.json": { settings: { samplingAutoApprove: true, directTools: true } } });
    const asked: string[] = [];
    const refused = await load({ trustsProjectSettings: ({ text, files }) => (asked.push(text, ...files), false) });
    expect(asked).toEqual([JSON.stringify({ project: cwd, settings: { samplingAutoApprove: true } }), join(cwd, ".pi/mcp.json")]);
    expect(refused.settings).toMatchObject({ samplingAutoApprove: false, directTools: true });
    expect(refused.projectSettingsText).toBe(asked[0]);
    expect(refused.warnings).toMatchObject([{ file: join(cwd, ".pi/mcp.json"), message: expect.stringContaining("until you allow them") }]);
    expect((await load()).settings.samplingAutoApprove).toBe(true);
  });
});

describe("imports", () => {
  test("[UC15] lie right below the file that asks for them, the first listed first", async () => {
    const { home, load } = machine({
      ".agents/mcp.json": { mcpServers: { a: { command: "weaker", debug: true }, b: { command: "weaker" } } },
      ".pi/agent/mcp.json": { imports: ["cursor", "windsurf"], mcpServers: { b: { command: "own" } } },
      ".cursor/mcp.json": { mcpServers: { a: { command: "cursor" }, b: { command: "cursor", args: ["1"] } } },
      ".windsurf/mcp.json": { mcpServers: { a: { command: "windsurf", args: ["2"] }, c: { command: "windsurf" } } },
    });
    const { servers: found, sources } = await load();
    expect([...found].map(([name, server]) => [name, commandOf(server)])).toEqual([
      ["a", "cursor"],
      ["b", "own"],
      ["c", "windsurf"],
    ]);
    expect(found.get("a")).toMatchObject({ definition: { entry: { command: "cursor", debug: true }, projectText: null } });
    expect(found.get("b")).toMatchObject({ definition: { origins: { args: { layer: "import", file: join(home, ".cursor/mcp.json") } } } });
    expect(sources).toContainEqual({ origin: { layer: "import", file: join(home, ".windsurf/mcp.json") }, found: true, servers: ["c"] });
  });

  test("[UC15] the first of a host's files that parses counts", async () => {
    const { home, load } = machine({
      "work/.mcp.json": { imports: ["claude-code", "codex"] },
      ".claude/mcp.json": "{ broken",
      ".claude.json": servers("second"),
      ".claude/claude_desktop_config.json": servers("third"),
      ".codex/config.toml": `model = "x"\n[mcp_servers.toml]\ncommand = "t"\nstarted = 2026-01-01\n`,
    });
    const { servers: found, warnings } = await load();
    expect([...found].map(([name, server]) => [name, commandOf(server)])).toEqual([
      ["x", "second"],
      ["toml", "t"],
    ]);
    expect(warnings).toMatchObject([{ file: join(home, ".claude/mcp.json"), message: expect.stringContaining("not valid JSON") }]);
  });

  test("[UC30] that a project asks for, or that lie in it, are its own", async () => {
    const isProjects = async (files: Readonly<Record<string, unknown>>): Promise<boolean> => {
      const server = (await machine(files).load()).servers.get("x");
      return server !== undefined && server.state !== "invalid" && server.definition.projectText !== null;
    };
    const cursor = { ".cursor/mcp.json": servers("c") };
    expect(await isProjects({ ...cursor, "work/.mcp.json": { imports: ["cursor"] } })).toBe(true);
    expect(await isProjects({ ...cursor, ".agents/mcp.json": { imports: ["cursor"] } })).toBe(false);
    expect(await isProjects({ "work/.vscode/mcp.json": { servers: { x: { command: "c" } } }, ".agents/mcp.json": { imports: ["vscode"] } })).toBe(
      true,
    );
  });

  test("[UC44] OpenCode's file is looked for up to the repository's root", async () => {
    const { home, cwd, load } = machine({
      ".agents/mcp.json": { imports: ["opencode"] },
      ".config/opencode/opencode.json": { mcp: { x: { type: "local", command: ["account"] }, y: { type: "local", command: ["y"] } } },
      "opencode.json": { mcp: { x: { type: "local", command: ["root"] } } },
    });
    expect(commandOf((await load()).servers.get("x"))).toBe("account");
    mkdirSync(join(home, ".git"));
    const { servers: found } = await load();
    expect([...found.values()].map(commandOf)).toEqual(["root", "y"]);
    writeFileSync(join(cwd, "opencode.json"), "// nothing yet");
    expect(commandOf((await load()).servers.get("x"))).toBe("root");
    writeFileSync(join(cwd, "opencode.json"), `{ "mcp": {} }`);
    expect(commandOf((await load()).servers.get("x"))).toBe("account");
  });
});

describe("hosts nobody imported", () => {
  const files = {
    ".cursor/mcp.json": { mcpServers: { x: { command: "host" }, y: { command: "host" } } },
    ".agents/mcp.json": servers("own"),
  };
  const withDiscovery = (hostConfigDiscovery: string) => machine({ ...files, ".pi/agent/mcp.json": { settings: { hostConfigDiscovery } } });

  test("[UC18] are not opened unless the settings say so", async () => {
    const { home, load } = machine(files);
    // A pipe nobody writes to: opening it would be seen as a warning.
    execFileSync("mkfifo", [join(home, ".claude.json")]);
    const { servers: found, sources, warnings } = await load();
    expect([...found.values()].map(commandOf)).toEqual(["own"]);
    expect(sources.map(({ origin }) => origin.layer)).not.toContain("host");
    expect(warnings).toEqual([]);
  });

  test("[UC18] are reported and not used with prompt", async () => {
    const { home, load } = withDiscovery("prompt");
    const { servers: found, sources } = await load();
    expect([...found.keys()]).toEqual(["x"]);
    expect(sources).toContainEqual({ origin: { layer: "host", file: join(home, ".cursor/mcp.json") }, found: true, servers: ["x", "y"] });
  });

  test("[UC18] are the weakest layer with on", async () => {
    const { servers: found } = await withDiscovery("on").load();
    expect([...found].map(([name, server]) => [name, commandOf(server)])).toEqual([
      ["x", "own"],
      ["y", "host"],
    ]);
  });
});

describe("directories of projects", () => {
  const tree = {
    "code/.mcp.json": { mcpServers: { x: { command: "far" }, far: { command: "far" } } },
    "code/team/.mcp.json": servers("near"),
    "code/team/.pi/mcp.json": servers("nearest"),
    "code/team/app/.mcp.json": servers("app", "app"),
    ".mcp.json": servers("home", "home"),
  };
  const inTree = (files: Readonly<Record<string, unknown>>) => {
    const made = machine({ ...tree, ...files });
    const cwd = join(made.home, "code/team/app");
    return { home: made.home, cwd, load: () => made.load({ cwd }) };
  };
  const roots = (...ancestorConfigRoots: readonly string[]) => ({ ".pi/agent/mcp.json": { settings: { ancestorConfigRoots } } });

  test("[UC17] share their files with the projects inside when the account's files say so", async () => {
    expect([...(await inTree({}).load()).servers.keys()]).toEqual(["app"]);
    const { servers: found } = await inTree(roots("~/code")).load();
    expect([...found].map(([name, server]) => [name, commandOf(server)])).toEqual([
      ["x", "nearest"],
      ["far", "far"],
      ["app", "app"],
    ]);
  });

  test("[UC17] count from the deepest root on", async () => {
    expect([...(await inTree(roots("~/code", "~/code/team")).load()).servers.keys()]).toEqual(["x", "app"]);
  });

  test("[UC17] belong to the project when it comes to trust", async () => {
    const far = (await inTree(roots("~/code")).load()).servers.get("far");
    expect(far).toMatchObject({ definition: { projectText: expect.stringContaining("far") } });
  });

  test("[UC17] cannot be named by a project", async () => {
    const { load } = inTree({ "code/team/app/.pi/mcp.json": { settings: { ancestorConfigRoots: ["~/code"] } } });
    const { servers: found, warnings, projectSettingsText } = await load();
    expect([...found.keys()]).toEqual(["app"]);
    expect(warnings.map(({ message }) => message)).toEqual(['the setting "ancestorConfigRoots" counts in your own files only; it is ignored']);
    expect(projectSettingsText).toBeNull();
  });

  test("[UC17] that cannot be used are each a warning", async () => {
    const { home, load } = inTree({
      "elsewhere/.mcp.json": servers("e"),
      file: "x",
      ...roots("code", "/", "~/missing", "~/file", "~/elsewhere", "~/code/team"),
    });
    const { warnings, servers: found } = await load();
    expect(warnings.map(({ file, message }) => [file, message.replace(/^.* has /, "")])).toEqual(
      [
        '"code": expected an absolute path, or one that begins with ~/; it is ignored',
        '"/": expected a directory inside the home directory; it is ignored',
        '"~/missing": expected a directory, and there is none; it is ignored',
        '"~/file": expected a directory, and there is none; it is ignored',
        '"~/elsewhere": this project is not inside it; it is ignored',
      ].map((message) => [join(home, ".pi/agent/mcp.json"), message]),
    );
    expect([...found.keys()]).toEqual(["x", "app"]);
  });

  test("[UC17] a file that is there twice by a link counts once, in the project's place", async () => {
    const { home, cwd, load } = inTree(roots("~/code"));
    rmSync(join(cwd, ".mcp.json"));
    symlinkSync(join(home, "code/team/.mcp.json"), join(cwd, ".mcp.json"));
    const { servers: found, sources } = await load();
    expect(commandOf(found.get("x"))).toBe("near");
    expect(sources.filter(({ servers: names }) => names.includes("x")).map(({ origin }) => origin.file)).toEqual(
      ["code/.mcp.json", "code/team/.pi/mcp.json", "code/team/app/.mcp.json"].map((path) => join(home, path)),
    );
  });
});

test("[UC17] two directories on the way with the same file by a link have it read once", async () => {
  const { home, load } = machine({
    "code/.mcp.json": servers("shared"),
    "code/team/app/keep": "",
    ".pi/agent/mcp.json": { settings: { ancestorConfigRoots: ["~/code"] } },
  });
  symlinkSync(join(home, "code/.mcp.json"), join(home, "code/team/.mcp.json"));
  const { sources } = await load({ cwd: join(home, "code/team/app") });
  expect(sources.filter(({ servers: names }) => names.includes("x")).map(({ origin }) => origin.file)).toEqual([join(home, "code/.mcp.json")]);
});

describe("a project's file", () => {
  test("[UC30] may be the program of an entry of the account's own: it comes with its text when it is named by a relative path", async () => {
    const entries: Record<string, unknown> = {
      bare: { command: "serve", args: ["./x"] },
      absolute: { command: "/usr/bin/serve" },
      home: { command: "~/bin/serve" },
      variable: { command: "${TOOLS}/serve" },
      elsewhere: { command: "./serve", cwd: "/opt/tools" },
      relative: { command: "./serve" },
      below: { command: "tools/serve" },
      there: { command: "../serve", cwd: "sub" },
      signed: { url: "https://a.example/mcp", requestHeadersCommand: { command: "./sign" } },
    };
    const { load, home } = machine({ ".agents/mcp.json": { mcpServers: entries } });
    const { servers: found } = await load();
    const asked = [...found.values()]
      .flatMap((server) => (server.state === "enabled" ? [trustSubject(server.definition)] : []))
      .filter((each) => each !== null);
    expect(asked.map(({ server }) => server)).toEqual(["relative", "below", "there", "signed"]);
    expect(asked[0]?.files).toEqual([join(home, ".agents/mcp.json")]);
  });

  test("[UC30] [TR2] runs nothing but what its text shows, whatever its members are called", async () => {
    const { load } = machine({
      "work/.mcp.json": `{ "mcpServers": { "x": {
        "url": "https://a.example/mcp",
        "requestHeadersCommand": { "command": "sign", "__proto__": { "args": ["--hidden"], "env": { "A": "!hidden" } } }
      } }, "__proto__": { "settings": { "scriptMode": true } } }`,
    });
    const { servers: found, projectSettingsText } = await load();
    const server = found.get("x");
    if (server === undefined || server.state === "invalid") throw new Error("expected a server");
    const { transport } = server.definition;
    expect(transport.kind === "http" && transport.requestHeadersCommand).toMatchObject({ command: "sign", args: [], env: {} });
    const subject = trustSubject(server.definition);
    expect(subject !== null && shownServer(subject).text).toBe("https://a.example/mcp\nfor every request: sign");
    expect(projectSettingsText).toBeNull();
  });
});

describe("the files outside of projects", () => {
  test("[UC19] are known by their names and by where their links lead", () => {
    const { home, cwd } = machine({ "dotfiles/mcp.json": servers("d"), ".agents/keep": "" });
    symlinkSync(join(home, "dotfiles/mcp.json"), join(home, ".agents/mcp.json"));
    const files = globalConfigFiles({ cwd, home, env: {}, platform: "linux", argv: ["--mcp-config=mine.json"] });
    const expected = [
      ".config/mcp/mcp.json",
      ".agents/mcp.json",
      "dotfiles/mcp.json",
      ".agents/mcp/mcp.json",
      ".pi/agent/mcp.json",
      "work/mine.json",
      ".cursor/mcp.json",
      ".claude/mcp.json",
      ".claude.json",
      ".claude/claude_desktop_config.json",
      ".config/Claude/claude_desktop_config.json",
      ".config/opencode/opencode.json",
      ".config/opencode/opencode.jsonc",
      ".config/Code/User/mcp.json",
      ".windsurf/mcp.json",
      ".codeium/windsurf/mcp_config.json",
      ".codex/config.toml",
      ".codex/config.json",
    ];
    expect(files).toEqual(expected.map((path) => join(home, path)));
  });
});
