/** What every `ConfigSource` holds, wherever its configuration lies. */
import { expect, test } from "vitest";
import type { UpstreamConfig } from "../../local-agent/adapter/config/server-definition.ts";
import type { ConfigSource } from "../../local-agent/adapter/ports.ts";
import type { JsonObject } from "../../shared/json.ts";

const SENTENCE = expect.stringMatching(/\w/) as unknown;

/** @param create over this content, as a configuration file has it */
export function describeConfigSource(create: (content: JsonObject) => ConfigSource): void {
  test("[UC20] [UC23] reads servers and settings", async () => {
    const content = { mcpServers: { a: { command: "x", args: ["--y"] }, off: { url: "https://a.example/mcp", disabled: true } }, settings: SETTINGS };
    const { servers, settings, warnings } = await create(content).load();
    expect([...servers].map(([name, { state }]) => [name, state])).toEqual([["a", "enabled"], ["off", "disabled"]]); // prettier-ignore
    expect(definitionOf(await create(content).load(), "a")).toMatchObject({
      transport: { kind: "stdio", command: "x", args: ["--y"] },
      projectText: null,
    });
    expect([settings.toolPrefix, settings.scriptMode, warnings]).toEqual(["none", false, []]);
  });

  test("[UC22] a server that cannot be read is told of, and the others are there", async () => {
    const { servers } = await create({ mcpServers: { wrong: { command: 7 }, empty: {}, fine: { command: "x" } } }).load();
    expect(servers.get("wrong")).toMatchObject({ state: "invalid", problem: SENTENCE });
    expect(servers.get("empty")).toMatchObject({ state: "invalid", problem: SENTENCE });
    expect(servers.get("fine")).toMatchObject({ state: "enabled" });
  });

  test.each<[string, JsonObject]>([
    ["servers", { mcpServers: 3 }],
    ["a list of servers", { mcpServers: [{ command: "x" }] }],
    ["settings", { settings: "all" }],
    ["a setting", { settings: { toolPrefix: 5 } }],
    ["imports", { imports: { cursor: true } }],
  ])("[UC26] what is no configuration is a warning and never an error: %s", async (_what, content) => {
    const { warnings, settings } = await create({ ...content }).load();
    expect(warnings).toEqual([{ file: SENTENCE, server: null, message: SENTENCE }]);
    expect(settings.toolPrefix).toBe("server");
  });

  test("[UC20] nothing configured is nothing wrong", async () => {
    expect(await create({}).load()).toMatchObject({ servers: new Map(), warnings: [], projectSettingsText: null });
  });

  test("[UC13] gives the same each time it is read, and no load shares anything with another", async () => {
    const source = create({ mcpServers: { a: { command: "x", env: { A: "1" } }, wrong: {} }, settings: { ...SETTINGS, nothing: 1 } });
    const [first, second] = [await source.load(), await source.load()];
    expect(second).toEqual(first);
    Object.assign(definitionOf(first, "a").entry["env"] as object, { A: "changed" });
    expect(definitionOf(second, "a").entry).toEqual({ command: "x", env: { A: "1" } });
    expect(definitionOf(await source.load(), "a").entry).toEqual({ command: "x", env: { A: "1" } });
  });
}

const SETTINGS = { toolPrefix: "none", scriptMode: false };

function definitionOf({ servers }: UpstreamConfig, name: string) {
  const server = servers.get(name);
  if (server === undefined || server.state === "invalid") throw new Error(`expected a server "${name}"`);
  return server.definition;
}
