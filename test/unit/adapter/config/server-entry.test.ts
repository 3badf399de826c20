import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../shared/json.ts";
import { readConfigDocument } from "../../../../local-agent/adapter/config/config-document.ts";
import { readServerEntry, type CheckedEntry, type EntryDefaults } from "../../../../local-agent/adapter/config/server-entry.ts";

const defaults: EntryDefaults = {
  idleTimeoutMinutes: 10,
  requestTimeoutMs: 0,
  directTools: false,
  toolPrefix: "server",
  approveTools: false,
  trace: false,
};

function read(entry: JsonObject, settings: Partial<EntryDefaults> = {}): CheckedEntry {
  const checked = readServerEntry("x", entry, { defaults: { ...defaults, ...settings }, plugin: null });
  if (!checked.ok) throw new Error(checked.error);
  return checked.value;
}

function problem(entry: JsonObject): string {
  const checked = readServerEntry("x", entry, { defaults, plugin: null });
  if (checked.ok) throw new Error("expected a problem");
  return checked.error;
}

describe("the way to a server", () => {
  test.each<[JsonObject, string]>([
    [{}, 'expected exactly one of "command", "url" and "socket", got none.'],
    [{ command: "a", url: "https://a" }, 'expected exactly one of "command", "url" and "socket", got "command" and "url".'],
    [
      { command: "a", url: "https://a", socket: "/s" },
      'expected exactly one of "command", "url" and "socket", got "command" and "url" and "socket".',
    ],
  ])("[UC20] %j is no way", (entry, expected) => {
    expect(problem(entry)).toBe(expected);
  });

  test.each([
    [{ url: "https://a.example" }, "any"],
    [{ type: "http", url: "https://a.example" }, "any"],
    [{ type: "streamable-http", url: "https://a.example" }, "streamable-http"],
    [{ type: "streamableHttp", url: "https://a.example" }, "streamable-http"],
    [{ type: "sse", url: "http://localhost:1/sse" }, "sse"],
  ] as const)("[UC21] %j speaks %s", (entry, speaks) => {
    expect(read(entry).transport).toMatchObject({ kind: "http", speaks });
  });

  test.each<[JsonObject, string]>([
    [{ type: "sse", command: "a" }, '"type": "sse" goes with "url", but the entry has "command": remove "type" or change it.'],
    [{ type: "stdio", url: "https://a" }, '"type": "stdio" goes with "command", but the entry has "url": remove "type" or change it.'],
    [{ type: "stdio", socket: "/s" }, '"type": "stdio" goes with "command", but the entry has "socket": remove "type" or change it.'],
    [{ type: "ws", url: "https://a" }, '"type" must be "stdio", "http", "streamable-http" or "sse", got "ws".'],
  ])("[UC21] %j does not go together", (entry, expected) => {
    expect(problem(entry)).toBe(expected);
  });

  test("[UC23] a list of tools to include that names none leaves out none", () => {
    expect([read({ command: "a", includeTools: [] }).includeTools, read({ command: "a", includeTools: ["x"] }).includeTools]).toEqual([null, ["x"]]);
  });

  test("a URL with a placeholder is left for the moment of connecting; placeholders stay text", () => {
    expect(read({ url: "${BASE}/mcp", bearerToken: "$env:T" }).transport).toMatchObject({ url: "${BASE}/mcp", bearerToken: "$env:T" });
    expect(read({ command: "a", args: ["${X}"] }).transport).toMatchObject({ args: ["${X}"] });
  });

  test("[UC22] a URL that cannot be one is named without its text", () => {
    expect(problem({ url: "example.com?key=s3cret" })).toBe('"url" must be an absolute http or https URL, e.g. https://example.com/mcp.');
    expect(problem({ url: "https://me:s3cret@a.example" })).toBe('"url" must not hold a user name or password: put them into "headers".');
    expect(problem({ url: "ftp://a.example/s3cret" })).toBe('"url" must begin with http:// or https://.');
  });
});

describe("fields", () => {
  test.each<[JsonObject, string]>([
    [{ command: 1 }, '"command" must be the name or path of a program, got 1.'],
    [{ command: " " }, '"command" must be the name or path of a program, got a string.'],
    [{ command: "a", args: "b" }, '"args" must be a list of strings, got a string.'],
    [{ command: "a", args: ["b", { s3cret: 1 }] }, '"args" must be a list of strings, got a list (at "1").'],
    [{ command: "a", env: { A: ["s3cret"] } }, '"env" must be an object of strings, got an object (at "A").'],
    [{ command: "a", env: { "A=B": "s3cret" } }, '"env" must be an object of strings, got an object (at "A=B").'],
    [{ url: "https://a", headers: { "a b": "s3cret" } }, '"headers" must be an object of header names and strings, got an object (at "a b").'],
    [{ url: "https://a", bearerToken: ["s3cret"] }, '"bearerToken" must be a string, got a list.'],
    [{ command: "a", lifecycle: "always" }, '"lifecycle" must be "lazy", "eager", "keep-alive" or "lazy-keep-alive", got "always".'],
    [{ command: "a", protocolVersion: "2025-11-25" }, '"protocolVersion" must be "legacy", "auto" or "2026-07-28", got "2025-11-25".'],
    [{ command: "a", idleTimeout: -1 }, '"idleTimeout" must be a number of minutes, 0 or more, got -1.'],
    [{ url: "https://a", auth: "Bearer s3cret" }, '"auth" must be "bearer", "oauth" or false, got a string.'],
    [{ command: "a", approveTools: "*" }, '"approveTools" must be true, false or a list of patterns, got a string.'],
    [
      { url: "https://a", requestHeadersCommand: { command: "a", timeoutMs: 60_001 } },
      '"requestHeadersCommand" must be an object with "command", and perhaps "args", "env" and "timeoutMs" (1 to 60000), got an object (at "timeoutMs").',
    ],
  ])("[UC22] %j is explained", (entry, expected) => {
    expect(problem(entry)).toBe(expected);
    expect(problem(entry)).not.toContain("s3cret");
  });

  test("[UC22] a text that no program can be given is refused", () => {
    expect(problem({ command: "a\0b" })).toContain('"command" must be');
    expect(problem({ command: "a", env: { A: "\0" } })).toContain('"env" must be');
  });

  test("numbers and switches may stand without quotes where a text is meant", () => {
    expect(read({ command: "a", args: [1, true], env: { PORT: 8080 } }).transport).toMatchObject({ args: ["1", "true"], env: { PORT: "8080" } });
  });

  test("fields of other programs are kept in the entry and mean nothing", () => {
    expect(read({ command: "a", gallery: true, alwaysAllow: ["x"] }).entry).toEqual({ command: "a", gallery: true, alwaysAllow: ["x"] });
  });

  test("[UC23] what is not said has defaults", () => {
    expect(read({ command: "a" })).toEqual({
      name: "x",
      transport: { kind: "stdio", command: "a", args: [], env: {}, cwd: null, inheritEnv: true, plugin: null },
      entry: { command: "a" },
      lifecycle: "lazy",
      idleTimeoutMs: 600_000,
      requestTimeoutMs: null,
      protocolVersion: "legacy",
      exposeResources: true,
      directTools: false,
      toolPrefix: "server",
      includeTools: null,
      excludeTools: [],
      searchKeywords: {},
      approveTools: false,
      debug: false,
      trace: false,
    });
    expect(read({ url: "https://a.example", requestHeadersCommand: { command: "h" } }).transport).toEqual({
      kind: "http",
      url: "https://a.example",
      speaks: "any",
      headers: {},
      auth: "unset",
      bearerToken: null,
      bearerTokenEnv: null,
      bearerTokenStore: false,
      requestHeadersCommand: { command: "h", args: [], env: {}, timeoutMs: 10_000 },
      caFile: null,
      oauth: null,
      literal: false,
    });
    expect(read({ url: "https://a.example", auth: false }).transport).toMatchObject({ auth: "none" });
  });

  test("[UC23] the settings say what the entry does not", () => {
    const settings = { directTools: "search", toolPrefix: "mcp", approveTools: ["a_*"], trace: true } as const;
    expect(read({ command: "a" }, settings)).toMatchObject(settings);
    const own = { directTools: ["one"], toolPrefix: "none", approveTools: false, trace: false };
    expect(read({ command: "a", ...own }, settings)).toMatchObject(own);
  });

  test.each<[JsonObject, number, number | null]>([
    [{}, 10, 600_000],
    [{}, 0, null],
    [{ idleTimeout: 0.5 }, 10, 30_000],
    [{ idleTimeout: 0 }, 10, null],
    [{ lifecycle: "eager" }, 10, null],
    [{ lifecycle: "eager", idleTimeout: 2 }, 10, 120_000],
    [{ lifecycle: "keep-alive", idleTimeout: 2 }, 10, null],
    [{ lifecycle: "lazy-keep-alive", idleTimeout: 2 }, 10, null],
    [{ idleTimeout: 1e12 }, 10, 2_147_483_647],
  ])("[UC24] %j with %d minutes in the settings is idle after %s ms", (entry, idleTimeoutMinutes, expected) => {
    expect(read({ command: "a", ...entry }, { idleTimeoutMinutes }).idleTimeoutMs).toBe(expected);
  });

  test.each<[JsonObject, number, number | null]>([
    [{}, 0, null],
    [{}, 5000, 5000],
    [{ requestTimeoutMs: 7 }, 5000, 7],
    [{ requestTimeoutMs: 0 }, 5000, null],
    [{ requestTimeoutMs: -1 }, 5000, null],
  ])("[UC25] %j with %d in the settings waits %s ms", (entry, requestTimeoutMs, expected) => {
    expect(read({ command: "a", ...entry }, { requestTimeoutMs }).requestTimeoutMs).toBe(expected);
  });
});

describe("a document", () => {
  test.each(["mcpServers", "mcp-servers", "servers"])("[UC7] has its servers under %s", (key) => {
    expect([...readConfigDocument({ [key]: { a: { command: "x" } } }).servers.keys()]).toEqual(["a"]);
  });

  test("[UC7] loses entries that are no objects, and no others", () => {
    const { servers, problems } = readConfigDocument({
      mcpServers: { a: "x", b: { command: "x" }, "": { command: "x" }, __proto__: { command: "x" } },
    });
    expect([...servers.keys()]).toEqual(["b"]);
    expect(problems).toEqual([
      { server: "a", message: "the entry must be an object, got a string; it is ignored" },
      { server: null, message: "a server's name must have 1 to 200 characters, got 0" },
    ]);
  });

  test("[UC7] with settings that are no object counts for nothing", () => {
    const { servers, problems } = readConfigDocument({ settings: [], mcpServers: { b: { command: "x" } } });
    expect(servers.size).toBe(0);
    expect(problems).toHaveLength(1);
  });

  test.each([[[]], ["x"], [1], [null]])("[UC7] that is %j says what was expected", (content) => {
    expect(readConfigDocument(content)).toMatchObject({ problems: [{ message: expect.stringMatching(/^expected a JSON object/) }] });
  });

  test("[UC15] imports kinds that are known, each once", () => {
    const { imports, problems } = readConfigDocument({ imports: ["codex", "cursor", "codex", "zed", 1] });
    expect(imports).toEqual(["codex", "cursor"]);
    expect(problems.map(({ message }) => message.replace(/.*, got/, "got"))).toEqual(['got "zed"', "got 1"]);
  });
});
