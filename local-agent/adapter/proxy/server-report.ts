/** How the servers stand, for whoever shows it: all of them say the same numbers. Pure. */
import type { CatalogEntry } from "../catalog/upstream-catalog.ts";
import type { ListenState, UpstreamPool, UpstreamState } from "../upstream/upstream-pool.ts";

export interface ServerReport {
  readonly name: string;
  readonly status: "connected" | "connecting" | "cached" | "failed" | "needs-auth" | "not-connected" | "disabled" | "untrusted" | "invalid";
  /** Tools as they are shown, with those that read a resource. */
  readonly toolCount: number;
  /** null: not known. */
  readonly resourceCount: number | null;
  readonly listenState: ListenState | "disconnected";
  /** Whether what is known of its tools is past its time; null: nothing is known. */
  readonly catalogStale: boolean | null;
  /** Only while a failure is active. */
  readonly failedAgoSeconds: number | null;
  /** A sentence: why it is failed, needs a login, cannot be used, or may be gone although it is connected; null: it is none of these. */
  readonly cause: string | null;
}

/** In the configuration's order. */
export function serverReports(pool: UpstreamPool, entries: readonly CatalogEntry[], now: number): readonly ServerReport[] {
  const byServer = Map.groupBy(entries, ({ server }) => server);
  return pool.servers().map((name) => {
    const state = pool.state(name);
    const held = pool.held(name);
    return {
      name,
      status: statusOf(state, held !== null),
      toolCount: byServer.get(name)?.length ?? 0,
      resourceCount: held === null ? null : held.catalog.resources.length,
      listenState: state.at === "connected" ? state.listening : "disconnected",
      catalogStale: held === null ? null : held.freshness === "stale",
      failedAgoSeconds: state.at === "failed" || state.at === "needs-auth" ? Math.max(0, Math.round((now - state.failedAt) / 1_000)) : null,
      cause: causeOf(state),
    };
  });
}

export interface ServerTotals {
  readonly totalTools: number;
  readonly totalResources: number;
  readonly connectedCount: number;
  readonly disabledCount: number;
}

export function totalsOf(reports: readonly ServerReport[]): ServerTotals {
  return {
    totalTools: reports.reduce((sum, { toolCount }) => sum + toolCount, 0),
    totalResources: reports.reduce((sum, { resourceCount }) => sum + (resourceCount ?? 0), 0),
    connectedCount: reports.filter(({ status }) => status === "connected").length,
    disabledCount: reports.filter(({ status }) => status === "disabled").length,
  };
}

function statusOf(state: UpstreamState, isKnown: boolean): ServerReport["status"] {
  return state.at === "idle" ? (isKnown ? "cached" : "not-connected") : state.at;
}

function causeOf(state: UpstreamState): string | null {
  if (state.at === "failed" || state.at === "needs-auth") return state.cause;
  if (state.at === "invalid") return state.problem;
  if (state.at === "connected" && state.unanswered === true) return "Its last request got no answer.";
  if (state.at !== "untrusted") return null;
  return state.denied
    ? "A file of this project configures it, and the person did not allow it."
    : "A file of this project configures it; the person is asked before it runs.";
}
