/** What the page and the banner say of a run. */
import type { DeskInfo } from "../../shared/desk.ts";
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
  readonly warnings: readonly string[];
}

export function describeAgent({ settings, installation, clock }: AgentContext, of: InfoParts): DeskInfo {
  const redirects = of.client?.redirects;
  return {
    version: installation.version,
    root: of.tools.root,
    tools: of.tools.list().map((tool) => tool.name),
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
