/** What ends a call that came over HTTP, and who can find it meanwhile. */
import type { RpcId } from "../../shared/jsonrpc.ts";
import type { Timers } from "../../shared/ports.ts";
import type { ExchangeContext } from "./exchange.ts";
import { linkSignals } from "./linked-signal.ts";
import type { LiveCalls } from "./live-calls.ts";
import type { CallScope } from "./tool-call.ts";

export interface ExchangeCallScope extends CallScope {
  /** Connects the scope to the answer's stream, once there is one. */
  watch(stream: { readonly writable: () => boolean; readonly probe: () => void }): void;
  /** The answer is over. A call that still runs then (a legacy client left) keeps the scope until it settles. */
  answered(): void;
}

/**
 * [MC12] [MC13] The exchange's own signal always ends the call. A closed connection ends a modern one (MCP 2026-07-28
 * basic/patterns/cancellation) and leaves a legacy one running, at most `lifeMs` in all.
 */
export function openCallScope(
  exchange: { readonly era: "legacy" | "modern"; readonly context: ExchangeContext },
  id: RpcId,
  ports: { readonly live: LiveCalls; readonly timers: Timers; readonly lifeMs: number },
): ExchangeCallScope {
  const { principal, x, signal, gone } = exchange.context;
  const ends = exchange.era === "modern" ? linkSignals(signal, gone) : linkSignals(signal);
  let stream = { writable: (): boolean => true, probe: (): void => {} };
  let running = false;
  return {
    principal,
    x,
    signal: ends.signal,
    gone,
    probe: () => stream.probe(),
    writable: () => stream.writable(),
    watch(opened) {
      stream = opened;
    },
    answered() {
      if (!running) ends.unlink();
    },
    began() {
      running = true;
      const forget = ports.live.add(principal.id, id, (reason) => ends.abort(reason));
      const stopTimer = ports.timers.after(ports.lifeMs, () => ends.abort(lifeIsOver(ports.lifeMs)));
      ends.signal.addEventListener("abort", forget, { once: true });
      return () => {
        running = false;
        forget();
        stopTimer();
        ends.unlink();
      };
    },
  };
}

/** What a call is told that ran for as long as any may. */
export function lifeIsOver(lifeMs: number): Error {
  return new Error(`the call ran for ${lifeMs / 60_000} minutes, which is the limit`);
}
