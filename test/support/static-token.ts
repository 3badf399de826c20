/** A further static token of a test agent. */
import { createHash } from "node:crypto";
import type { Deposits } from "../../shared/wire/frames.ts";

export function staticToken(id: string, token: string): Deposits["staticTokens"][number] {
  return { id, name: `${id} token`, sha256: createHash("sha256").update(token).digest("hex"), scope: ["mcp"] };
}
