/** Bindings of a deployment. It has exactly one secret, the agent key; every other setting comes from the agent's hello. */
import type { WorkspaceObject } from "./workspace/workspace-object.ts";

export interface Env {
  readonly WORKSPACE: DurableObjectNamespace<WorkspaceObject>;
  /** Set with `wrangler secret put AGENT_KEY`; absent on a relay that was deployed by hand and not finished. */
  readonly AGENT_KEY?: string;
  /**
   * Only in the embedded relay, which has no edge in front that would say where a caller is: `loopback` when every caller is on
   * this machine, `public` when something unknown in front of it (`--issuer`) hands callers on.
   */
  readonly EMBEDDED?: "loopback" | "public";
  /**
   * Only in the embedded relay: the one workspace it has, which is its agent's. A look at any other would leave a file on this
   * machine (at the edge it leaves nothing), and strangers may try names without end.
   */
  readonly ONLY_WORKSPACE?: string;
}

/** A shorter key could be guessed; `npm run deploy` makes one of 43 characters (256 bits). */
const MIN_KEY_LENGTH = 32;

export const KEY_MISSING =
  `This relay has no agent key yet. Set a random one of at least ${MIN_KEY_LENGTH} characters with "npx wrangler secret put AGENT_KEY" ` +
  'and start the agent with the same key, or run "npm run deploy", which does both.';

export function hasAgentKey(env: Env): env is Env & { readonly AGENT_KEY: string } {
  return env.AGENT_KEY !== undefined && env.AGENT_KEY.length >= MIN_KEY_LENGTH;
}
