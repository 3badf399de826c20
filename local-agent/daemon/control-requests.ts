/** What the agent does when a terminal asks it (`control-protocol.ts`). */
import type { Desk } from "../desk/desk.ts";
import type { ControlRequest, WaitingList } from "./control-protocol.ts";
import type { TokenDeposits } from "./token-deposits.ts";

export interface ControlParts {
  readonly desk: Desk;
  readonly tokens: TokenDeposits;
}

/** Rejects with a sentence for the person. */
export async function handleControl({ desk, tokens }: ControlParts, request: ControlRequest): Promise<unknown> {
  switch (request.method) {
    case "tokens.reload":
      await tokens.reload();
      return {};
    case "grants.list":
      return { grants: await desk.refreshGrants() };
    case "grants.revoke":
      return desk.revoke(request.params);
    case "authorization.list":
      return waiting(desk);
    case "authorization.decide":
      return desk.decide(request.params);
  }
}

function waiting(desk: Desk): WaitingList {
  const { info, link, authorizations } = desk.snapshot();
  if (!info.oauth) throw new Error("This agent was started with --no-oauth: no app can ask, and each needs a token.");
  if (link.at !== "open") throw new Error("The relay is not connected right now, so no app can ask: try again when it is.");
  return { root: info.root, tools: info.tools, pending: authorizations };
}
