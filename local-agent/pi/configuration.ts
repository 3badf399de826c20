/** Where a Pi session's MCP servers come from: files, the program that embeds Pi, and other extensions. */
import { homedir } from "node:os";
import type { RegisteredMcpServer } from "@earendil-works/pi-coding-agent";
import type { JsonObject } from "../../shared/json.ts";
import { readConfigDocument } from "../adapter/config/config-document.ts";
import { createMemoryConfig } from "../adapter/config/memory-config.ts";
import type { ConfigLayer } from "../adapter/config/merge.ts";
import type { UpstreamConfig } from "../adapter/config/server-definition.ts";
import type { ConfigSource } from "../adapter/ports.ts";
import { connectsAtStart } from "../adapter/upstream/lifecycle.ts";
import { createConfigFiles, type ConfigFilesOptions } from "../node/config-files.ts";
import { packageWarnings } from "./package-servers.ts";
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
    load: async () => {
      const files = sessionFiles(host, configPath);
      // [PI3] Nothing of the machine's files counts then.
      if (config !== null) return createMemoryConfig(config, { env: files.env, project: files.cwd, weakest: registeredLayers(host) }).load();
      const [read, warnings] = await Promise.all([createConfigFiles(files).load(), packageWarnings(host.pi, files.cwd)]);
      return { ...read, warnings: [...read.warnings, ...warnings] };
    },
  };
}

/** Which files count for the session, and what lies below them. @param configPath as in `PiConfigOptions` */
export function sessionFiles(host: PiHost, configPath: string | null): ConfigFilesOptions {
  return {
    cwd: host.session()?.cwd ?? process.cwd(),
    env: process.env,
    home: homedir(),
    platform: process.platform,
    argv: process.argv.slice(2),
    ...(configPath !== null && { configPath }),
    weakest: registeredLayers(host),
    trustsProjectSettings: () => host.session()?.isProjectTrusted() === true,
  };
}

/** Whether a server is to be connected before anybody uses it. Pure. */
export function startsAtOnce({ servers }: UpstreamConfig): boolean {
  return [...servers.values()].some((server) => server.state === "enabled" && connectsAtStart(server.definition.lifecycle));
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
