/** Which running agent a command asks. */
import { visibleLine } from "../../shared/visible-text.ts";
import type { AgentClaim } from "../daemon/agent-lock.ts";
import { portsOf } from "../daemon/free-port.ts";
import { StartFailure } from "../daemon/start-failure.ts";
import type { AgentChoice } from "./command-words.ts";

/** Where to ask it. Throws `StartFailure` when none or several fit: nobody is guessed. */
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
