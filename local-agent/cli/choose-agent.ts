/** Which running agent a command asks. */
import { DEFAULT_WORKSPACE } from "../../shared/workspace.ts";
import { visibleLine } from "../../shared/visible-text.ts";
import type { AgentClaim } from "../daemon/agent-lock.ts";
import { portsOf } from "../daemon/free-port.ts";
import { readRelayName } from "../daemon/relay-target.ts";
import { StartFailure } from "../daemon/start-failure.ts";
import { choiceFlags, type AgentChoice } from "./command-words.ts";

/** Where to ask it. Throws `StartFailure` when none or several fit: nobody is guessed. */
export function chooseAgent(claims: readonly AgentClaim[], choice: AgentChoice): string {
  const fitting = claims.filter((claim) => fits(claim, choice));
  const [first, ...others] = fitting;
  if (first === undefined) {
    if (claims.length === 0) throw new StartFailure("No agent with a relay is running on this machine: start one with pimcp.");
    throw new StartFailure(`No running agent is the one of ${choiceFlags(choice).join(" and ")}. There is ${named(claims)}.`);
  }
  if (others.length > 0)
    throw new StartFailure(`Several agents are running: ${named(fitting)}. Choose one with --relay URL, --workspace NAME or --port PORT.`);
  if (first.control === null) {
    throw new StartFailure(`The running agent (process ${first.pid}) is of a version that cannot be asked: start it anew.`);
  }
  return first.control;
}

function fits(claim: AgentClaim, { relay, workspace, port }: AgentChoice): boolean {
  const served = readRelayName(claim.serves);
  // Embedded relays are claimed under the address they listen on, which is always http.
  const isRelay = relay === "local" ? served.relay.startsWith("http://") : served.relay === relay;
  return (
    (relay === null || isRelay) &&
    (workspace === null || servesWorkspace(claim, workspace)) &&
    (port === null || portsOf(claim).includes(String(port)))
  );
}

/** `workspace` as a person chooses it. */
export function servesWorkspace({ serves }: AgentClaim, workspace: string): boolean {
  return (readRelayName(serves).workspace ?? DEFAULT_WORKSPACE) === workspace;
}

function named(claims: readonly AgentClaim[]): string {
  return claims
    .map((claim) => {
      const ports = portsOf(claim).filter((port) => port !== "" && port !== "0");
      return `${claim.serves} (process ${claim.pid}, root ${visibleLine(claim.root)}${ports.length === 0 ? "" : `, --port ${ports.at(-1)}`})`;
    })
    .join(", ");
}
