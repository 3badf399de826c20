/** The sentences of a request that cannot be made at all, and what a failed connection is remembered as. Pure. */
import { visibleLine } from "../../../shared/visible-text.ts";
import type { OpenFailure } from "./connection.ts";
import { cut } from "./cut-text.ts";
import type { ConnectFailure } from "./upstream-pool.ts";

/** The last failure of a server. Forgotten when it is connected to. */
export interface RememberedFailure {
  readonly needsAuth: boolean;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly cause: string;
  /** Failures in a row, this one included. */
  readonly count: number;
}

const MAX_CAUSE = 1000;

export function remembered(failure: OpenFailure, at: number, before: RememberedFailure | null): RememberedFailure {
  return { needsAuth: failure.kind === "needs-auth", at, cause: cut(failure.message, MAX_CAUSE), count: (before?.count ?? 0) + 1 };
}

export function connectFailure(server: string, failure: OpenFailure): ConnectFailure {
  const cause = cut(failure.message, MAX_CAUSE);
  switch (failure.kind) {
    case "aborted":
      return { code: "aborted", message: cause };
    case "needs-auth":
      return { code: "auth_required", message: `"${server}" asks for a login: ${cause}` };
    case "config":
      return { code: "invalid_server", message: `"${server}" cannot be used as it is configured: ${cause}` };
    case "unavailable":
      return { code: "connect_failed", message: `"${server}" is temporarily unavailable: ${cause}` };
    case "not-mcp":
    case "failed":
      return { code: "connect_failed", message: `Could not connect to "${server}": ${cause}` };
  }
}

/**
 * A server that failed a moment ago is not tried again for every call.
 * @param until when it is, in milliseconds since the epoch as `now`
 */
export function backoffFailure(
  server: string,
  failure: Pick<RememberedFailure, "needsAuth" | "at" | "cause">,
  until: number,
  now: number,
): ConnectFailure {
  if (failure.needsAuth) return { code: "auth_required", message: `"${server}" asks for a login: ${failure.cause}` };
  const ago = Math.max(0, Math.round((now - failure.at) / 1_000));
  const left = Math.max(1, Math.ceil((until - now) / 1_000));
  const message = `"${visibleLine(server, 200)}" failed ${ago} s ago: ${sentence(failure.cause)} It is tried again in ${left} s; mcp({connect: ${JSON.stringify(server)}}) tries now.`;
  return { code: "server_backoff", message };
}

/** Causes come with and without their full stop. */
function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

export function untrustedFailure(server: string): ConnectFailure {
  const message = `"${server}" is configured by this project's own files, and the person has not allowed it to run.`;
  return { code: "server_untrusted", message };
}

export function cancelledFailure(server: string): ConnectFailure {
  return { code: "aborted", message: `Connecting to "${server}" was cancelled.` };
}
