/** Deposits of a test agent, with one static token. */
import { createHash } from "node:crypto";
import type { Deposits, OfflineAnswers } from "../../shared/wire/frames.ts";

export const TOKEN = "test-static-token-0123456789abcdef";

export const OFFLINE: OfflineAnswers = {
  legacy: { initialize: {}, fallbackVersion: "2025-11-25", results: {}, toolCall: { content: [{ type: "text", text: "{away}" }], isError: true } },
  modern: { results: {}, toolCall: { resultType: "complete", content: [{ type: "text", text: "{away}" }], isError: true } },
  otherwise: "{away}",
};

export function depositsFor(origins: string[], changes: Partial<Deposits> = {}): Deposits {
  const sha256 = createHash("sha256").update(TOKEN).digest("hex");
  return {
    origins,
    allowOrigins: [],
    oauth: true,
    staticTokens: [{ id: "test", name: "test token", sha256, scope: ["mcp"] }],
    root: "/work",
    offline: OFFLINE,
    ...changes,
  };
}
