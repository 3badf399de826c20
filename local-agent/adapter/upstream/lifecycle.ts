/** What to do with a server as time passes, by its lifecycle (contract "Lifecycle Modes"). Pure; the pool asks every tick. */
import type { Lifecycle } from "../config/server-definition.ts";

export const TICK_MS = 30_000;

/** So long a failed server is not tried for calls: each would wait for the same failure. */
export const CALL_BACKOFF_MS = 60_000;

const FIRST_RETRY_MS = 30_000;
const LAST_RETRY_MS = 300_000;

/** What the pool knows of a server at a tick. Times in milliseconds since the epoch. */
export interface WatchedServer {
  readonly lifecycle: Lifecycle;
  /** null: never disconnected for being idle. */
  readonly idleTimeoutMs: number | null;
  readonly connection: "none" | "connecting" | "connected";
  /** Whether it was connected at any time since the start: `lazy-keep-alive` holds on from then. */
  readonly wasConnected: boolean;
  /** Disconnected on demand: left alone until it is used. */
  readonly parked: boolean;
  readonly inFlight: number;
  readonly lastUsedAt: number;
  readonly failedAt: number | null;
  /** Failures in a row. */
  readonly failures: number;
}

/** `check`: see that it still answers, and list anew what it offers. */
type TickAction = "none" | "check" | "connect" | "disconnect";

export function tickAction(server: WatchedServer, now: number): TickAction {
  if (server.connection === "connecting" || server.parked) return "none";
  const kept = keepsAlive(server);
  if (server.connection === "none") return kept && now >= retryAt(server) ? "connect" : "none";
  // A call that runs shows by itself whether the server lives.
  if (server.inFlight > 0) return "none";
  if (kept) return "check";
  return server.idleTimeoutMs !== null && now - server.lastUsedAt > server.idleTimeoutMs ? "disconnect" : "none";
}

/** Whether the server is connected to at the start, used or not. */
export function connectsAtStart(lifecycle: Lifecycle): boolean {
  return lifecycle === "eager" || lifecycle === "keep-alive";
}

function keepsAlive(server: Pick<WatchedServer, "lifecycle" | "wasConnected">): boolean {
  return server.lifecycle === "keep-alive" || (server.lifecycle === "lazy-keep-alive" && server.wasConnected);
}

/** Whether a turn waits for what it offers now. One that failed is not started for every turn, and one that was parked for none. */
export function isDueBeforeTurn(server: WatchedServer, now: number): boolean {
  if (server.parked || !keepsAlive(server)) return false;
  return server.connection !== "none" || now >= retryAt(server);
}

/** Whether anything can become due for this server: without such servers nothing ticks. */
export function needsTicks(server: WatchedServer): boolean {
  if (server.parked) return false;
  if (keepsAlive(server)) return true;
  return server.connection === "connected" && server.idleTimeoutMs !== null;
}

/** Until when a call is refused at once after a failure; null: it may be tried. */
export function backoffUntil(failedAt: number | null, now: number): number | null {
  if (failedAt === null) return null;
  const until = failedAt + CALL_BACKOFF_MS;
  return now < until ? until : null;
}

function retryAt(server: WatchedServer): number {
  if (server.failedAt === null) return 0;
  return server.failedAt + Math.min(FIRST_RETRY_MS * 2 ** Math.max(0, server.failures - 1), LAST_RETRY_MS);
}
