/** What a host has registered of the adapter: its tools, and the news that they changed. */
import { visibleLine } from "../../shared/visible-text.ts";
import type { Adapter, AdapterEvent, OfferedTool } from "./adapter.ts";
import type { CatalogView } from "./catalog-view.ts";
import { type DirectSelection, parseDirectOverride, selectDirect } from "./catalog/direct-selection.ts";
import type { UpstreamConfig } from "./config/server-definition.ts";
import { createDirectSurface } from "./direct/direct-surface.ts";
import type { Environment } from "./ports.ts";
import { mcpTool } from "./proxy/mcp-tool.ts";
import { SCRIPT_TOOL } from "./script/script-tool.ts";
import type { UpstreamPool } from "./upstream/upstream-pool.ts";

type Surface = Pick<Adapter, "pool" | "proxyTool" | "scriptTool" | "directTools" | "subscribe"> & { close(): void };

/** More tools than that cost a model more than they help it. */
const MANY_DIRECT_TOOLS = 75;

export function createSurface(parts: {
  readonly config: UpstreamConfig;
  readonly pool: UpstreamPool;
  readonly view: CatalogView;
  readonly env: Environment;
  readonly isNative: (name: string) => boolean;
}): Surface {
  const { config, pool, view } = parts;
  const { settings } = config;
  const enabled = [...config.servers.values()].flatMap((server) => (server.state === "enabled" ? [server.definition] : []));
  const events = createEvents();
  const override = parseDirectOverride(parts.env["MCP_DIRECT_TOOLS"]);
  const direct = createDirectSurface({ isFrozen: settings.freezeDirectTools, select: () => selection().tools });
  // [CL41] Made once: what servers say of themselves is taken as it was known then.
  const proxy = mcpTool(enabled.map(({ name }) => ({ name, instructions: pool.held(name)?.catalog.instructions ?? null })));
  warn();
  let offersProxy = proxyTool() !== null;
  const unsubscribe = pool.subscribe((event) => {
    if (event.t === "state") events.say({ t: "status" });
    if (event.t === "catalog") changed(event.server, "news");
  });

  return {
    pool: { ...bound(pool), connect },
    proxyTool,
    scriptTool: () => (settings.scriptMode && enabled.length > 0 ? SCRIPT_TOOL : null),
    directTools: () => direct.tools(),
    subscribe: (listener) => events.subscribe(listener),
    close: unsubscribe,
  };

  function proxyTool(): OfferedTool | null {
    if (enabled.length === 0) return null;
    return settings.disableProxyTool && isDirectComplete() ? null : proxy;
  }

  function selection(): DirectSelection {
    const { entries, selectors } = view.all();
    const servers = enabled.map(({ name, directTools }) => ({ name, directTools, isListed: pool.held(name) !== null }));
    return selectDirect({ servers, entries, selectors, override, isReserved: parts.isNative });
  }

  /** [CL43] Without the proxy, a tool that is not direct yet could not be found at all. */
  function isDirectComplete(): boolean {
    const { tools, awaited } = selection();
    return tools.length > 0 && awaited.length === 0 && tools.every(({ shown }) => shown);
  }

  /** A listing that was asked for may change what is frozen. */
  async function connect(...[server, options]: Parameters<UpstreamPool["connect"]>): ReturnType<UpstreamPool["connect"]> {
    const connected = await pool.connect(server, options);
    if (connected.ok && options.replace === true) changed(server, "asked");
    return connected;
  }

  function changed(server: string, why: "asked" | "news"): void {
    const toolsChanged = direct.update(server, why);
    const proxyChanged = offersProxy !== (proxyTool() !== null);
    offersProxy = proxyTool() !== null;
    warn();
    events.say({ t: "status" });
    events.say({ t: "prompts" });
    if (toolsChanged || proxyChanged) events.say({ t: "tools" });
  }

  function warn(): void {
    for (const { server, message } of [...view.all().warnings, ...selection().warnings]) events.notice(`${visibleLine(server, 100)}: ${message}`);
    const count = direct.tools().filter(({ shown }) => shown).length;
    if (!settings.warnOnLargeDirectTools || count < MANY_DIRECT_TOOLS) return;
    events.notice(
      `${count} MCP tools are direct; each costs the model some 200 tokens. A list of names in "directTools" keeps to the ones that matter.`,
    );
  }
}

/** A class's methods as a plain object, so that one of them can be another. */
function bound(pool: UpstreamPool): UpstreamPool {
  return {
    state: (server) => pool.state(server),
    held: (server) => pool.held(server),
    connecting: () => pool.connecting(),
    start: () => pool.start(),
    connect: (server, options) => pool.connect(server, options),
    use: (server, options, use) => pool.use(server, options, use),
    refreshKeptAlive: (signal) => pool.refreshKeptAlive(signal),
    disconnect: (server) => pool.disconnect(server),
    subscribe: (listener) => pool.subscribe(listener),
    definition: (server) => pool.definition(server),
    servers: () => pool.servers(),
    close: () => pool.close(),
  };
}

interface Events {
  say(event: AdapterEvent): void;
  /** Kept for the first listener when there is none yet; said once. */
  notice(text: string): void;
  subscribe: Adapter["subscribe"];
}

const MAX_KEPT_NOTICES = 50;

function createEvents(): Events {
  const listeners = new Set<(event: AdapterEvent) => void>();
  const said = new Set<string>();
  const waiting: AdapterEvent[] = [];
  const say = (event: AdapterEvent): void => {
    for (const listener of listeners) {
      try {
        listener(event);
      } catch {
        // A listener's own fault is not the adapter's, and the others are told all the same.
      }
    }
  };
  return {
    say,
    notice(text) {
      if (said.has(text)) return;
      said.add(text);
      const event: AdapterEvent = { t: "notice", level: "warning", text };
      if (listeners.size > 0) say(event);
      else if (waiting.length < MAX_KEPT_NOTICES) waiting.push(event);
    },
    subscribe(listener) {
      listeners.add(listener);
      for (const event of waiting.splice(0)) say(event);
      return () => void listeners.delete(listener);
    },
  };
}
