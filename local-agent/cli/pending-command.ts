/** `pimcp pending`, `pimcp allow` and `pimcp deny`: the page's cards for a person at a terminal (DESIGN D6). */
import * as v from "valibot";
import { DecisionOutcome, type AuthorizationDecision, type PendingAuthorization } from "../../shared/authorization.ts";
import { authorizationFacts, handedOverLine } from "../../shared/authorization-wording.ts";
import { visibleLine } from "../../shared/visible-text.ts";
import { listLiveClaims } from "../daemon/agent-lock.ts";
import { askAgent } from "../daemon/control-client.ts";
import { WaitingList } from "../daemon/control-protocol.ts";
import { EXIT, StartFailure, type ExitCode } from "../daemon/start-failure.ts";
import { chooseAgent } from "./choose-agent.ts";
import { choiceWords } from "./command-words.ts";
import { jsonLine } from "./json-line.ts";
import { PENDING_HELP, type PendingOrder } from "./pending-arguments.ts";
import { refuseInToolShell } from "./tool-shell.ts";
import { chooseToAllow, chooseToDeny, shortId, type Typing } from "./waiting-requests.ts";
import { wrap } from "./wrap.ts";

export interface PendingSurroundings {
  /** `Directories.state`. */
  readonly stateDir: string;
  readonly show: (text: string) => void;
  /** How the person starts us: `pimcp`, or `npm start --`. */
  readonly program: string;
  /** A tool of an agent started this process (`process-marker.ts`): it may look, and decide nothing that opens a door. */
  readonly isToolShell: boolean;
}

/** Throws `StartFailure`: 2 when no agent or request can be chosen, 1 when the agent or its relay gives no answer. */
export async function runPendingCommand(order: PendingOrder, around: PendingSurroundings): Promise<ExitCode> {
  if (order.kind === "help") {
    around.show(PENDING_HELP);
    return EXIT.asked;
  }
  if (order.kind === "allow") refuseInToolShell(around.isToolShell, "pimcp allow");
  const path = chooseAgent(listLiveClaims(around.stateDir), order.choice);
  const list = v.parse(WaitingList, await askAgent(path, { method: "authorization.list" }));
  if (order.kind === "list") {
    around.show(order.json ? jsonLine(listJson(list, order, around)) : listText(list, order, around));
    return EXIT.asked;
  }
  return decide(order, { path, pending: list.pending, around });
}

type Decision = Extract<PendingOrder, { kind: "allow" | "deny" }>;

interface Waiting {
  /** The agent's. */
  readonly path: string;
  readonly pending: readonly PendingAuthorization[];
  readonly around: PendingSurroundings;
}

async function decide(order: Decision, { path, pending, around }: Waiting): Promise<ExitCode> {
  const typing = { program: around.program, flags: choiceWords(order.choice) };
  const chosen = order.kind === "allow" ? chooseToAllow(pending, order, typing) : chooseToDeny(pending, order.id, typing);
  if (!chosen.ok) {
    const { why, sentence } = chosen.error;
    if (why === "unclear") throw new StartFailure(sentence);
    around.show(order.json ? jsonLine({ outcome: "gone", id: null, message: sentence }) : `${sentence}\n`);
    return EXIT.failed;
  }
  const { outcome } = v.parse(DecisionOutcome, await askAgent(path, { method: "authorization.decide", params: decisionOf(order, chosen.value) }));
  const isDone = outcome === "allowed" || outcome === "denied";
  const message = outcomeText(outcome, chosen.value, typing);
  around.show(order.json ? jsonLine({ outcome, id: chosen.value.id, ...(isDone ? {} : { message }) }) : `${message}\n`);
  return isDone ? EXIT.asked : EXIT.failed;
}

function decisionOf(order: Decision, { id }: PendingAuthorization): AuthorizationDecision {
  if (order.kind === "deny") return { id, allow: false };
  return { id, allow: true, ...(order.code === null ? {} : { code: order.code }) };
}

type Asked = Extract<PendingOrder, { kind: "list" }>;

/** What to type next. The code itself is known to nobody here: it is read off the waiting page. */
function commands(each: PendingAuthorization, list: WaitingList, asked: Asked, { program }: PendingSurroundings) {
  const id = shortId(
    each.id,
    list.pending.map((other) => other.id),
  );
  const rest = `${id}${choiceWords(asked.choice)}`;
  return { shortId: id, allow: `${program} allow ${each.codeRequired ? "CODE " : ""}${rest}`, deny: `${program} deny ${rest}` };
}

function listJson(list: WaitingList, asked: Asked, around: PendingSurroundings): unknown {
  return { ...list, pending: list.pending.map((each) => ({ ...each, ...commands(each, list, asked, around) })) };
}

const COLUMNS = 100;
const NAME_COLUMNS = 10;

function listText(list: WaitingList, asked: Asked, around: PendingSurroundings): string {
  const { pending } = list;
  if (pending.length === 0) return "No app asks for access. When one does it waits for 10 minutes, with its page open.\n";
  const count = pending.length === 1 ? "One app asks" : `${pending.length} apps ask`;
  return `${count} for access to this computer. Allow only what you started just now.\n\n${pending.map((each) => entry(each, list, asked, around)).join("\n")}`;
}

function entry(each: PendingAuthorization, list: WaitingList, asked: Asked, around: PendingSurroundings): string {
  const { shortId: id, allow, deny } = commands(each, list, asked, around);
  const rows: readonly (readonly [string, string])[] = [
    ...authorizationFacts(each, Date.now()).map(({ name, text }) => [name, text] as const),
    ["Allowing", `It can then ${handedOverLine(list.tools, list.root)}, until it is not used for 30 days or you take it back.`],
    ["To allow", each.codeRequired ? `${allow}   (CODE: the six digits on its waiting page)` : allow],
    ["To deny", deny],
  ];
  return `  ${id}\n${rows.map(([name, text]) => row(name, text)).join("")}`;
}

function row(name: string, text: string): string {
  const [first = "", ...others] = wrap(text, COLUMNS - NAME_COLUMNS - 4);
  return [`    ${name.padEnd(NAME_COLUMNS)}${first}`, ...others.map((line) => " ".repeat(NAME_COLUMNS + 4) + line)]
    .map((line) => `${line}\n`)
    .join("");
}

function outcomeText(outcome: DecisionOutcome["outcome"], { clientName, redirectHost }: PendingAuthorization, { program, flags }: Typing): string {
  const who = `“${visibleLine(clientName, 100)}” at ${visibleLine(redirectHost, 200)}`;
  switch (outcome) {
    case "allowed":
      return `Allowed: ${who} gets access now. ${program} grants${flags} lists it, ${program} revoke ID${flags} takes it back.`;
    case "denied":
      return `Denied: ${who} gets nothing.`;
    case "wrong_code":
      return `The code did not match, so ${who} gets nothing and its request has ended. Start again in the app: it shows a new code.`;
    case "gone":
      return `${who} no longer waits: it expired, gave way to a newer request, or was already decided. Nothing was handed over by this command.`;
  }
}
