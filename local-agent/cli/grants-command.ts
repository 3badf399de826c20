/** `pimcp grants` and `pimcp revoke`: ask the running agent and say what it answers. */
import * as v from "valibot";
import { GrantList, RevocationOutcome, type Grant } from "../../shared/authorization.ts";
import { grantTimes } from "../../shared/grant-wording.ts";
import { visibleLine } from "../../shared/visible-text.ts";
import { listLiveClaims } from "../daemon/agent-lock.ts";
import { askAgent } from "../daemon/control-client.ts";
import { EXIT, StartFailure, type ExitCode } from "../daemon/start-failure.ts";
import { chooseAgent } from "./choose-agent.ts";
import { choiceWords, type AgentChoice } from "./command-words.ts";
import { GRANTS_HELP, type GrantsOrder } from "./grants-arguments.ts";
import { jsonLine } from "./json-line.ts";
import { grantsNamed } from "./named-grants.ts";

export interface GrantsSurroundings {
  /** `Directories.state`. */
  readonly stateDir: string;
  readonly show: (text: string) => void;
  /** How the person starts us: `pimcp`, or `npm start --`. */
  readonly program: string;
}

/** Throws `StartFailure`: 2 when no agent or grant can be chosen, 1 when the agent or its relay gives no answer. */
export async function runGrantsCommand(order: GrantsOrder, around: GrantsSurroundings): Promise<ExitCode> {
  const { show } = around;
  if (order.kind === "help") {
    show(GRANTS_HELP);
    return EXIT.asked;
  }
  const path = chooseAgent(listLiveClaims(around.stateDir), order.choice);
  const commands = commandsOf(around.program, order.choice);
  if (order.kind === "list") {
    const list = await listGrants(path);
    show(order.json ? jsonLine(list) : listText(list.grants, commands, Date.now()));
    return EXIT.asked;
  }
  return order.which.ids === "all" ? revokeAll(path, order.json, show) : revokeNamed(path, order.which.ids, { json: order.json, show, commands });
}

async function revokeAll(path: string, json: boolean, show: (text: string) => void): Promise<ExitCode> {
  const outcome = await revoke(path, "all");
  show(json ? jsonLine(outcome) : `${outcome.revoked === 0 ? "No app had access, so nothing was taken back." : takenBack(outcome.revoked)}\n`);
  return EXIT.asked;
}

interface Named {
  readonly json: boolean;
  readonly show: (text: string) => void;
  readonly commands: Commands;
}

/** A person who mistypes what they take back must not be told that it is done. */
async function revokeNamed(path: string, words: readonly string[], { json, show, commands }: Named): Promise<ExitCode> {
  const named = grantsNamed((await listGrants(path)).grants, words);
  if (!named.ok) {
    if (named.error.why === "unclear") throw new StartFailure(named.error.sentence);
    const { unknown } = named.error;
    const message = `No grant ${unknown.join(", ")} lives, and nothing was taken back: ${commands.list} lists them.`;
    show(json ? jsonLine({ revoked: 0, unknown, message }) : `${message}\n`);
    return EXIT.failed;
  }
  const ids = named.value;
  const { revoked } = await revoke(path, ids);
  // Between the list and this somebody else took them back, or they ended.
  const gone = ids.length - revoked;
  const message = [...(revoked > 0 ? [takenBack(revoked)] : []), ...(gone > 0 ? [`${gone} of the ${ids.length} named had just ended.`] : [])].join(
    " ",
  );
  show(json ? jsonLine({ revoked, ids, ...(gone > 0 ? { message } : {}) }) : `${message}\n`);
  return gone > 0 ? EXIT.failed : EXIT.asked;
}

async function listGrants(path: string): Promise<v.InferOutput<typeof GrantList>> {
  return v.parse(GrantList, await askAgent(path, { method: "grants.list" }));
}

async function revoke(path: string, ids: readonly string[] | "all"): Promise<RevocationOutcome> {
  return v.parse(RevocationOutcome, await askAgent(path, { method: "grants.revoke", params: { ids: ids === "all" ? ids : [...ids] } }));
}

interface Commands {
  readonly list: string;
  readonly revoke: string;
  readonly revokeAll: string;
}

/** As they are typed to reach this very agent. */
function commandsOf(program: string, choice: AgentChoice): Commands {
  const words = choiceWords(choice);
  return { list: `${program} grants${words}`, revoke: `${program} revoke ID${words}`, revokeAll: `${program} revoke --all${words}` };
}

function listText(grants: readonly Grant[], { revoke: revokeOne, revokeAll: revokeEach }: Commands, now: number): string {
  if (grants.length === 0) return "No app has access. Clients with the token are not listed.\n";
  const entries = grants.map(
    (grant) =>
      `${grant.id}  “${visibleLine(grant.clientName, 100)}” at ${visibleLine(grant.redirectHost, 200)}\n    ${[...grantTimes(grant, now), `scope ${grant.scope.map((scope) => visibleLine(scope, 100)).join(" ")}`].join(" · ")}\n`,
  );
  return `${entries.join("")}\n${revokeOne} takes access back at once; ${revokeEach} from all.\n`;
}

function takenBack(revoked: number): string {
  return revoked === 1 ? "Access of 1 app was taken back." : `Access of ${revoked} apps was taken back.`;
}
