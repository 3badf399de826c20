/** What the agent does when a terminal asks it (`control-protocol.ts`). */
import type { PendingAuthorization } from "../../shared/authorization.ts";
import type { Desk } from "../desk/desk.ts";
import type { ControlRequest, TokensReloaded, WaitingList } from "./control-protocol.ts";
import type { TokenDeposits } from "./token-deposits.ts";

export interface ControlParts {
  readonly desk: Desk;
  readonly tokens: Pick<TokenDeposits, "reload">;
  /** What waits at the relay now: it knows what has run out, whatever this machine's clock says. */
  readonly pending: () => Promise<readonly PendingAuthorization[]>;
}

/** Rejects with a sentence for the person. */
export async function handleControl({ desk, tokens, pending }: ControlParts, request: ControlRequest): Promise<unknown> {
  switch (request.method) {
    case "tokens.reload":
      await tokens.reload();
      return { mcpUrls: desk.snapshot().info.mcpUrls } satisfies TokensReloaded;
    case "grants.list":
      return { grants: await desk.refreshGrants() };
    case "grants.revoke":
      return desk.revoke(request.params);
    case "authorization.list":
      return waiting(desk, pending);
    case "authorization.decide":
      return desk.decide(request.params);
  }
}

async function waiting(desk: Desk, pending: ControlParts["pending"]): Promise<WaitingList> {
  const { info, link } = desk.snapshot();
  if (!info.oauth) throw new Error("This agent was started with --no-oauth: no app can ask, and each needs a token.");
  if (link.at !== "open") throw new Error("The relay is not connected right now, so no app can ask: try again when it is.");
  desk.setAuthorizations(await pending());
  return { root: info.root, tools: info.tools, pending: desk.snapshot().authorizations };
}
