/** Makes the adapter of a Pi session: Node's ports, and Pi's dialogs, trust and models for what is asked of the person. */
import { mkdtempSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "../../shared/json.ts";
import type { Adapter } from "../adapter/adapter.ts";
import type { UpstreamConfig } from "../adapter/config/server-definition.ts";
import type { ProjectTrust } from "../adapter/ports.ts";
import { nodePorts } from "../node/adapter-ports.ts";
import { silentLog } from "../node/log-sinks.ts";
import { systemClock, systemTimers } from "../node/system-time.ts";
import { createAdapter } from "../adapter/create-adapter.ts";
import { memoryConfig, withRegistered } from "./configuration.ts";
import { createDialogApprover } from "./dialog-approver.ts";
import { createDialogForms } from "./dialog-forms.ts";
import type { KeptApprovals } from "./kept-approvals.ts";
import type { PiHost } from "./pi-host.ts";
import { createPiSampler } from "./pi-sampler.ts";

export interface PiAdapterOptions {
  /** The whole configuration; no file is read then. Null: files. */
  readonly config: JsonObject | null;
  /** In place of the file in Pi's directory. */
  readonly configPath: string | null;
}

export async function createPiAdapter(host: PiHost, kept: KeptApprovals, { config, configPath }: PiAdapterOptions): Promise<Adapter> {
  const cwd = host.session()?.cwd ?? process.cwd();
  const around = { env: process.env, cwd };
  let read: UpstreamConfig | undefined;
  const ports = nodePorts({
    ...around,
    home: homedir(),
    configFile: configPath,
    outputDir: mkdtempSync(join(tmpdir(), "pi-mcp-")),
    trust: piTrust(host),
    trace: () => read?.settings.trace ?? null,
    clock: systemClock,
    timers: systemTimers,
    log: silentLog,
  });
  const files = config === null ? ports.config : memoryConfig(config, around);
  const adapter = await createAdapter({
    ...ports,
    config: withRegistered(files, () => host.pi.getMcpServers(), around),
    approver: createDialogApprover(host, kept),
    forms: createDialogForms(host, openAddress),
    sampler: createPiSampler(host, () => ({ sampling: read?.settings.sampling ?? null, autoApprove: read?.settings.samplingAutoApprove ?? false })),
  });
  read = adapter.config;
  return adapter;
}

/** Pi asks about a project once, for everything that lies in it. */
function piTrust(host: PiHost): ProjectTrust {
  const isTrusted = (): boolean => host.session()?.isProjectTrusted() === true;
  return { known: () => (isTrusted() ? "allowed" : "unasked"), ask: () => Promise.resolve(isTrusted()) };
}

async function openAddress(url: string): Promise<void> {
  const { default: open } = await import("open");
  await open(url);
}
