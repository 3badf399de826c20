/** Makes the adapter of a Pi session: Node's ports, and Pi's dialogs, trust and models for what is asked of the person. */
import { homedir, tmpdir } from "node:os";
import type { Adapter } from "../adapter/adapter.ts";
import { createAdapter, type AdapterHost } from "../adapter/create-adapter.ts";
import type { UpstreamConfig } from "../adapter/config/server-definition.ts";
import { nodePorts } from "../node/adapter-ports.ts";
import { silentLog } from "../node/log-sinks.ts";
import { systemClock, systemTimers } from "../node/system-time.ts";
import { piConfig, type PiConfigOptions } from "./configuration.ts";
import { showLogs } from "../adapter/upstream/debug-logs.ts";
import { createDebugLines } from "./debug-lines.ts";
import { createDialogApprover } from "./dialog-approver.ts";
import { createDialogForms } from "./dialog-forms.ts";
import type { KeptApprovals } from "./kept-approvals.ts";
import type { PiHost } from "./pi-host.ts";
import { createPiSampler } from "./pi-sampler.ts";
import { piTrust } from "./project-trust.ts";
import { maybeShared } from "./shared-servers.ts";

export interface PiAdapterParts {
  readonly host: PiHost;
  readonly kept: KeptApprovals;
  readonly tools: AdapterHost;
}

export async function createPiAdapter({ host, kept, tools }: PiAdapterParts, options: PiConfigOptions): Promise<Adapter> {
  let read: UpstreamConfig | undefined;
  const debug = createDebugLines(host, systemClock);
  const ports = nodePorts({
    cwd: host.session()?.cwd ?? process.cwd(),
    env: process.env,
    home: homedir(),
    configFile: options.configPath,
    outputDir: tmpdir(),
    trust: piTrust(host),
    trace: () => read?.settings.trace ?? null,
    showErrorOutput: debug,
    clock: systemClock,
    timers: systemTimers,
    log: silentLog,
  });
  const forms = createDialogForms(host, openAddress);
  const sampler = createPiSampler(host, () => ({
    sampling: read?.settings.sampling ?? null,
    autoApprove: read?.settings.samplingAutoApprove ?? false,
  }));
  const adapter = await createAdapter(
    {
      ...ports,
      config: piConfig(host, options),
      transports: await maybeShared(ports.transports, host, { forms, sampler }),
      approver: createDialogApprover(host, kept),
      forms,
      sampler,
    },
    tools,
  );
  read = adapter.config;
  showLogs(adapter.pool, debug);
  return adapter;
}

async function openAddress(url: string): Promise<void> {
  const { default: open } = await import("open");
  await open(url);
}
