import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { createConfigFiles } from "../../../local-agent/node/config-files.ts";
import { tempDir } from "../../support/temp-dir.ts";

const MANIFEST = { $schema: "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json", name: "acme" };
const mcp = (mcpServers: unknown) => ({ $schema: "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json", mcpServers });
const SERVER = { type: "stdio", command: "./bin/run", args: ["${PLUGIN_ROOT}/a", "${HOME}"], env: { KEY: "!id" } };

function machine(files: Readonly<Record<string, unknown>>) {
  const home = tempDir("upstream-plugins");
  const cwd = join(home, "work");
  mkdirSync(cwd);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), typeof content === "string" ? content : JSON.stringify(content));
  }
  const load = (trusted = true) => createConfigFiles({ cwd, home, env: {}, platform: "linux", trustsProjectSettings: () => trusted }).load();
  return { home, cwd, load };
}

const plugin = (directory: string, servers: unknown = { s: SERVER }) => ({
  [`${directory}/plugin.json`]: MANIFEST,
  [`${directory}/mcp.json`]: mcp(servers),
  [`${directory}/bin/run`]: "#!/bin/sh\n",
});
const listed = (...agentPluginPaths: readonly string[]) => ({ settings: { agentPluginPaths } });

test("[UC51] [UC53] a plugin's servers are there, literal, with the plugin's directories", async () => {
  const { home, load } = machine({ ...plugin("plugins/acme"), ".pi/agent/mcp.json": listed("~/plugins/acme") });
  const { servers, warnings, sources } = await load();
  expect(warnings).toEqual([]);
  expect(servers.get("acme__s")).toMatchObject({
    state: "enabled",
    definition: {
      transport: {
        kind: "stdio",
        command: join(home, "plugins/acme/bin/run"),
        args: ["${PLUGIN_ROOT}/a", "${HOME}"],
        env: { KEY: "!id" },
        cwd: join(home, "plugins/acme"),
        plugin: { root: join(home, "plugins/acme"), data: join(home, ".pi/agent/agent-plugin-data/acme") },
      },
      projectText: null,
    },
  });
  expect(sources).toContainEqual({ origin: { layer: "plugin", file: join(home, "plugins/acme/mcp.json") }, found: true, servers: ["acme__s"] });
});

test("[UC53] another file's change of a plugin's server leaves its values literal", async () => {
  const overridden = { mcpServers: { acme__s: { directTools: true, env: { KEY: "${SECRET}" } }, acme__remote: { headers: { A: "${SECRET}" } } } };
  const { load } = machine({
    ...plugin("plugins/acme", { s: SERVER, remote: { type: "sse", url: "https://a.example" } }),
    ".agents/mcp.json": { ...overridden, ...listed("~/plugins/acme") },
  });
  const { servers } = await load();
  expect(servers.get("acme__s")).toMatchObject({ definition: { directTools: true, transport: { plugin: expect.anything() } } });
  expect(servers.get("acme__remote")).toMatchObject({ definition: { transport: { literal: true, speaks: "sse" } } });
});

test("[UC53] a file that sends the server elsewhere has its own values expanded again", async () => {
  const { load } = machine({
    ...plugin("plugins/acme"),
    ".agents/mcp.json": { mcpServers: { acme__s: { url: "https://a.example/${X}" } }, ...listed("~/plugins/acme") },
  });
  expect((await load()).servers.get("acme__s")).toMatchObject({
    definition: { transport: { kind: "http", literal: false }, entry: { url: "https://a.example/${X}" } },
  });
});

test("[UC54] a plugin that a project names, or that lies in it, needs trust", async () => {
  const inside = { ...plugin("work/plugins/acme"), ".pi/agent/mcp.json": listed("./plugins/acme") };
  expect((await machine(inside).load()).servers.get("acme__s")).toMatchObject({ definition: { projectText: expect.stringContaining('"plugin"') } });
  const named = { ...plugin("plugins/acme"), "work/.pi/mcp.json": listed("../plugins/acme") };
  expect((await machine(named).load()).servers.get("acme__s")).toMatchObject({ definition: { projectText: expect.stringContaining('"plugin"') } });
});

test("[UC54] [UC32] a plugin that a project names is not opened while the project's settings are not trusted", async () => {
  const { load } = machine({ ...plugin("work/acme"), "work/.mcp.json": listed("./acme") });
  const { servers, sources, projectSettingsText } = await load(false);
  expect([...servers.keys()]).toEqual([]);
  expect(sources.map(({ origin }) => origin.layer)).not.toContain("plugin");
  expect(projectSettingsText).toContain("./acme");
});

test("[UC52] links inside the plugin are followed, and none leads out of it", async () => {
  const { home, load } = machine({
    ...plugin("plugins/acme", {
      inside: { type: "stdio", command: "./linked" },
      outside: { type: "stdio", command: "./out" },
      missing: { type: "stdio", command: "./nothing" },
      directory: { type: "stdio", command: "a", cwd: "./up" },
    }),
    "evil/run": "x",
    ".pi/agent/mcp.json": listed("~/plugins/acme"),
  });
  symlinkSync("bin/run", join(home, "plugins/acme/linked"));
  symlinkSync(join(home, "evil/run"), join(home, "plugins/acme/out"));
  symlinkSync("../..", join(home, "plugins/acme/up"));
  const { servers, warnings } = await load();
  expect([...servers.keys()]).toEqual(["acme__inside"]);
  expect(warnings.map(({ server }) => server)).toEqual(["acme__outside", "acme__missing", "acme__directory"]);
});

test("[UC52] a manifest or a list of servers that leads out of the plugin is not read", async () => {
  const { home, load } = machine({
    "out/plugin.json": MANIFEST,
    "out/mcp.json": mcp({ s: { type: "stdio", command: "a" } }),
    ".pi/agent/mcp.json": listed("~/one", "~/two"),
    "two/plugin.json": MANIFEST,
  });
  mkdirSync(join(home, "one"));
  symlinkSync(join(home, "out/plugin.json"), join(home, "one/plugin.json"));
  symlinkSync(join(home, "out/mcp.json"), join(home, "two/mcp.json"));
  const { servers, warnings } = await load();
  expect(servers.size).toBe(0);
  expect(warnings.map(({ message }) => message)).toEqual([
    'expected a file "plugin.json" in the plugin, and there is none',
    '"mcp.json" leads out of the plugin; none of its servers is used',
  ]);
});

test("[UC50] what is no plugin is a warning, and the others are used", async () => {
  const { home, load } = machine({
    ...plugin("plugins/acme"),
    "plugins/bad/plugin.json": { name: "bad" },
    "plugins/broken/plugin.json": "{",
    "plugins/skills/plugin.json": { ...MANIFEST, name: "skills" },
    "plugins/twin/plugin.json": MANIFEST,
    "plugins/twin/mcp.json": mcp({ s: { type: "sse", url: "https://a.example" } }),
    ".pi/agent/mcp.json": listed(...["none", "bad", "broken", "skills", "acme", "twin"].map((name) => `~/plugins/${name}`)),
  });
  const { servers, warnings } = await load();
  expect([...servers.keys()]).toEqual(["acme__s"]);
  expect(warnings.map(({ file }) => file)).toEqual(
    ["none", "bad/plugin.json", "broken/plugin.json", "twin/mcp.json"].map((path) => join(home, "plugins", path)),
  );
});
