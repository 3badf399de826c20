/** The adapter's state for other Pi extensions: plain copies, of which reading costs nothing (contract "Runtime status snapshots"). */
import type { Adapter } from "../adapter/adapter.ts";
import type { ListenState, UpstreamState } from "../adapter/upstream/upstream-pool.ts";

export const MCP_STATUS_EVENT = "pi-mcp-adapter/status/v1";

type McpServerStatus = "connected" | "cached" | "failed" | "needs-auth" | "not-connected" | "disabled";

interface McpServerSnapshot {
  readonly name: string;
  readonly status: McpServerStatus;
  readonly toolCount: number;
  readonly directToolCount: number;
  readonly disabled: boolean;
  /** Left out while nothing is known of them. */
  readonly resourceCount?: number;
  /** Only while a failure keeps it from being tried again. */
  readonly failedAgoSeconds?: number;
  readonly listenState: ListenState | "disconnected";
  readonly catalogStale?: boolean;
}

export interface McpStatusSnapshot {
  readonly version: 1;
  readonly servers: readonly McpServerSnapshot[];
  readonly totalTools: number;
  readonly totalResources: number;
  readonly connectedCount: number;
  readonly disabledCount: number;
}

/** What is said when the session ends. */
export const EMPTY_STATUS: McpStatusSnapshot = { version: 1, servers: [], totalTools: 0, totalResources: 0, connectedCount: 0, disabledCount: 0 };

/** Connects to nothing. @param now milliseconds since the epoch */
export function statusSnapshot(adapter: Adapter, now: number): McpStatusSnapshot {
  const tools = countBy(adapter.entries().map(({ server }) => server));
  const direct = countBy(adapter.directTools().map(({ entry }) => entry.server));
  const servers = adapter.pool.servers().map((name): McpServerSnapshot => {
    const state = adapter.pool.state(name);
    const held = adapter.pool.held(name);
    const isDisabled = state.at === "disabled";
    return {
      name,
      status: statusOf(state, held !== null),
      toolCount: tools.get(name) ?? 0,
      directToolCount: direct.get(name) ?? 0,
      disabled: isDisabled,
      ...(held !== null && { resourceCount: held.catalog.resources.length, catalogStale: held.freshness === "stale" }),
      ...(state.at === "failed" && state.retryAt > now && { failedAgoSeconds: Math.max(0, Math.round((now - state.failedAt) / 1000)) }),
      listenState: state.at === "connected" ? state.listening : "disconnected",
    };
  });
  return {
    version: 1,
    servers,
    totalTools: sum(servers.map(({ toolCount }) => toolCount)),
    totalResources: sum(servers.map(({ resourceCount }) => resourceCount ?? 0)),
    connectedCount: servers.filter(({ status }) => status === "connected").length,
    disabledCount: servers.filter(({ disabled }) => disabled).length,
  };
}

function statusOf(state: UpstreamState, isKnown: boolean): McpServerStatus {
  switch (state.at) {
    case "disabled":
    case "connected":
    case "needs-auth":
    case "failed":
      return state.at;
    case "invalid":
      return "failed";
    case "untrusted":
      return "not-connected";
    case "idle":
    case "connecting":
      return isKnown ? "cached" : "not-connected";
  }
}

function countBy(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
