import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../../../shared/json.ts";
import { readPluginManifest, readPluginServers } from "../../../../local-agent/adapter/config/agent-plugins.ts";

const $schema = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json";
const places = { root: "/p", data: "/d" };

function servers(mcpServers: JsonValue, more: JsonObject = {}, name = "acme") {
  const insideRoot = (path: string) => (path.includes("..") ? null : `/p${path.slice(1)}`);
  return readPluginServers({ $schema: "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json", mcpServers, ...more }, { name, places, insideRoot });
}

function entryOf(entry: JsonValue): JsonObject | string {
  const { servers: read, problems } = servers({ s: entry });
  return read.get("acme__s") ?? problems.map(({ message }) => message).join();
}

describe("a manifest", () => {
  test.each(["a", "my-plugin", "acme.tools", "lint3r", "a.-b", "x".repeat(64)])("[UC50] may be called %s", (name) => {
    expect(readPluginManifest({ $schema, name })).toEqual({ ok: true, value: { name, problems: [] } });
  });

  test.each<JsonValue>(["", "My-Plugin", "-start", "end.", "has--double", "too.many..dots", "x".repeat(65), 1, "a/b"])(
    "[UC50] may not be called %j",
    (name) => {
      expect(readPluginManifest({ $schema, name })).toEqual({ ok: false, error: '"name" is not as Agent Plugins 1.0 wants it' });
    },
  );

  test("[UC50] with a wrong kind of field is refused, with an unknown field it is not", () => {
    expect(readPluginManifest({ $schema, name: "a", version: 1 }).ok).toBe(false);
    expect(readPluginManifest({ $schema, name: "a", author: { name: "x", phone: "1" } }).ok).toBe(false);
    expect(readPluginManifest({ $schema, name: "a", commands: [], extensions: [] })).toEqual({
      ok: true,
      value: {
        name: "a",
        problems: [
          'the field "commands" is not known to Agent Plugins 1.0; it is ignored',
          '"extensions" must be an object, got an empty list; it is ignored',
        ],
      },
    });
  });

  test.each([undefined, "https://agent-plugins.org/schemas/1.1.0/plugin.schema.json"])("[UC50] of another version (%s) is refused", (other) => {
    expect(readPluginManifest({ name: "a", ...(other === undefined ? {} : { $schema: other }) })).toMatchObject({ ok: false });
  });
});

describe("a plugin's servers", () => {
  test("[UC51] bear the plugin's name, in characters that tools can have", () => {
    const read = servers({ "my server": { type: "stdio", command: "a" }, "my.server": { type: "stdio", command: "b" } }, {}, "acme.tools");
    expect([...read.servers.keys()]).toEqual(["acme_tools__my_server"]);
    expect(read.problems).toEqual([
      { server: "acme_tools__my_server", message: "another server of the plugin has this name already; the server is skipped" },
    ]);
  });

  test("[UC51] that are wrong are skipped, and their siblings are used", () => {
    const read = servers({ bad: { type: "stdio" }, good: { type: "sse", url: "https://a.example/sse" } });
    expect([...read.servers.keys()]).toEqual(["acme__good"]);
    expect(read.problems).toHaveLength(1);
  });

  test("[UC51] with a name longer than any other file may give one are skipped, and the name is not repeated whole", () => {
    const good = { type: "stdio", command: "a" };
    const read = servers({ ["x".repeat(194)]: good, ["x".repeat(195)]: good, ["y".repeat(100_000)]: { type: "stdio" } });
    expect([...read.servers.keys()]).toEqual([`acme__${"x".repeat(194)}`]);
    expect(read.problems.map(({ server, message }) => [server?.length, message])).toEqual([
      [200, "a server's name must have at most 200 characters, got 201; the server is skipped"],
      [200, "a server's name must have at most 200 characters, got 100006; the server is skipped"],
    ]);
  });

  test.each<[JsonObject, string]>([
    [{ type: "stdio", command: "node", args: ["${PLUGIN_ROOT}/x", "${HOME}"], env: { A: "${PLUGIN_DATA}", B: "!id" } }, "/p/"],
    [{ type: "stdio", command: "node", cwd: "./data" }, "/p/data"],
    [{ type: "stdio", command: "node", cwd: "${PLUGIN_ROOT}" }, "/p"],
    [{ type: "stdio", command: "node", cwd: "${PLUGIN_ROOT}/sub" }, "/p/sub"],
    [{ type: "stdio", command: "node", cwd: "${PLUGIN_DATA}/sub" }, "/d/sub"],
  ])("[UC52] %j stays as it is and runs where it says", (entry, cwd) => {
    expect(entryOf(entry)).toEqual({ ...entry, cwd: cwd === "/p/" ? "/p" : cwd });
  });

  test("[UC52] a program of the plugin is found in the plugin", () => {
    expect(entryOf({ type: "stdio", command: "./bin/run" })).toMatchObject({ command: "/p/bin/run" });
  });

  test.each<[JsonValue, string]>([
    [1, "the entry must be an object, got 1"],
    [{ command: "a" }, '"type" is not as'],
    [{ type: "http", url: "https://a" }, '"type" is not as'],
    [{ type: "stdio", command: "a", url: "https://a" }, '"url" is not as'],
    [{ type: "stdio", command: "a", lifecycle: "eager" }, '"lifecycle" is not as'],
    [{ type: "stdio", command: "a", args: [1] }, '"args" is not as'],
    [{ type: "stdio", command: "/bin/sh" }, '"command" must be the bare name'],
    [{ type: "stdio", command: "../x" }, '"command" must be the bare name'],
    [{ type: "stdio", command: ".." }, '"command" must be the bare name'],
    [{ type: "stdio", command: "./../x" }, '"command" must be a file inside the plugin'],
    [{ type: "stdio", command: "a", cwd: "/tmp" }, '"cwd" must begin with'],
    [{ type: "stdio", command: "a", cwd: "data" }, '"cwd" must begin with'],
    [{ type: "stdio", command: "a", cwd: "${PLUGIN_ROOT}x" }, '"cwd" must begin with'],
    [{ type: "stdio", command: "a", cwd: "${PLUGIN_ROOT}/../x" }, '"cwd" must be a directory inside'],
    [{ type: "stdio", command: "a", cwd: "${PLUGIN_DATA}/a/../../x" }, '"cwd" must stay inside'],
    [{ type: "stdio", command: "a", env: { PLUGIN_ROOT: "/" } }, '"env" must not set PLUGIN_ROOT'],
    [{ type: "stdio", command: "a", env: { plugin_data: "/" } }, '"env" must not set plugin_data'],
    [{ type: "sse", url: "http://a.example" }, '"url" must begin with https://'],
    [{ type: "sse", url: "ws://a.example" }, '"url" must begin with https://'],
    [{ type: "sse", url: "https://me@a.example" }, '"url" must have no user name'],
    [{ type: "sse", url: "https://a.example/#x" }, '"url" must have no user name'],
    [{ type: "sse", url: "https://a.example/${TOKEN}" }, '"url" must be an absolute URL without placeholders'],
    [{ type: "sse", url: "https://a.example", headers: { A: "1", a: "2" } }, '"headers" must have each name once'],
    [{ type: "sse", url: "https://a.example", headers: { A: "1\r\nB: 2" } }, '"headers" must be valid'],
  ])("[UC52] %j is skipped", (entry, message) => {
    expect(entryOf(entry)).toContain(message);
  });

  test.each(["http://localhost:1/mcp", "http://127.0.0.1/mcp", "http://[::1]:9/sse", "https://a.example"])("[UC52] %s is an address", (url) => {
    expect(entryOf({ type: "streamable-http", url })).toEqual({ type: "streamable-http", url });
  });

  test.each<[JsonObject, string]>([
    [{ $schema: "https://agent-plugins.org/schemas/1.1.0/mcp.schema.json" }, '"$schema" must be'],
    [{ settings: {} }, 'expected "$schema" and "mcpServers" only, got "settings"'],
    [{ mcpServers: [] }, '"mcpServers" must be an object'],
  ])("[UC51] a file with %j brings none", (more, message) => {
    const read = servers({ s: { type: "stdio", command: "a" } }, more);
    expect(read.servers.size).toBe(0);
    expect(read.problems).toEqual([{ server: null, message: expect.stringContaining(message) }]);
  });
});
