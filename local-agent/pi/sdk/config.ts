/** What `import … from "pi-relay/config"` gives: the configuration files, read and merged (declared/config.d.ts). */
import { homedir } from "node:os";
import type { JsonObject, JsonValue } from "../../../shared/json.ts";
import { createConfigFiles } from "../../node/config-files.ts";

interface LoadedConfig {
  readonly mcpServers: Readonly<Record<string, JsonObject>>;
  readonly settings: Readonly<Record<string, JsonValue>>;
  readonly warnings: readonly string[];
}

/** Starts nothing and expands nothing. A project's settings are left out: nobody was asked about them. */
export async function loadMcpConfig(configPath?: string, cwd: string = process.cwd()): Promise<LoadedConfig> {
  const {
    servers,
    givenSettings = {},
    warnings,
  } = await createConfigFiles({
    cwd,
    env: process.env,
    home: homedir(),
    platform: process.platform,
    ...(configPath !== undefined && { configPath }),
    trustsProjectSettings: () => false,
  }).load();
  const usable = [...servers.values()].flatMap((server) => {
    if (server.state === "invalid") return [];
    const entry = structuredClone(server.definition.entry);
    return [[server.name, server.state === "disabled" ? { ...entry, disabled: true } : entry] as const];
  });
  return {
    mcpServers: Object.fromEntries(usable),
    settings: Object.fromEntries(Object.entries(givenSettings).map(([name, { value }]) => [name, structuredClone(value)])),
    warnings: warnings.map(({ file, server, message }) => `${file}${server === null ? "" : ` (${server})`}: ${message}`),
  };
}
