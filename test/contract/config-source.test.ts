import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createMemoryConfig } from "../../local-agent/adapter/config/memory-config.ts";
import type { ConfigSource } from "../../local-agent/adapter/ports.ts";
import { createConfigFiles } from "../../local-agent/node/config-files.ts";
import { piConfig } from "../../local-agent/pi/configuration.ts";
import type { JsonObject } from "../../shared/json.ts";
import { scriptedPiHost } from "../support/scripted-pi-host.ts";
import { tempDir } from "../support/temp-dir.ts";
import { describeConfigSource } from "./config-source.contract.ts";

describe("a file of the account", () => {
  describeConfigSource((content) => overFile(JSON.stringify(content)));

  test.each(["{ not JSON", "[]", "\0"])("[UC26] a file that is no configuration is a warning: %j", async (text) => {
    const { warnings, servers } = await overFile(text).load();
    expect([warnings.length, servers.size]).toEqual([1, 0]);
  });
});

describe.each([
  ["a configuration in memory", (content: JsonObject) => createMemoryConfig(content, { env: {}, project: "/srv/project" })],
  ["what the program that embeds Pi configures", configOfProgram],
])("%s", (_what, create) => {
  describeConfigSource(create);

  test("[UC29] [PI3] imports no file, and says so", async () => {
    const { warnings } = await create({ imports: ["cursor"] }).load();
    expect(warnings).toMatchObject([{ server: null, message: expect.stringContaining('"cursor" is not read') as unknown }]);
  });
});

function configOfProgram(config: JsonObject): ConfigSource {
  return piConfig(scriptedPiHost({ context: { cwd: "/srv/project" } }), { config, configPath: null });
}

function overFile(text: string): ConfigSource {
  const home = tempDir("home");
  mkdirSync(join(home, ".config/mcp"), { recursive: true });
  writeFileSync(join(home, ".config/mcp/mcp.json"), text);
  return createConfigFiles({ cwd: tempDir("work"), home, env: {}, platform: "linux", trustsProjectSettings: () => false });
}
