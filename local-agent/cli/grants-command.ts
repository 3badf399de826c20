/** `pimcp grants` and `pimcp revoke`: ask the running agent and say what it answers. */
import * as v from "valibot";
import { GrantList, RevocationOutcome, type Grant } from "../../shared/authorization.ts";
import { grantTimes } from "../../shared/grant-wording.ts";
import { visibleLine } from "../../shared/visible-text.ts";
import { listLiveClaims } from "../daemon/agent-lock.ts";
import { askAgent } from "../daemon/control-client.ts";
import { EXIT, type ExitCode } from "../daemon/start-failure.ts";
import { chooseAgent } from "./choose-agent.ts";
import { GRANTS_HELP, type GrantsOrder } from "./grants-arguments.ts";
import { jsonLine } from "./json-line.ts";

/** Throws `StartFailure`: 2 when no agent can be chosen, 1 when the agent or its relay gives no answer. */
export async function runGrantsCommand(order: GrantsOrder, stateDir: string, show: (text: string) => void): Promise<ExitCode> {
  if (order.kind === "help") {
    show(GRANTS_HELP);
    return EXIT.asked;
  }
  const path = chooseAgent(listLiveClaims(stateDir), order.choice);
  if (order.kind === "list") {
    const list = v.parse(GrantList, await askAgent(path, { method: "grants.list" }));
    show(order.json ? jsonLine(list) : listText(list.grants, Date.now()));
  } else {
    const outcome = v.parse(RevocationOutcome, await askAgent(path, { method: "grants.revoke", params: order.which }));
    show(order.json ? jsonLine(outcome) : `${outcomeText(outcome.revoked)}\n`);
  }
  return EXIT.asked;
}

function listText(grants: readonly Grant[], now: number): string {
  if (grants.length === 0) return "No app has access. Clients with the token are not listed.\n";
  const entries = grants.map(
    (grant) =>
      `${grant.id}  “${visibleLine(grant.clientName, 100)}” at ${visibleLine(grant.redirectHost, 200)}\n    ${[...grantTimes(grant, now), `scope ${grant.scope.map((scope) => visibleLine(scope, 100)).join(" ")}`].join(" · ")}\n`,
  );
  return `${entries.join("")}\npimcp revoke ID takes access back at once; pimcp revoke --all from all.\n`;
}

function outcomeText(revoked: number): string {
  if (revoked === 0) return "Nothing was taken back: no such grant lives.";
  return revoked === 1 ? "Access of 1 app was taken back." : `Access of ${revoked} apps was taken back.`;
}
