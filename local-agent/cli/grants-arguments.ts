/** Arguments of `pimcp grants` and `pimcp revoke` → what to do, or one sentence. Pure. */
import type { Revocation } from "../../shared/authorization.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import { CHOICE_FLAGS, CHOICE_HELP, readChoice, readingValues, readWords, type AgentChoice } from "./command-words.ts";
import { MIN_ID_CHARS } from "./named-grants.ts";

export type GrantsOrder =
  | { readonly kind: "help" }
  | { readonly kind: "list"; readonly json: boolean; readonly choice: AgentChoice }
  | { readonly kind: "revoke"; readonly which: Revocation; readonly json: boolean; readonly choice: AgentChoice };

export const GRANTS_HELP = `Usage: pimcp grants [flags]                  which apps have access
       pimcp revoke ID [ID …] [flags]        take access back, at once
       pimcp revoke --all [flags]            from all of them

Both ask the agent that runs on this machine; in a checkout: npm start -- grants. An ID may be cut
to what tells it apart, at least 4 characters. When one is not known nothing is taken back.

  --json        Print one JSON object.
${CHOICE_HELP}
  --help        Show this text.

Exit codes: 0 done as asked; 1 not: an ID that is not known, or no answer; 2 unclear what is meant,
or nobody to ask.
`;

const FLAGS = {
  all: { type: "boolean" },
  json: { type: "boolean" },
  ...CHOICE_FLAGS,
  help: { type: "boolean", short: "h" },
} as const;

export const GRANTS_FLAGS = Object.keys(FLAGS);
const MAX_IDS = 500;

/** `argv` begins behind the command. */
export function readGrantsArguments(command: "grants" | "revoke", argv: readonly string[]): Result<GrantsOrder, string> {
  const read = readWords(command, argv, FLAGS);
  if (!read.ok) return read;
  const { given, words: ids } = read.value;
  if (given.has("help")) return ok({ kind: "help" });
  return readingValues(() => {
    const how = { json: given.has("json"), choice: readChoice(given) };
    if (command === "revoke") return readRevocation(ids, given.has("all"), how);
    if (ids.length > 0 || given.has("all")) return err("pimcp grants lists and takes no ids: pimcp revoke ID takes access back.");
    return ok({ kind: "list", ...how });
  });
}

function readRevocation(
  ids: readonly string[],
  all: boolean,
  how: { readonly json: boolean; readonly choice: AgentChoice },
): Result<GrantsOrder, string> {
  if (all) return ids.length === 0 ? ok({ kind: "revoke", which: { ids: "all" }, ...how }) : err("Name ids or --all, not both.");
  if (ids.length === 0) return err("pimcp revoke needs the id of a grant, as pimcp grants lists them, or --all.");
  const odd = ids.find((id) => id.length < MIN_ID_CHARS || !/^[\w-]{1,100}$/.test(id));
  if (odd !== undefined)
    return err(`${JSON.stringify(odd.slice(0, 100))} is no id of a grant (${MIN_ID_CHARS} characters or more): pimcp grants lists them.`);
  if (ids.length > MAX_IDS) return err(`pimcp revoke takes at most ${MAX_IDS} ids at once, got ${ids.length}; --all means all.`);
  return ok({ kind: "revoke", which: { ids: [...ids] }, ...how });
}
