/** Arguments of `pimcp pending`, `pimcp allow` and `pimcp deny` → what to do, or one sentence. Pure. */
import { err, ok, type Result } from "../../shared/result.ts";
import { CHOICE_FLAGS, CHOICE_HELP, readChoice, readingValues, readWords, type AgentChoice } from "./command-words.ts";

interface How {
  readonly json: boolean;
  readonly choice: AgentChoice;
}

export type PendingOrder =
  | { readonly kind: "help" }
  | ({ readonly kind: "list" } & How)
  /** At least one of the two is there; `code`: six digits. */
  | ({ readonly kind: "allow"; readonly code: string | null; readonly id: string | null } & How)
  | ({ readonly kind: "deny"; readonly id: string } & How);

export type PendingCommand = "pending" | "allow" | "deny";

export const PENDING_HELP = `Usage: pimcp pending [flags]              which apps ask for access, with all that is known of them
       pimcp allow CODE [ID] [flags]      allow one: CODE is the six digits its waiting page shows;
                                          with several waiting, ID says which one
       pimcp allow ID [flags]             of a relay on this machine alone, where no code is needed
       pimcp deny ID [flags]              refuse one

The same as the cards on the page of the agent that runs on this machine; in a checkout:
npm start -- pending. An ID may be cut to what tells it apart, at least 4 characters. A wrong code
ends the request: start again in the app, which then shows a new one.

  --json        Print one JSON object.
${CHOICE_HELP}
  --help        Show this text.

Exit codes: 0 done as asked; 1 not: a wrong code, no longer waiting, or no answer; 2 unclear what
is meant, or nobody to ask.
`;

const FLAGS = { json: { type: "boolean" }, ...CHOICE_FLAGS, help: { type: "boolean", short: "h" } } as const;
export const PENDING_FLAGS = Object.keys(FLAGS);

/** `argv` begins behind the command. */
export function readPendingArguments(command: PendingCommand, argv: readonly string[]): Result<PendingOrder, string> {
  const read = readWords(command, argv, FLAGS);
  if (!read.ok) return read;
  const { given, words } = read.value;
  if (given.has("help")) return ok({ kind: "help" });
  return readingValues(() => {
    const how = { json: given.has("json"), choice: readChoice(given) };
    switch (command) {
      case "pending":
        return words.length === 0 ? ok({ kind: "list", ...how }) : err("pimcp pending lists and takes no words: pimcp allow and pimcp deny decide.");
      case "allow":
        return readAllow(words, how);
      case "deny":
        return readDeny(words, how);
    }
  });
}

/** People type a code as they read it: "123456", "123 456", "123-456". An ID that is shown never is digits alone. */
function readAllow(words: readonly string[], how: How): Result<PendingOrder, string> {
  const isCode = (word: string): boolean => /^[\d\s-]+$/.test(word);
  const digits = words.filter(isCode).join("").replaceAll(/\D/g, "");
  const [id, ...others] = words.filter((word) => !isCode(word));
  if (words.length === 0)
    return err("pimcp allow needs the code that the waiting page shows, or an ID where none is needed: pimcp pending lists both.");
  if (others.length > 0) return err("pimcp allow decides one request at a time: pimcp allow CODE ID.");
  if (words.some(isCode) && digits.length !== 6) return err(`The code of a waiting page has six digits, got ${digits.length}. Nothing was decided.`);
  if (id !== undefined && !isId(id)) return err(noId(id));
  return ok({ kind: "allow", code: digits === "" ? null : digits, id: id ?? null, ...how });
}

function readDeny([id, ...others]: readonly string[], how: How): Result<PendingOrder, string> {
  if (id === undefined) return err("pimcp deny needs the ID of a request, as pimcp pending lists them.");
  if (others.length > 0) return err("pimcp deny decides one request at a time.");
  return isId(id) ? ok({ kind: "deny", id, ...how }) : err(noId(id));
}

function isId(word: string): boolean {
  return /^[\w-]{4,100}$/.test(word);
}

function noId(word: string): string {
  return `${JSON.stringify(word.slice(0, 100))} is no ID of a request (4 characters or more): pimcp pending lists them.`;
}
