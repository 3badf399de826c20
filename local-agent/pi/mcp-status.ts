/** The adapter's state for other Pi extensions: plain copies, of which reading costs nothing (contract "Runtime status snapshots"). */
import type { Adapter } from "../adapter/adapter.ts";
import { serverReports, type ServerReport, type ServerTotals, totalsOf } from "../adapter/proxy/server-report.ts";

export const MCP_STATUS_EVENT = "pi-mcp-adapter/status/v1";

type McpServerStatus = "connected" | "cached" | "failed" | "needs-auth" | "not-connected" | "disabled";

interface McpServerSnapshot {
  readonly name: string;
  readonly status: McpServerStatus;
  /** With those that read a resource. */
  readonly toolCount: number;
  readonly directToolCount: number;
  readonly disabled: boolean;
  /** Left out while nothing is known of them. */
  readonly resourceCount?: number;
  /** Only while a failure keeps it from being tried again. */
  readonly failedAgoSeconds?: number;
  readonly listenState: ServerReport["listenState"];
  readonly catalogStale?: boolean;
}

export interface McpStatusSnapshot extends ServerTotals {
  readonly version: 1;
  readonly servers: readonly McpServerSnapshot[];
}

/** What is said when the session ends. */
export const EMPTY_STATUS: McpStatusSnapshot = { version: 1, servers: [], totalTools: 0, totalResources: 0, connectedCount: 0, disabledCount: 0 };

/** Connects to nothing. @param now milliseconds since the epoch */
export function statusSnapshot(adapter: Adapter, now: number): McpStatusSnapshot {
  const direct = Map.groupBy(adapter.directTools(), ({ entry }) => entry.server);
  const reports = serverReports(adapter.pool, adapter.entries(), now);
  const servers = reports.map(({ name, status, toolCount, resourceCount, catalogStale, failedAgoSeconds, listenState }): McpServerSnapshot => {
    const state = adapter.pool.state(name);
    return {
      name,
      status: statusOf(status, catalogStale !== null),
      toolCount,
      directToolCount: direct.get(name)?.length ?? 0,
      disabled: status === "disabled",
      ...(resourceCount !== null && { resourceCount }),
      ...(catalogStale !== null && { catalogStale }),
      ...(failedAgoSeconds !== null && state.at === "failed" && state.retryAt > now && { failedAgoSeconds }),
      listenState,
    };
  });
  return { version: 1, servers, ...totalsOf(reports) };
}

/** What listeners know the words of. */
function statusOf(status: ServerReport["status"], isKnown: boolean): McpServerStatus {
  switch (status) {
    case "invalid":
      return "failed";
    case "untrusted":
      return "not-connected";
    case "connecting":
      return isKnown ? "cached" : "not-connected";
    case "connected":
    case "cached":
    case "failed":
    case "needs-auth":
    case "not-connected":
    case "disabled":
      return status;
  }
}
