import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../../../shared/json.ts";
import { IMPORT_KINDS, type ImportKind } from "../../../../local-agent/adapter/config/config-document.ts";
import { hostPlaces, type Surroundings } from "../../../../local-agent/adapter/config/host-places.ts";
import { readImported } from "../../../../local-agent/adapter/config/imports.ts";

const context = { project: "/srv/project", home: "/home/me" };

function imported(kind: ImportKind, ...contents: readonly JsonValue[]) {
  const { servers, problems } = readImported(kind, contents, context);
  return { servers: Object.fromEntries(servers), problems };
}

describe("a host's file", () => {
  test.each<ImportKind>(["cursor", "claude-code", "claude-desktop", "windsurf"])("[UC40] of %s is read as it is", (kind) => {
    const entry = { command: "npx", args: ["a"], env: { A: "${A}" } };
    expect(imported(kind, { mcpServers: { x: entry }, projects: { "/p": {} }, settings: { approveTools: false }, imports: ["codex"] })).toEqual({
      servers: { x: entry },
      problems: [],
    });
  });

  test("[UC40] brings no settings and no further imports", () => {
    const document = readImported("cursor", [{ settings: { approveTools: false }, imports: ["codex"], mcpServers: {} }], context);
    expect(document).toMatchObject({ settings: {}, imports: [] });
  });

  test.each<[JsonValue, number]>([
    [{ mcpServers: [] }, 1],
    [[], 1],
    [{ mcpServers: { x: 1, y: { command: "y" } } }, 1],
    [{}, 0],
  ])("[UC40] that is %j is a problem, no failure", (content, problems) => {
    expect(imported("cursor", content).problems).toHaveLength(problems);
  });

  test("[UC41] of VS Code has `servers`, and its own placeholders are understood", () => {
    const servers = {
      local: { type: "stdio", command: "${workspaceFolder}/bin", args: ["${userHome}", "${env:TOKEN}"] },
      remote: { type: "http", url: "https://a.example/mcp", headers: { A: "Bearer ${env:TOKEN}" } },
    };
    expect(imported("vscode", { inputs: [], servers }).servers).toEqual({
      local: { type: "stdio", command: "/srv/project/bin", args: ["/home/me", "${TOKEN}"] },
      remote: { type: "http", url: "https://a.example/mcp", headers: { A: "Bearer ${TOKEN}" } },
    });
    expect(imported("vscode", { mcpServers: { x: { command: "a" } } }).servers).toEqual({ x: { command: "a" } });
  });

  test("[UC41] of VS Code leaves out a server whose values only VS Code can ask for", () => {
    const inputs = [{ id: "token", type: "promptString", password: true }];
    const { servers, problems } = imported("vscode", {
      inputs,
      servers: {
        asks: { url: "https://a", headers: { A: "Bearer ${input:token}" } },
        file: { command: "a", envFile: ".env" },
        good: { command: "g" },
      },
    });
    expect(Object.keys(servers)).toEqual(["good"]);
    expect(problems).toEqual([
      { server: "asks", message: "it needs ${input:token}, which only its own host can fill in; put ${NAME} of the environment in its place" },
      { server: "file", message: '"envFile" is not supported; put the variables into "env"' },
    ]);
  });

  test("[UC42] of Windsurf may say serverUrl", () => {
    expect(imported("windsurf", { mcpServers: { x: { serverUrl: "https://a.example/mcp" } } }).servers).toEqual({
      x: { url: "https://a.example/mcp" },
    });
  });

  test.each<[JsonObject, JsonObject]>([
    [
      { command: "npx", args: ["a"], env: { A: "1" }, startup_timeout_sec: 5 },
      { command: "npx", args: ["a"], env: { A: "1" } },
    ],
    [
      { url: "https://a.example", bearer_token_env_var: "TOKEN", tool_timeout_sec: 90 },
      { url: "https://a.example", auth: "bearer", bearerTokenEnv: "TOKEN", requestTimeoutMs: 90_000 },
    ],
    [
      { url: "https://a.example", http_headers: { A: "1", B: "2" }, env_http_headers: { B: "NAME" } },
      { url: "https://a.example", headers: { A: "1", B: "$env:NAME" } },
    ],
    [
      { command: "a", enabled_tools: ["x"], disabled_tools: ["y"] },
      { command: "a", includeTools: ["x"], excludeTools: ["y"] },
    ],
  ])("[UC43] of Codex is translated: %j", (codex, expected) => {
    expect(imported("codex", { mcp_servers: { x: codex, off: { command: "b", enabled: false } } }).servers).toEqual({ x: expected });
  });

  test("[UC44] of OpenCode is translated, and what is off there is left out", () => {
    expect(
      imported("opencode", {
        mcp: {
          local: { type: "local", command: ["npx", "-y", "a"], environment: { A: "{env:A}" }, timeout: 5000 },
          remote: { type: "remote", url: "https://a.example", headers: { A: "1" }, enabled: true },
          off: { type: "local", command: ["a"], enabled: false },
        },
      }).servers,
    ).toEqual({
      local: { command: "npx", args: ["-y", "a"], env: { A: "{env:A}" } },
      remote: { url: "https://a.example", headers: { A: "1" } },
    });
  });

  test.each<[JsonObject, RegExp]>([
    [{ type: "plugin" }, /"type" must be "local" or "remote", got "plugin"/],
    [{ type: "local", command: "npx a" }, /"command" must be a list/],
    [{ type: "remote", url: "https://a", headers: { A: "{file:~/token}" } }, /\{file:~\/token\}/],
    [{ type: "local", command: ["a", "{file:b}"] }, /\{file:b\}/],
  ])("[UC44] of OpenCode with %j is a problem of that server", (entry, message) => {
    expect(imported("opencode", { mcp: { x: entry } })).toEqual({
      servers: {},
      problems: [{ server: "x", message: expect.stringMatching(message) }],
    });
  });

  test("[UC44] of OpenCode in the project goes field by field over the account's, without secrets to another address", () => {
    const account = { mcp: { x: { type: "remote", url: "https://a.example", headers: { A: "s3cret" } }, y: { type: "local", command: ["y"] } } };
    expect(imported("opencode", account, { mcp: { x: { enabled: true }, y: { enabled: false } } }).servers).toEqual({
      x: { url: "https://a.example", headers: { A: "s3cret" } },
    });
    expect(imported("opencode", account, { mcp: { x: { url: "https://b.example" } } }).servers["x"]).toEqual({ url: "https://b.example" });
  });
});

describe("where the hosts keep their files", () => {
  const linux: Surroundings = { platform: "linux", home: "/home/me", env: {}, cwd: "/home/me/p/q", upToRepository: ["/home/me/p/q", "/home/me/p"] };
  const mac: Surroundings = { ...linux, platform: "darwin", home: "/Users/me" };
  const windows: Surroundings = { platform: "win32", home: "C:\\Users\\me", env: {}, cwd: "D:\\p", upToRepository: ["D:\\p"] };
  const paths = (around: Surroundings): Readonly<Record<string, readonly string[]>> =>
    Object.fromEntries(IMPORT_KINDS.map((kind) => [kind, hostPlaces(kind, around).map(({ path }) => path)]));

  test("[UC45] on Linux", () => {
    expect(paths(linux)).toEqual({
      cursor: ["/home/me/.cursor/mcp.json"],
      "claude-code": ["/home/me/.claude/mcp.json", "/home/me/.claude.json", "/home/me/.claude/claude_desktop_config.json"],
      "claude-desktop": ["/home/me/.config/Claude/claude_desktop_config.json"],
      opencode: [
        "/home/me/p/q/opencode.json",
        "/home/me/p/q/opencode.jsonc",
        "/home/me/p/opencode.json",
        "/home/me/p/opencode.jsonc",
        "/home/me/.config/opencode/opencode.json",
        "/home/me/.config/opencode/opencode.jsonc",
      ],
      vscode: ["/home/me/p/q/.vscode/mcp.json", "/home/me/.config/Code/User/mcp.json"],
      windsurf: ["/home/me/.windsurf/mcp.json", "/home/me/.codeium/windsurf/mcp_config.json"],
      codex: ["/home/me/.codex/config.toml", "/home/me/.codex/config.json"],
    });
  });

  test("[UC45] on macOS", () => {
    expect(paths(mac)).toMatchObject({
      "claude-desktop": ["/Users/me/Library/Application Support/Claude/claude_desktop_config.json"],
      vscode: ["/home/me/p/q/.vscode/mcp.json", "/Users/me/Library/Application Support/Code/User/mcp.json"],
    });
  });

  test("[UC45] on Windows", () => {
    expect(paths(windows)).toMatchObject({
      cursor: ["C:\\Users\\me\\.cursor\\mcp.json"],
      "claude-desktop": ["C:\\Users\\me\\AppData\\Roaming\\Claude\\claude_desktop_config.json"],
      vscode: ["D:\\p\\.vscode\\mcp.json", "C:\\Users\\me\\AppData\\Roaming\\Code\\User\\mcp.json"],
      codex: ["C:\\Users\\me\\.codex\\config.toml", "C:\\Users\\me\\.codex\\config.json"],
    });
  });

  test("[UC45] where variables put them", () => {
    expect(paths({ ...linux, env: { XDG_CONFIG_HOME: "/x", CODEX_HOME: "/c" } })).toMatchObject({
      "claude-desktop": ["/x/Claude/claude_desktop_config.json"],
      codex: ["/c/config.toml", "/c/config.json"],
    });
    expect(paths({ ...windows, env: { APPDATA: "E:\\A" } })).toMatchObject({ "claude-desktop": ["E:\\A\\Claude\\claude_desktop_config.json"] });
  });

  test("[UC45] and which of them a project can write", () => {
    const inProject = IMPORT_KINDS.flatMap((kind) => hostPlaces(kind, linux)).filter((place) => place.inProject);
    expect(inProject.map(({ path }) => path)).toEqual([
      "/home/me/p/q/opencode.json",
      "/home/me/p/q/opencode.jsonc",
      "/home/me/p/opencode.json",
      "/home/me/p/opencode.jsonc",
      "/home/me/p/q/.vscode/mcp.json",
    ]);
  });
});
