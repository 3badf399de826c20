/** Puts the adapter together: configuration, connections, catalog, calls. Nothing is decided here but what is connected to what. */
import type { Adapter, AdapterResult } from "./adapter.ts";
import { createApprovals } from "./call/approval.ts";
import { createInvoke } from "./call/invoke.ts";
import { guardContent } from "./call/output-guard.ts";
import { createCatalogView } from "./catalog-view.ts";
import { PI_TOOLS } from "./catalog/direct-selection.ts";
import { configHash } from "./catalog/config-hash.ts";
import type { CatalogEntry } from "./catalog/upstream-catalog.ts";
import type { UpstreamConfig } from "./config/server-definition.ts";
import { createSurface } from "./create-surface.ts";
import { createServerPassage } from "./server-passage.ts";
import { callDirect } from "./direct/call-direct.ts";
import type { AdapterPorts } from "./ports.ts";
import { fetchPrompt, promptCommands } from "./proxy/prompt-commands.ts";
import { callNamespace } from "./proxy/namespace-tool.ts";
import type { HostTool } from "./proxy/host-tools.ts";
import type { ProxyParts } from "./proxy/proxy-parts.ts";
import { runProxy } from "./proxy/run-proxy.ts";
import { runScript } from "./script/run-script.ts";
import { scriptAccess } from "./script/script-access.ts";
import { createUpstreamPool } from "./upstream/pool.ts";
import type { UpstreamPool } from "./upstream/upstream-pool.ts";

export interface AdapterHost {
  /**
   * Whether the host has a tool of its own by this name: a model may confuse it with an upstream's, and no direct tool may take its place.
   * False for tools that the host registered for this adapter.
   */
  readonly isNative: (name: string) => boolean;
  /** The host's own tools, without those that it registered for this adapter: what its model is shown first when it searches. */
  readonly hostTools?: () => readonly HostTool[];
}

/**
 * Reads the configuration and what is kept of catalogs, and begins to connect what is to be connected at the start. Whoever creates it
 * closes it; its output files end with it. Rejects only when a port breaks its contract.
 */
export async function createAdapter(ports: AdapterPorts, host: AdapterHost = { isNative: (name) => PI_TOOLS.has(name) }): Promise<Adapter> {
  const config = await ports.config.load();
  const hash = { env: ports.env, home: ports.home, sha256: ports.sha256 };
  const pool = await createUpstreamPool({ config, ports, hash: (definition) => configHash(definition, hash) });
  const adapter = compose(config, pool, ports, host);
  pool.start();
  return adapter;
}

function compose(config: UpstreamConfig, pool: UpstreamPool, ports: AdapterPorts, host: AdapterHost): Adapter {
  const { settings } = config;
  const guard = settings.outputGuard;
  const view = createCatalogView({ pool, config, clock: ports.clock, isNative: host.isNative });
  const needsApproval = (entry: CatalogEntry): boolean => {
    const wanted = pool.definition(entry.server)?.approveTools ?? settings.approveTools;
    return typeof wanted === "boolean" ? wanted : view.all().selectors.guards(entry, wanted);
  };
  const { approver, sha256, newId } = ports;
  const approvals = createApprovals({ approver, sha256, newId, isRequired: needsApproval });
  const invoke = createInvoke({
    pool,
    approvals,
    timers: ports.timers,
    checksDirect: settings.strictDirectToolArguments,
    current: (entry) => view.current(entry),
  });
  const presenter = { guard, files: ports.output };
  const parts: ProxyParts = {
    config,
    pool,
    view,
    clock: ports.clock,
    invoke,
    presenter,
    needsApproval,
    hostTools: host.hostTools ?? ((): readonly HostTool[] => []),
    directToolsFrozen: settings.freezeDirectTools,
  };
  const surface = createSurface({ config, pool, view, env: ports.env, sha256: ports.sha256, isNative: host.isNative });
  const frame = resultFrame(ports.log);

  return {
    config,
    pool: surface.pool,
    passage: createServerPassage({ pool: surface.pool, view, approvals, ports }),
    entries: () => view.all().entries,
    proxyTool: surface.proxyTool,
    scriptTool: surface.scriptTool,
    directTools: surface.directTools,
    setDirectTools: surface.setDirectTools,
    mcp: (call) => frame("mcp", () => runProxy(call, { ...parts, pool: surface.pool })),
    script: (call) =>
      frame("script", () => runScript(call, { runner: ports.scripts, clock: ports.clock, access: scriptAccess(call, parts), guard: guardScript })),
    namespaceTools: surface.namespaceTools,
    namespace: (name, call) => frame("namespace", () => callNamespace(name, call, parts, surface.namespaceTools())),
    direct: (name, call) => frame("direct", () => callDirect(name, call, parts, surface.directTools())),
    promptCommands: () => promptCommands(pool).commands,
    prompt: (command, line, call) => fetchPrompt(command, line, pool, call),
    subscribe: surface.subscribe,
    async close() {
      surface.close();
      view.close();
      await pool.close();
      await ports.output.close();
    },
  };

  async function guardScript(content: Parameters<typeof guardContent>[0]) {
    const { content: shown, cut } = await guardContent(content, guard, ports.output.keepText.bind(ports.output));
    return { content: shown, details: cut === null ? {} : { outputGuard: cut } };
  }
}

/** A defect of the adapter must not end the host's call in another way than others end. */
function resultFrame(log: AdapterPorts["log"]): (tool: string, run: () => Promise<AdapterResult>) => Promise<AdapterResult> {
  return async (tool, run) => {
    try {
      return await run();
    } catch (error) {
      log.event("error", "adapter.failed", { tool, error: error instanceof Error ? error.name : typeof error });
      const message = `The MCP adapter failed: ${error instanceof Error ? error.message : String(error)}`;
      return { content: [{ type: "text", text: message.slice(0, 2_000) }], details: { error: "internal" }, isError: true };
    }
  };
}
