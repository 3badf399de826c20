/** What the modes of `mcp` work with, and the sentences they share. */
import type { Clock } from "../../../shared/ports.ts";
import { visibleLine } from "../../../shared/visible-text.ts";
import type { CallFailure } from "../call/call-failure.ts";
import type { Invoke } from "../call/invoke.ts";
import type { Presenter } from "../call/present.ts";
import type { CatalogView } from "../catalog-view.ts";
import { meantServer } from "../catalog/resolve.ts";
import type { CatalogEntry } from "../catalog/upstream-catalog.ts";
import type { UpstreamConfig } from "../config/server-definition.ts";
import type { HostTool } from "./host-tools.ts";
import { backoffFailure } from "../upstream/connect-failure.ts";
import type { UpstreamPool } from "../upstream/upstream-pool.ts";

export interface ProxyParts {
  readonly config: UpstreamConfig;
  readonly pool: UpstreamPool;
  readonly view: CatalogView;
  readonly clock: Clock;
  readonly invoke: Invoke;
  readonly presenter: Presenter;
  /** Whether the configuration wants the person asked before the tool runs. */
  readonly needsApproval: (entry: CatalogEntry) => boolean;
  readonly hostTools: () => readonly HostTool[];
  /** Whether the list of direct tools changes by itself no more. */
  readonly directToolsFrozen: boolean;
}

/** Names of tools and servers come from strangers. */
export function quoted(name: string): string {
  return `"${visibleLine(name, 200)}"`;
}

/** The configured server that is meant, as for a tool's. */
export function serverNamed(asked: string, { config }: Pick<ProxyParts, "config">): string | null {
  return meantServer(asked, [...config.servers.keys()]);
}

export function noSuchServer(asked: string, { config }: Pick<ProxyParts, "config">): string {
  const names = [...config.servers.keys()];
  const shown = names.slice(0, MAX_NAMES).map(quoted).join(", ");
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : "";
  return `No MCP server ${quoted(asked)} is configured. ${names.length === 0 ? "None is." : `There are ${shown}${more}.`}`;
}

export function waitsForRetry(server: string, { pool, clock }: Pick<ProxyParts, "pool" | "clock">): CallFailure {
  const state = pool.state(server);
  if (state.at !== "failed") return { code: "server_backoff", message: `${quoted(server)} failed a moment ago.` };
  return backoffFailure(server, { needsAuth: false, at: state.failedAt, cause: state.cause }, state.retryAt, clock.now());
}

export function disabledFailure(server: string, { pool }: Pick<ProxyParts, "pool">): CallFailure {
  const state = pool.state(server);
  if (state.at === "invalid") return { code: "invalid_server", message: `${quoted(server)} cannot be used: ${state.problem}` };
  return { code: "server_disabled", message: `${quoted(server)} is disabled in the configuration. Its tools are not available.` };
}

const MAX_NAMES = 50;
