/** What the page and the banner say of a run. */
import type { DeskInfo } from "../../shared/desk.ts";
import type { Adapter } from "../adapter/adapter.ts";
import { defaultWaitMs, patientWaitMs } from "../mcp/wait-budget.ts";
import type { ToolHost } from "../tools/tool-host.ts";
import type { AgentContext } from "./agent-parts.ts";
import type { ClientPair } from "./client-pair.ts";
import { pageWarnings } from "./desk-page.ts";

export interface InfoParts {
  readonly tools: ToolHost;
  readonly mcpUrls: readonly string[];
  /** Origin of the relay; empty without one. */
  readonly relay: string;
  readonly relayIsLocal: boolean;
  /** null: OAuth is off. */
  readonly client: ClientPair | null;
  readonly tokenSet: boolean;
  /** Null: there are none. */
  readonly upstreams: Adapter | null;
  readonly warnings: readonly string[];
}

export function describeAgent({ settings, installation, clock }: AgentContext, of: InfoParts): DeskInfo {
  const redirects = of.client?.redirects;
  return {
    version: installation.version,
    root: of.tools.root,
    tools: of.tools.list().map((tool) => tool.name),
    mcpServers: of.upstreams === null ? [] : serversOf(of.upstreams, settings.upstreams?.expose ?? []),
    deny: [...settings.deny],
    mcpUrls: [...of.mcpUrls],
    relay: of.relay,
    relayIsLocal: of.relayIsLocal,
    oauth: of.client !== null,
    tokenSet: of.tokenSet,
    client: of.client === null ? null : { id: of.client.id, redirects: redirects === null || redirects === undefined ? null : [...redirects] },
    human: settings.human,
    approve: [...settings.approve],
    waitMs: defaultWaitMs(settings.blockMs),
    patientWaitMs: patientWaitMs(settings.blockMs),
    uiToken: settings.uiToken !== null,
    confinement: of.tools.confinement(),
    warnings: [...of.tools.warnings(), ...pageWarnings(settings), ...of.warnings],
    startedAt: clock.now(),
  };
}

/** As they are when the agent starts: `waits` for the person, because a file of the project configures it. */
function serversOf({ pool }: Adapter, exposed: readonly string[] | "all"): DeskInfo["mcpServers"] {
  return pool.servers().map((name) => {
    const { at } = pool.state(name);
    if (at === "disabled") return { name, state: "disabled" };
    if (at === "invalid") return { name, state: "unusable" };
    if (at === "untrusted") return { name, state: "waits" };
    return { name, state: exposed === "all" || exposed.includes(name) ? "exposed" : "on" };
  });
}
