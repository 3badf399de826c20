import { expect, test } from "vitest";
import { createMemoryConfig } from "../../../../local-agent/adapter/config/memory-config.ts";

const around = { env: {}, project: "/p" };

test("[UC29] a given configuration is read like a file, and belongs to no project", async () => {
  const given = { mcpServers: { a: { command: "x" }, bad: {} }, settings: { toolPrefix: "none" }, imports: ["cursor"] };
  const config = await createMemoryConfig(given, around).load();
  expect(config.servers.get("a")).toMatchObject({ state: "enabled", definition: { toolPrefix: "none", projectText: null } });
  expect(config.servers.get("bad")).toMatchObject({ state: "invalid" });
  expect(config.projectSettingsText).toBeNull();
  expect(config.sources.map(({ origin }) => origin.layer)).toEqual(["memory"]);
  expect(config.warnings.map(({ message }) => message)).toContainEqual('"imports" means nothing here: "cursor" is not read');
});

test("[UC29] it is copied: what is changed later changes nothing, and loads share nothing", async () => {
  const env = { A: "1" };
  const given = { mcpServers: { a: { command: "x", env } } };
  const source = createMemoryConfig(given, around);
  env.A = "2";
  const entryOf = async () => {
    const server = (await source.load()).servers.get("a");
    if (server === undefined || server.state === "invalid") throw new Error("expected a server");
    return server.definition.entry;
  };
  const [first, second] = [await entryOf(), await entryOf()];
  expect(first).toEqual({ command: "x", env: { A: "1" } });
  expect(first["env"]).not.toBe(second["env"]);
  expect(given).toEqual({ mcpServers: { a: { command: "x", env: { A: "2" } } } });
});
