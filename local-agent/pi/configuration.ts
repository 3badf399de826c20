/** Where a Pi session's MCP servers come from: files, the program that embeds Pi, and other extensions. */
import type { RegisteredMcpServer } from "@earendil-works/pi-coding-agent";
import type { JsonObject } from "../../shared/json.ts";
import { readConfigDocument } from "../adapter/config/config-document.ts";
import { mergeLayers, type ConfigLayer, type MergeContext } from "../adapter/config/merge.ts";
import type { ConfigSource, Environment } from "../adapter/ports.ts";

export interface Surroundings {
  readonly env: Environment;
  readonly cwd: string;
}

/** [PI3] A configuration that is given whole: no file is looked at, and what the caller does to its object afterwards changes nothing. */
export function memoryConfig(config: JsonObject, around: Surroundings): ConfigSource {
  const document = readConfigDocument(structuredClone(config));
  const layer: ConfigLayer = { origin: { layer: "memory", file: "createMcpAdapter({ config })" }, inProject: false, document, plugin: null };
  return { load: () => Promise.resolve(mergeLayers([layer], contextOf(around))) };
}

/** [PI4] What other extensions registered, below everything that files say: an entry of a file with the same name goes before it. */
export function withRegistered(files: ConfigSource, registered: () => readonly RegisteredMcpServer[], around: Surroundings): ConfigSource {
  return {
    async load() {
      const config = await files.load();
      const layers = registered().map(layerOf);
      if (layers.length === 0) return config;
      const extra = mergeLayers(layers, contextOf(around));
      const servers = new Map([...[...extra.servers].filter(([name]) => !config.servers.has(name)), ...config.servers]);
      return { ...config, servers, warnings: [...config.warnings, ...extra.warnings] };
    },
  };
}

function layerOf({ name, config, extensionPath }: RegisteredMcpServer): ConfigLayer {
  const document = readConfigDocument({ mcpServers: { [name]: entryOf(config) } });
  return { origin: { layer: "memory", file: extensionPath }, inProject: false, document, plugin: null };
}

/** Pi says `enabled` where these files say `disabled`. */
function entryOf(config: RegisteredMcpServer["config"]): JsonObject {
  const entry = JSON.parse(JSON.stringify(config)) as Record<string, JsonObject[string]>;
  return { ...entry, ...(entry["enabled"] === false && { disabled: true }) };
}

function contextOf({ env, cwd }: Surroundings): MergeContext {
  return { env, project: cwd, projectSettings: "ignore", warnings: [], sources: [] };
}
