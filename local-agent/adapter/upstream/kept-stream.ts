/**
 * A `subscriptions/listen` stream (MCP 2026-07-28) that is kept open: opened again when it drops, ever later while that fails, and
 * exchanged without a gap when its filter changes.
 *
 * Invariants: at most one attempt runs or is due; after `stop` nothing is told, and nothing is left at the client or in the timers.
 */
import { ProtocolError, SdkHttpError, type Client, type McpSubscription, type SubscriptionFilter } from "@modelcontextprotocol/client";
import type { Timers } from "../../../shared/ports.ts";
import type { ListenState } from "./upstream-pool.ts";

const RETRY_MS = 5000;
const LAST_RETRY_MS = 300_000;
const METHOD_NOT_FOUND = -32601;

export interface KeptStream {
  /** The filter is another one now. A stream that is down is not asked for any sooner: its next attempt takes the filter of then. */
  renew(): void;
  /** Ends it with whatever it waits for. May be called again. */
  stop(): void;
}

interface KeptStreamOptions {
  readonly client: Pick<Client, "listen">;
  readonly timers: Timers;
  /** Asked before each attempt. */
  readonly filter: () => SubscriptionFilter;
  /** `not-listening`: the server has no such method and is not asked again. */
  readonly onState: (state: Exclude<ListenState, "legacy">) => void;
  /** The stream stands after it was down, or could not be opened at once: what was to be told meanwhile was not. */
  readonly onGap: () => void;
}

/** Opens it at once. The callbacks must not throw. */
export function keepStream({ client, timers, filter, onState, onGap }: KeptStreamOptions): KeptStream {
  const over = new AbortController();
  let phase: "opening" | "standing" | "waiting" = "opening";
  let standing: McpSubscription | undefined;
  let isOutdated = false;
  let failures = 0;
  let cancelRetry: (() => void) | undefined;

  const open = async (): Promise<void> => {
    phase = "opening";
    isOutdated = false;
    if (failures > 0 && standing === undefined) onState("re-establishing");
    try {
      const opened = await client.listen(filter(), { signal: over.signal });
      if (!over.signal.aborted) stands(opened);
    } catch (error) {
      if (!over.signal.aborted) failed(error);
    }
  };

  const stands = (opened: McpSubscription): void => {
    const former = standing;
    const hadGap = failures > 0;
    phase = "standing";
    standing = opened;
    failures = 0;
    void opened.closed.then(() => dropped(opened));
    void former?.close().catch(() => undefined);
    onState("active");
    if (hadGap) onGap();
    if (isOutdated) void open();
  };

  const dropped = (stream: McpSubscription): void => {
    if (over.signal.aborted || stream !== standing) return;
    standing = undefined;
    if (phase === "standing") return retry();
    // The stream in its place is under way or due already.
    failures = Math.max(failures, 1);
    onState("dropped");
  };

  const failed = (error: unknown): void => {
    if (!lacksMethod(error)) return retry();
    onState("not-listening");
    stop();
  };

  const retry = (): void => {
    failures++;
    phase = "waiting";
    if (standing === undefined) onState("dropped");
    cancelRetry = timers.after(Math.min(RETRY_MS * 2 ** (failures - 1), LAST_RETRY_MS), () => void open());
  };

  const stop = (): void => {
    cancelRetry?.();
    over.abort();
  };

  void open();
  return {
    renew() {
      if (over.signal.aborted) return;
      if (phase === "opening") isOutdated = true;
      else if (phase === "standing") void open();
    },
    stop,
  };
}

/** Over HTTP an unknown method is answered with 404 as well (MCP 2026-07-28 basic/transports), which the SDK takes for the transport's failure. */
function lacksMethod(error: unknown): boolean {
  if (error instanceof ProtocolError) return error.code === METHOD_NOT_FOUND;
  return error instanceof SdkHttpError && error.status === 404 && /"code"\s*:\s*-32601\b/.test(error.message.slice(0, 2000));
}
