/** Node's ports of the adapter: everything but who is asked, which is the host's business. */
import { createHash, randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Clock, Log, Timers } from "../../shared/ports.ts";
import type { AdapterSettings } from "../adapter/config/server-definition.ts";
import type { AdapterPorts, Environment, ProjectTrust } from "../adapter/ports.ts";
import { agentDirectory } from "./agent-directory.ts";
import { createConfigFiles } from "./config-files.ts";
import { createMetadataFile, METADATA_FILE } from "./metadata-file.ts";
import { createOutputFiles } from "./output-files.ts";
import { createScriptRunner } from "./script-worker.ts";
import { createUpstreamTransports } from "./upstream-transports.ts";

export interface NodePortsOptions {
  /** Absolute: where the project's files are looked for, and what relative commands mean. */
  readonly cwd: string;
  readonly env: Environment;
  /** Absolute. */
  readonly home: string;
  /** In place of the file in Pi's directory; null: that one. */
  readonly configFile: string | null;
  /** Where long output is kept; private, and ended with the adapter. */
  readonly outputDir: string;
  readonly trust: ProjectTrust;
  /** As for `createUpstreamTransports`. */
  readonly packagesApart?: string;
  /** The settings' `trace`, once they are read; null: not yet. */
  readonly trace: () => AdapterSettings["trace"] | null;
  /** What servers with `debug` write to their error stream, a piece at a time. */
  readonly showErrorOutput?: (server: string, text: string) => void;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
}

export function nodePorts(options: NodePortsOptions): Omit<AdapterPorts, "approver" | "forms" | "sampler"> {
  const { env, home, clock, timers, log, trust, cwd } = options;
  const agentDir = agentDirectory(env, home);
  return {
    clock,
    timers,
    log,
    random: Math.random,
    sha256: (text) => createHash("sha256").update(text).digest("hex"),
    newId: randomUUID,
    env,
    home,
    config: createConfigFiles({
      cwd,
      env,
      home,
      platform: process.platform,
      ...(options.configFile !== null && { configPath: options.configFile }),
      trustsProjectSettings: (subject) => trust.known(subject) === "allowed",
    }),
    transports: createUpstreamTransports({
      env,
      home,
      cwd,
      clock,
      timers,
      log,
      newId: randomUUID,
      trace: options.trace,
      ...(options.showErrorOutput !== undefined && { showErrorOutput: options.showErrorOutput }),
      ...(options.packagesApart !== undefined && { packagesApart: options.packagesApart }),
    }),
    metadata: createMetadataFile({ path: join(agentDir, METADATA_FILE), log }),
    trust,
    output: createOutputFiles({ directory: options.outputDir, timers, log }),
    scripts: createScriptRunner({ timers }),
  };
}
