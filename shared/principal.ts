/** An authenticated client, as the relay states it to the agent. No secret is in it. */
import * as v from "valibot";

export const Principal = v.object({
  /** Stable and unique within a workspace: `grant:<id>`, `token:<id>`, or `local` for stdio. */
  id: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
  kind: v.picklist(["grant", "token", "local"]),
  /** What the client calls itself. Its own choice: text for people, never a fact to decide on. */
  name: v.pipe(v.string(), v.maxLength(200)),
  scope: v.array(v.string()),
});
export type Principal = v.InferOutput<typeof Principal>;

/** Name of the token of a run, among those the person created and named: no other may have it. */
export const OWN_TOKEN_NAME = "static token";
