/** Where a Pi session's MCP servers come from: files, the program that embeds Pi, and other extensions. */
import { homedir } from "node:os";
import type { RegisteredMcpServer } from "@earendil-works/pi-coding-agent";
import type { JsonObject } from "../../shared/json.ts";
import { readConfigDocument } from "../adapter/config/config-document.ts";
import { mergeLayers, type ConfigLayer } from "../adapter/config/merge.ts";
import type { UpstreamConfig } from "../adapter/config/server-definition.ts";
import type { ConfigSource } from "../adapter/ports.ts";
import { createConfigFiles } from "../node/config-files.ts";
import type { PiHost } from "./pi-host.ts";

export interface PiConfigOptions {
  /** The whole configuration; no file is read then. Null: files. */
  readonly config: JsonObject | null;
  /** In place of the file in Pi's directory; null: what the command line says, else that file. */
  readonly configPath: string | null;
}

/** What is configured for the session as it is now; before the first one, for the directory Pi was started in, trusting nothing there. */
export function piConfig(host: PiHost, { config, configPath }: PiConfigOptions): ConfigSource {
  return {
    load: () => {
      const cwd = host.session()?.cwd ?? process.cwd();
      const registered = registeredLayers(host);
      if (config !== null) return Promise.resolve(ofProgram(config, registered, cwd));
      return createConfigFiles({
        cwd,
        env: process.env,
        home: homedir(),
        platform: process.platform,
        argv: process.argv.slice(2),
        ...(configPath !== null && { configPath }),
        weakest: registered,
        trustsProjectSettings: () => host.session()?.isProjectTrusted() === true,
      }).load();
    },
  };
}

/** Whether a server is to be connected before anybody uses it. Pure. */
export function startsAtOnce({ servers }: UpstreamConfig): boolean {
  return [...servers.values()].some(
    (server) => server.state === "enabled" && (server.definition.lifecycle === "eager" || server.definition.lifecycle === "keep-alive"),
  );
}

/** [PI3] A configuration that is given whole: no file is looked at, and what the caller does to its object afterwards changes nothing. */
function ofProgram(config: JsonObject, registered: readonly ConfigLayer[], cwd: string): UpstreamConfig {
  const document = readConfigDocument(structuredClone(config));
  const layer: ConfigLayer = { origin: { layer: "memory", file: "createMcpAdapter({ config })" }, inProject: false, document, plugin: null };
  return mergeLayers([...registered, layer], { env: process.env, project: cwd, projectSettings: "ignore", warnings: [], sources: [] });
}

/** [PI4] What other extensions registered lies below everything that files say. */
function registeredLayers({ pi }: PiHost): readonly ConfigLayer[] {
  return pi.getMcpServers().map(({ name, config, extensionPath }) => ({
    origin: { layer: "memory", file: extensionPath },
    inProject: false,
    document: readConfigDocument({ mcpServers: { [name]: entryOf(config) } }),
    plugin: null,
  }));
}

/** Pi says `enabled` and a timeout in seconds where these files say `disabled` and milliseconds. */
function entryOf(config: RegisteredMcpServer["config"]): JsonObject {
  const { enabled, timeout, ...entry } = JSON.parse(JSON.stringify(config)) as Record<string, JsonObject[string]>;
  return {
    ...entry,
    ...(enabled === false && { disabled: true }),
    ...(typeof timeout === "number" && { requestTimeoutMs: timeout * 1000 }),
  };
}
