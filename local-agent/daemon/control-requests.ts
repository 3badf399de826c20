/** What the agent does when a terminal asks it (`control-protocol.ts`). */
import type { Clock } from "../../shared/ports.ts";
import type { Desk } from "../desk/desk.ts";
import type { ControlRequest, TokensReloaded, WaitingList } from "./control-protocol.ts";
import type { TokenDeposits } from "./token-deposits.ts";

export interface ControlParts {
  readonly desk: Desk;
  readonly tokens: Pick<TokenDeposits, "reload">;
  readonly clock: Clock;
}

/** Rejects with a sentence for the person. */
export async function handleControl({ desk, tokens, clock }: ControlParts, request: ControlRequest): Promise<unknown> {
  switch (request.method) {
    case "tokens.reload":
      await tokens.reload();
      return { mcpUrls: desk.snapshot().info.mcpUrls } satisfies TokensReloaded;
    case "grants.list":
      return { grants: await desk.refreshGrants() };
    case "grants.revoke":
      return desk.revoke(request.params);
    case "authorization.list":
      return waiting(desk, clock.now());
    case "authorization.decide":
      return desk.decide(request.params);
  }
}

/** The relay sends its list anew when something changes; that a request has run out is seen here at once. */
function waiting(desk: Desk, now: number): WaitingList {
  const { info, link, authorizations } = desk.snapshot();
  if (!info.oauth) throw new Error("This agent was started with --no-oauth: no app can ask, and each needs a token.");
  if (link.at !== "open") throw new Error("The relay is not connected right now, so no app can ask: try again when it is.");
  return { root: info.root, tools: info.tools, pending: authorizations.filter(({ expiresAt }) => now < expiresAt) };
}
