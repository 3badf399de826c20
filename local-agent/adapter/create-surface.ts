/** What a host has registered of the adapter: its tools, and the news that they changed. */
import { visibleLine } from "../../shared/visible-text.ts";
import { createEvents } from "./adapter-events.ts";
import type { Adapter, NamespaceTool, OfferedTool } from "./adapter.ts";
import type { CatalogView } from "./catalog-view.ts";
import { type DirectSelection, namespaceProxies, parseDirectOverride, selectDirect } from "./catalog/direct-selection.ts";
import type { DirectTools, UpstreamConfig } from "./config/server-definition.ts";
import { createDirectSurface } from "./direct/direct-surface.ts";
import type { Environment } from "./ports.ts";
import { promptCommands } from "./proxy/prompt-commands.ts";
import { mcpTool } from "./proxy/mcp-tool.ts";
import { namespaceTool } from "./proxy/namespace-tool.ts";
import { SCRIPT_TOOL } from "./script/script-tool.ts";
import type { UpstreamPool } from "./upstream/upstream-pool.ts";

type Surface = Pick<Adapter, "pool" | "proxyTool" | "scriptTool" | "directTools" | "setDirectTools" | "namespaceTools" | "subscribe"> & {
  close(): void;
};

/** More tools than that cost a model more than they help it. */
const MANY_DIRECT_TOOLS = 75;

interface SurfaceParts {
  readonly config: UpstreamConfig;
  readonly pool: UpstreamPool;
  readonly view: CatalogView;
  readonly env: Environment;
  readonly sha256: (text: string) => string;
  readonly isNative: (name: string) => boolean;
}

export function createSurface(parts: SurfaceParts): Surface {
  const { config, pool, view } = parts;
  const { settings } = config;
  const enabled = [...config.servers.values()].flatMap((server) => (server.state === "enabled" ? [server.definition] : []));
  const events = createEvents();
  const selection = createSelection(
    parts,
    enabled.map(({ name }) => name),
  );
  const direct = createDirectSurface({ isFrozen: settings.freezeDirectTools, select: () => selection.direct().tools });
  // [CL41] Made once: what servers say of themselves is taken as it was known then.
  const proxy = mcpTool(enabled.map(({ name }) => ({ name, instructions: pool.held(name)?.catalog.instructions ?? null })));
  warn();
  let namespaces = selection.namespaces();
  let offersProxy = proxyTool() !== null;
  const unsubscribe = pool.subscribe((event) => {
    if (event.t === "state") events.say({ t: "status" });
    if (event.t === "catalog") changed(event.server, "news");
  });

  return {
    pool: { ...bound(pool), connect, definition: selection.definition },
    proxyTool,
    scriptTool: () => (settings.scriptMode && enabled.length > 0 ? SCRIPT_TOOL : null),
    directTools: () => direct.tools(),
    setDirectTools(server, directTools) {
      const decides = selection.choose(server, directTools);
      if (decides) changed(server, "asked");
      return decides;
    },
    namespaceTools: () => namespaces,
    subscribe: (listener) => events.subscribe(listener),
    close: unsubscribe,
  };

  function proxyTool(): OfferedTool | null {
    if (enabled.length === 0) return null;
    return settings.disableProxyTool && isDirectComplete() ? null : proxy;
  }

  /** As for direct tools: what is frozen changes when somebody asks. True when it did. */
  function updateNamespaces(server: string, why: "asked" | "news"): boolean {
    if (settings.freezeDirectTools && why === "news" && namespaces.some((tool) => tool.server === server)) return false;
    const now = selection.namespaces();
    if (JSON.stringify(now) === JSON.stringify(namespaces)) return false;
    namespaces = now;
    return true;
  }

  /** [CL43] Without the proxy, a tool that is not direct yet could not be found at all. */
  function isDirectComplete(): boolean {
    const { tools, awaited } = selection.direct();
    return tools.length > 0 && awaited.length === 0 && tools.every(({ shown }) => shown);
  }

  /** A listing that was asked for may change what is frozen. */
  async function connect(...[server, options]: Parameters<UpstreamPool["connect"]>): ReturnType<UpstreamPool["connect"]> {
    const connected = await pool.connect(server, options);
    if (connected.ok && options.replace === true) changed(server, "asked");
    return connected;
  }

  function changed(server: string, why: "asked" | "news"): void {
    const directChanged = direct.update(server, why);
    const toolsChanged = updateNamespaces(server, why) || directChanged;
    const proxyChanged = offersProxy !== (proxyTool() !== null);
    offersProxy = proxyTool() !== null;
    warn();
    events.say({ t: "status" });
    events.say({ t: "prompts" });
    if (toolsChanged || proxyChanged) events.say({ t: "tools" });
  }

  function warn(): void {
    for (const { server, message } of [...view.all().warnings, ...selection.direct().warnings, ...promptCommands(pool).warnings])
      events.notice(`${visibleLine(server, 100)}: ${message}`);
    const count = direct.tools().filter(({ shown }) => shown).length;
    if (settings.warnOnLargeDirectTools && count >= MANY_DIRECT_TOOLS) events.notice(manyTools(count));
  }
}

function manyTools(count: number): string {
  return `${count} MCP tools are direct; each costs the model some 200 tokens. A list of names in "directTools" keeps to the ones that matter.`;
}

/** What the configuration, the environment and the person want to be offered of what is known now. */
function createSelection({ config, pool, view, env, sha256, isNative }: SurfaceParts, enabled: readonly string[]) {
  const override = parseDirectOverride(env["MCP_DIRECT_TOOLS"]);
  const chosen = new Map<string, DirectTools>();
  const definition: UpstreamPool["definition"] = (server) => {
    const configured = pool.definition(server);
    const directTools = chosen.get(server);
    return configured === null || directTools === undefined ? configured : { ...configured, directTools };
  };
  const direct = (): DirectSelection => {
    const { entries, selectors } = view.all();
    const servers = enabled.map((name) => ({ name, directTools: definition(name)?.directTools ?? false, isListed: pool.held(name) !== null }));
    return selectDirect({ servers, entries, selectors, override, isReserved: isNative });
  };
  const namespaces = (): readonly NamespaceTool[] => {
    if (!config.settings.namespaceProxyTools) return [];
    return namespaceProxies(view.all().entries, direct().tools, { sha256, isReserved: isNative }).map(({ name, server }) =>
      namespaceTool(name, server),
    );
  };
  /** False: the environment decides. */
  const choose = (server: string, directTools: DirectTools): boolean => {
    if (override === null) chosen.set(server, directTools);
    return override === null;
  };
  return { direct, namespaces, definition, choose };
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
    hold: (server) => pool.hold(server),
    refreshKeptAlive: (signal) => pool.refreshKeptAlive(signal),
    disconnect: (server) => pool.disconnect(server),
    subscribe: (listener) => pool.subscribe(listener),
    definition: (server) => pool.definition(server),
    servers: () => pool.servers(),
    close: () => pool.close(),
  };
}
