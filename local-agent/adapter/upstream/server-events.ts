/** What a server tells of itself unasked: log lines. Bounded: a server that floods is heard now and then. */
import type { Client } from "@modelcontextprotocol/client";
import type { Clock } from "../../../shared/ports.ts";
import type { PoolEvent } from "./upstream-pool.ts";

const WINDOW_MS = 1000;
const MAX_IN_WINDOW = 50;

interface ServerEvents {
  /** Sets the handlers of a client that is not connected yet. */
  readonly prepare: (client: Client) => void;
}

export function createServerEvents(server: string, clock: Clock, emit: (event: PoolEvent) => void): ServerEvents {
  let windowFrom = 0;
  let told = 0;

  const tell = (event: PoolEvent): void => {
    const now = clock.now();
    // A clock that was set back is no reason to wait until it has caught up.
    if (now < windowFrom || now - windowFrom >= WINDOW_MS) {
      windowFrom = now;
      told = 0;
    }
    if (++told <= MAX_IN_WINDOW) emit(event);
  };

  return {
    prepare(client) {
      client.setNotificationHandler("notifications/message", ({ params }) => {
        tell({ t: "log", server, level: params.level, logger: params.logger ?? null, data: params.data });
      });
    },
  };
}
