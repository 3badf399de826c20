import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { createConfigFiles } from "../../../local-agent/node/config-files.ts";
import { keepDirectTools } from "../../../local-agent/node/direct-choice.ts";
import { setServerState } from "../../../local-agent/node/project-override.ts";
import { tempDir } from "../../support/temp-dir.ts";

const GLOBAL = { mcpServers: { x: { command: "a", env: { TOKEN: "s3cret" } }, off: { command: "b", disabled: true } } };

function project(override?: string) {
  const home = tempDir("upstream-override");
  const cwd = join(home, "work");
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  write(join(home, ".agents/mcp.json"), JSON.stringify(GLOBAL));
  mkdirSync(cwd);
  const file = join(cwd, ".pi/mcp.json");
  if (override !== undefined) write(file, override);
  const options = { cwd, home, env: {}, platform: "linux", trustsProjectSettings: () => false };
  const stateOf = async (name: string) => (await createConfigFiles(options).load()).servers.get(name)?.state;
  return { home, cwd, file, options, write, stateOf, text: () => readFileSync(file, "utf8") };
}

test("[UC60] disabling writes one word into the project's file, and nothing of the definition", async () => {
  const { file, options, text, stateOf } = project();
  expect(await setServerState("x", "disabled", options)).toEqual({ ok: true, value: { file, disabled: true, changed: true } });
  expect(text()).toBe('{\n  "mcpServers": {\n    "x": {\n      "disabled": true\n    }\n  }\n}\n');
  expect(await stateOf("x")).toBe("disabled");
});

test("[UC60] enabling takes the word away again, and the entry when nothing else is in it", async () => {
  const { file, options, text, stateOf } = project('{ "mcpServers": { "x": { "disabled": true } } }');
  expect(await setServerState("x", "enabled", options)).toEqual({ ok: true, value: { file, disabled: "unset", changed: true } });
  expect(JSON.parse(text())).toEqual({ mcpServers: {} });
  expect(await stateOf("x")).toBe("enabled");
});

test("[UC60] enabling writes false where a weaker file disables", async () => {
  const { file, options, text, stateOf } = project();
  expect(await setServerState("off", "enabled", options)).toEqual({ ok: true, value: { file, disabled: false, changed: true } });
  expect(JSON.parse(text())).toEqual({ mcpServers: { off: { disabled: false } } });
  expect(await stateOf("off")).toBe("enabled");
  expect(await setServerState("off", "disabled", options)).toMatchObject({ value: { disabled: true } });
  expect(await stateOf("off")).toBe("disabled");
});

test("[UC60] what is so already is not written", async () => {
  const { file, options, text } = project();
  expect(await setServerState("x", "enabled", options)).toEqual({ ok: true, value: { file, disabled: "unset", changed: false } });
  expect(existsSync(file)).toBe(false);
  await setServerState("x", "disabled", options);
  const before = text();
  expect(await setServerState("x", "disabled", options)).toMatchObject({ value: { changed: false } });
  expect(text()).toBe(before);
});

test("[UC61] comments, order, other fields and the file's own style stay", async () => {
  const { options, text } = project(
    '{\n\t// mine\n\t"mcp-servers": {\n\t\t"x": {\n\t\t\t"directTools": true, // all\n\t\t},\n\t},\n\t"settings": { "toolPrefix": "none" }\n}\n',
  );
  await setServerState("x", "disabled", options);
  expect(text()).toBe(
    '{\n\t// mine\n\t"mcp-servers": {\n\t\t"x": {\n\t\t\t"directTools": true,\n\t\t\t"disabled": true, // all\n\t\t},\n\t},\n\t"settings": { "toolPrefix": "none" }\n}\n',
  );
  await setServerState("x", "enabled", options);
  expect(text()).toContain('"directTools": true');
  expect(text()).toContain("// mine");
  expect(text()).not.toContain("disabled");
});

test("[UC61] a link stays, what it names is replaced, and its mode is kept", async () => {
  const { home, file, options, write, cwd } = project();
  const target = join(home, "dotfiles/pi.json");
  write(target, '{ "mcpServers": {} }');
  chmodSync(target, 0o600);
  mkdirSync(join(cwd, ".pi"));
  symlinkSync(target, file);
  await setServerState("x", "disabled", options);
  expect(lstatSync(file).isSymbolicLink()).toBe(true);
  expect(JSON.parse(readFileSync(target, "utf8"))).toEqual({ mcpServers: { x: { disabled: true } } });
  expect(statSync(target).mode & 0o777).toBe(0o600);
  expect(readdirSync(dirname(target))).toEqual(["pi.json"]);
});

test.each(["[]", "{ broken", '{ "mcpServers": [] }', '"text"'])("[UC61] a file that is no configuration (%s) is left as it is", async (content) => {
  const { options, text } = project(content);
  expect(await setServerState("x", "disabled", options)).toMatchObject({ ok: false, error: expect.stringContaining("correct it first") });
  expect(text()).toBe(content);
});

test("[UC61] a file that cannot be written is said so", async () => {
  const { cwd, options, write } = project();
  write(join(cwd, ".pi"), "not a directory");
  expect(await setServerState("x", "disabled", options)).toMatchObject({ ok: false, error: expect.stringMatching(/cannot be written \(E\w+\)/) });
});

test("[UC61] where the project's files do not count nothing is written", async () => {
  const { home, file, options } = project();
  const exclusive = { ...options, env: { PI_MCP_CONFIG_MODE: "exclusive" } };
  expect(await setServerState("x", "disabled", exclusive)).toMatchObject({
    ok: false,
    error: expect.stringContaining(join(home, ".pi/agent/mcp.json")),
  });
  expect(existsSync(file)).toBe(false);
});

test.each([
  '{ "mcpServers": { "x": {} }, "mcpServers": { "x": { "args": [] } } }',
  '{ "mcpServers": { "x": {}, "x": { "args": [] } } }',
  '{ "mcpServers": { "x": { "disabled": false, "disabled": false } } }',
  '{ "mcpServers": { "x": "a" } }',
  '{ "mcpServers": { "x": [] } }',
  '{ "mcpServers": { "x": null } }',
])("[UC61] a file in which the word would have no effect is not touched: %s", async (content) => {
  const { options, text } = project(content);
  expect(await setServerState("x", "disabled", options)).toMatchObject({
    ok: false,
    error: expect.stringMatching(/mcp\.json cannot be changed: .*"x"/),
  });
  expect(text()).toBe(content);
});

test("[UC61] nor one in which the word would stay", async () => {
  const { options, text, stateOf } = project('{ "mcpServers": { "x": {} }, "mcpServers": { "x": { "disabled": true } } }');
  expect(await setServerState("x", "enabled", options)).toMatchObject({ ok: false });
  expect(text()).toContain('"disabled": true');
  expect(await stateOf("x")).toBe("disabled");
});

test("[UC61] of several changes at once none undoes another, and nothing is left beside the file", async () => {
  const { file, options, text } = project();
  const names = ["a", "b", "c", "d"];
  await Promise.all([...names.map((name) => setServerState(name, "disabled", options)), setServerState("off", "enabled", options)]);
  const disabled = Object.fromEntries(names.map((name) => [name, { disabled: true }]));
  expect(JSON.parse(text())).toEqual({ mcpServers: { ...disabled, off: { disabled: false } } });
  expect(readdirSync(dirname(file))).toEqual(["mcp.json"]);
});

test("[UC60] any name is a name", async () => {
  const { options, text } = project();
  await setServerState('a.b/"c"', "disabled", options);
  expect(JSON.parse(text())).toEqual({ mcpServers: { 'a.b/"c"': { disabled: true } } });
});

describe("which tools are direct", () => {
  const directOf = async (options: ReturnType<typeof project>["options"], name: string) => {
    const configured = (await createConfigFiles(options).load()).servers.get(name);
    return configured?.state === "enabled" ? configured.definition.directTools : null;
  };

  test("[UC62] is kept in Pi's directory for a server of the account, and the account's own file is left alone", async () => {
    const { home, options, file } = project();
    const shared = readFileSync(join(home, ".agents/mcp.json"), "utf8");
    const own = join(home, ".pi/agent/mcp.json");
    expect(await keepDirectTools("x", ["one", "two"], options)).toEqual({ ok: true, value: own });
    expect(JSON.parse(readFileSync(own, "utf8"))).toEqual({ mcpServers: { x: { directTools: ["one", "two"] } } });
    expect(readFileSync(join(home, ".agents/mcp.json"), "utf8")).toBe(shared);
    expect(existsSync(file)).toBe(false);
    expect(await directOf(options, "x")).toEqual(["one", "two"]);
  });

  test("[UC62] is kept in the file that takes the place of Pi's, and in the only one that counts", async () => {
    const { home, options } = project();
    const once = { ...options, configPath: join(home, "once.json") };
    expect(await keepDirectTools("x", true, once)).toEqual({ ok: true, value: join(home, "once.json") });
    expect(await directOf(once, "x")).toBe(true);
    const exclusive = { ...once, env: { PI_MCP_CONFIG_MODE: "exclusive" } };
    expect(await keepDirectTools("x", "search", exclusive)).toEqual({ ok: true, value: join(home, "once.json") });
    expect(JSON.parse(readFileSync(join(home, "once.json"), "utf8"))).toEqual({ mcpServers: { x: { directTools: "search" } } });
  });

  test("[UC62] is kept in the project's strongest file for what a file of the project says", async () => {
    const { cwd, options, file, write } = project();
    write(join(cwd, ".mcp.json"), JSON.stringify({ mcpServers: { ours: { command: "c", directTools: true } } }));
    expect(await keepDirectTools("ours", false, options)).toEqual({ ok: true, value: file });
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ mcpServers: { ours: { directTools: false } } });
    expect(await directOf(options, "ours")).toBe(false);
  });

  test("[UC62] so is it for what another host's file of the project says, and a plugin that lies there", async () => {
    const { home, cwd, options, file, write } = project();
    write(join(home, ".agents/mcp.json"), JSON.stringify({ settings: { hostConfigDiscovery: "on", agentPluginPaths: ["plug"] } }));
    write(join(cwd, ".vscode/mcp.json"), JSON.stringify({ servers: { theirs: { command: "c" } } }));
    const schema = (of: string) => `https://agent-plugins.org/schemas/1.0.0/${of}.schema.json`;
    write(join(cwd, "plug/plugin.json"), JSON.stringify({ $schema: schema("plugin"), name: "plug" }));
    write(join(cwd, "plug/mcp.json"), JSON.stringify({ $schema: schema("mcp"), mcpServers: { in: { type: "stdio", command: "c" } } }));
    for (const name of ["theirs", "plug__in"]) {
      expect(await keepDirectTools(name, true, options)).toEqual({ ok: true, value: file });
      expect(await directOf(options, name)).toBe(true);
    }
    expect(existsSync(join(home, ".pi/agent/mcp.json"))).toBe(false);
  });

  test("[UC62] of a program that lies in the project, but which the account configures, in Pi's directory", async () => {
    const { home, options, write } = project();
    write(join(home, ".agents/mcp.json"), JSON.stringify({ mcpServers: { near: { command: "./server" } } }));
    expect(await keepDirectTools("near", true, options)).toEqual({ ok: true, value: join(home, ".pi/agent/mcp.json") });
    expect(await directOf(options, "near")).toBe(true);
  });

  test("[UC62] what no file configures, and a file that is no configuration, are said so", async () => {
    const { home, options, write } = project();
    expect(await keepDirectTools("nobody", true, options)).toMatchObject({ ok: false, error: expect.stringContaining('"nobody"') });
    write(join(home, ".pi/agent/mcp.json"), "{ broken");
    expect(await keepDirectTools("x", true, options)).toMatchObject({ ok: false, error: expect.stringContaining("correct it first") });
    expect(readFileSync(join(home, ".pi/agent/mcp.json"), "utf8")).toBe("{ broken");
  });
});
