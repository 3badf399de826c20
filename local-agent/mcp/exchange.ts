/** One HTTP exchange as the agent serves it, whoever carries it (relay link, local HTTP listener, a test). */
import type { Principal } from "../../shared/principal.ts";

export interface ExchangeContext {
  readonly principal: Principal;
  /** The number of the exchange at whoever keeps it, the relay or the agent's own port, and so knows whether its answer arrived. Null over stdio. */
  readonly x: number | null;
  /** Aborts when the exchange is over: cancelled, past its deadline, unknown to the relay, or the agent is leaving. */
  readonly signal: AbortSignal;
  /**
   * Aborts when the client's connection was seen closed. That cancels a modern call (MCP 2026-07-28 basic/transports) and
   * must not cancel a legacy one (2025-11-25: "disconnection SHOULD NOT be interpreted as … cancelling").
   * Nothing written after it is delivered.
   */
  readonly gone: AbortSignal;
}

export interface ExchangeAnswer {
  readonly response: Response;
  /** Bytes that end the response if it cannot be finished (an SSE error event with the caller's id); null where a cut stream does. */
  readonly lastWords: string | null;
}

/** Never rejects for anything a client can send. A rejection is a defect and is answered with 500. */
export type ExchangeHandler = (request: Request, context: ExchangeContext) => Promise<ExchangeAnswer>;
