/**
 * Which wire and which revision to try with a server, and what to try next after a failure. Pure.
 *
 * A server is never tried in more ways than its failures give evidence for: silence, a refused login or an outage says nothing about
 * what the server speaks.
 */
import { SdkError, SdkErrorCode, SdkHttpError, UnauthorizedError, type VersionNegotiationMode } from "@modelcontextprotocol/client";
import type { ProtocolChoice, ServerDefinition } from "../config/server-definition.ts";

export type Era = "legacy" | "modern";

export interface Attempt {
  readonly wire: "streamable-http" | "sse";
  readonly mode: VersionNegotiationMode;
}

/** What a failed attempt says about the server. */
export type Evidence = "refused-http" | "no-modern-offer" | "silent" | "closed" | "unauthorized" | "none";

const MODERN_REVISION = "2026-07-28";
const LEGACY: Attempt = { wire: "streamable-http", mode: "legacy" };
const MODERN: Attempt = { wire: "streamable-http", mode: { pin: MODERN_REVISION } };
const EITHER: Attempt = { wire: "streamable-http", mode: "auto" };

/** Statuses by which a server says that it does not know Streamable HTTP (contract "Protocol version negotiation"). */
const REFUSALS: ReadonlySet<number> = new Set([404, 405, 406, 415]);

/**
 * A pipe is asked for the modern revision first, and a process that dies of the question is started anew and spoken to in the old way;
 * HTTP servers are asked both over one connection.
 * @param known what the server spoke the last time it was connected to under this definition
 */
export function firstAttempt(definition: ServerDefinition, choice: ProtocolChoice, known: Era | undefined): Attempt {
  const { transport } = definition;
  if (choice === MODERN_REVISION) return MODERN;
  if (transport.kind === "http" && transport.speaks === "sse") return { wire: "sse", mode: "legacy" };
  if (choice === "legacy" || known === "legacy") return LEGACY;
  return known === "modern" || transport.kind !== "http" ? MODERN : EITHER;
}

/** What to try after `failed` failed with this evidence; null: nothing, its failure stands. */
export function nextAttempt(definition: ServerDefinition, choice: ProtocolChoice, failed: Attempt, evidence: Evidence): Attempt | null {
  const { transport } = definition;
  if (choice === MODERN_REVISION) return null;
  const asked = typeof failed.mode === "object";
  if (transport.kind !== "http") return asked && isLegacyOnPipe(evidence) ? LEGACY : null;
  if (asked) return evidence === "no-modern-offer" || evidence === "refused-http" ? EITHER : null;
  const mayFallBack = transport.speaks === "any" && failed.wire === "streamable-http" && evidence === "refused-http";
  return mayFallBack ? { wire: "sse", mode: "legacy" } : null;
}

export function evidenceOf(error: unknown): Evidence {
  if (error instanceof UnauthorizedError) return "unauthorized";
  if (error instanceof SdkHttpError) {
    if (error.status === 401) return "unauthorized";
    return REFUSALS.has(error.status) ? "refused-http" : "none";
  }
  if (!(error instanceof SdkError)) return "none";
  if (error.code === SdkErrorCode.EraNegotiationFailed) return "no-modern-offer";
  if (error.code === SdkErrorCode.RequestTimeout) return "silent";
  return error.code === SdkErrorCode.ConnectionClosed ? "closed" : "none";
}

/** Old servers answer the modern question with an error, with nothing, or by exiting. */
function isLegacyOnPipe(evidence: Evidence): boolean {
  return evidence === "no-modern-offer" || evidence === "silent" || evidence === "closed";
}
