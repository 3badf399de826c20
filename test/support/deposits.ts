/** Deposits of a test agent, with one static token. */
import type { Deposits, OfflineAnswers } from "../../shared/wire/frames.ts";

export const TOKEN = "test-static-token-0123456789abcdef";
/** SHA-256 of it, as a literal: this module also runs in workerd. */
const TOKEN_SHA256 = "9cc1b4c096c2ef13800abd81b29fdba647157f4657deea7303f8e04875ef5c2f";

const OFFLINE: OfflineAnswers = {
  legacy: { initialize: {}, fallbackVersion: "2025-11-25", results: {}, toolCall: { content: [{ type: "text", text: "{away}" }], isError: true } },
  modern: { results: {}, toolCall: { resultType: "complete", content: [{ type: "text", text: "{away}" }], isError: true } },
  otherwise: "{away}",
};

export function depositsFor(origins: string[], changes: Partial<Deposits> = {}): Deposits {
  return {
    origins,
    allowOrigins: [],
    oauth: true,
    staticTokens: [{ id: "test", name: "test token", sha256: TOKEN_SHA256, scope: ["mcp"] }],

    offline: OFFLINE,
    ...changes,
  };
}
