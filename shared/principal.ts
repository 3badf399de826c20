/** An authenticated client, as the relay states it to the agent. No secret is in it. */
import * as z from "zod/mini";

export const Principal = z.object({
  /** Stable and unique within a workspace: `grant:<id>`, `token:<id>`, or `local` for stdio. */
  id: z.string().check(z.minLength(1), z.maxLength(200)),
  kind: z.enum(["grant", "token", "local"]),
  /** What the client calls itself. Its own choice: text for people, never a fact to decide on. */
  name: z.string().check(z.maxLength(200)),
  scope: z.array(z.string()),
});
export type Principal = z.infer<typeof Principal>;
