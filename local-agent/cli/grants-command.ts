/** `pimcp grants` and `pimcp revoke`: ask the running agent and say what it answers. */
import * as v from "valibot";
import { GrantList, RevocationOutcome, type Grant } from "../../shared/authorization.ts";
import { grantTimes } from "../../shared/grant-wording.ts";
import { visibleLine } from "../../shared/visible-text.ts";
import { listLiveClaims, type AgentClaim } from "../daemon/agent-lock.ts";
import { askAgent } from "../daemon/control-client.ts";
import { portsOf } from "../daemon/free-port.ts";
import { EXIT, StartFailure, type ExitCode } from "../daemon/start-failure.ts";
import { GRANTS_HELP, type AgentChoice, type GrantsOrder } from "./grants-arguments.ts";

/** Throws `StartFailure`: 2 when no agent can be chosen, 1 when the agent or its relay gives no answer. */
export async function runGrantsCommand(order: GrantsOrder, stateDir: string, show: (text: string) => void): Promise<ExitCode> {
  if (order.kind === "help") {
    show(GRANTS_HELP);
    return EXIT.asked;
  }
  const path = chooseAgent(listLiveClaims(stateDir), order.choice);
  if (order.kind === "list") {
    const list = v.parse(GrantList, await askAgent(path, { method: "grants.list" }));
    show(order.json ? `${JSON.stringify(list)}\n` : listText(list.grants, Date.now()));
  } else {
    const outcome = v.parse(RevocationOutcome, await askAgent(path, { method: "grants.revoke", params: order.which }));
    show(order.json ? `${JSON.stringify(outcome)}\n` : `${outcomeText(outcome.revoked)}\n`);
  }
  return EXIT.asked;
}

/** Where to ask. Exported for its sentences. */
export function chooseAgent(claims: readonly AgentClaim[], { relay, port }: AgentChoice): string {
  const fitting = claims.filter((claim) => (relay === null || servesRelay(claim, relay)) && (port === null || portsOf(claim).includes(String(port))));
  const [first, ...others] = fitting;
  if (first === undefined) {
    if (claims.length === 0) throw new StartFailure("No agent with a relay is running on this machine: start one with pimcp.");
    throw new StartFailure(`No running agent is the one of ${words({ relay, port })}. There is ${named(claims)}.`);
  }
  if (others.length > 0) throw new StartFailure(`Several agents are running: ${named(fitting)}. Choose one with --relay URL or --port PORT.`);
  if (first.control === null) {
    throw new StartFailure(`The running agent (process ${first.pid}) is of a version that cannot be asked: start it anew.`);
  }
  return first.control;
}

/** Embedded relays are claimed under the address they listen on, which is always http. */
function servesRelay({ serves }: AgentClaim, relay: string): boolean {
  return relay === "local" ? serves.startsWith("http://") : serves === relay;
}

function words({ relay, port }: AgentChoice): string {
  return [...(relay === null ? [] : [`--relay ${relay}`]), ...(port === null ? [] : [`--port ${port}`])].join(" and ");
}

function named(claims: readonly AgentClaim[]): string {
  return claims
    .map((claim) => {
      const ports = portsOf(claim).filter((port) => port !== "" && port !== "0");
      return `${claim.serves} (process ${claim.pid}, root ${visibleLine(claim.root)}${ports.length === 0 ? "" : `, --port ${ports.at(-1)}`})`;
    })
    .join(", ");
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
