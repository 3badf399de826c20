/** How the servers stand, for the status mode. Pure. */
import type { CatalogEntry } from "../catalog/upstream-catalog.ts";
import type { ListenState, UpstreamPool, UpstreamState } from "../upstream/upstream-pool.ts";

export interface ServerReport {
  readonly name: string;
  readonly status: "connected" | "connecting" | "cached" | "failed" | "needs-auth" | "not-connected" | "disabled" | "untrusted" | "invalid";
  /** Tools as they are shown; resources that are shown as tools are counted apart. */
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
    const own = byServer.get(name) ?? [];
    const resources = own.filter(({ kind }) => kind === "resource").length;
    return {
      name,
      status: statusOf(state, held !== null),
      toolCount: own.length - resources,
      resourceCount: held === null ? null : resources,
      listenState: state.at === "connected" ? state.listening : "disconnected",
      catalogStale: held === null ? null : held.freshness === "stale",
      failedAgoSeconds: state.at === "failed" || state.at === "needs-auth" ? Math.max(0, Math.round((now - state.failedAt) / 1_000)) : null,
      cause: causeOf(state),
    };
  });
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
