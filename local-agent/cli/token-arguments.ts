/** Arguments of `pimcp token` → what to do, or one sentence. Pure. */
import { err, ok, type Result } from "../../shared/result.ts";
import { visibleLine } from "../../shared/visible-text.ts";
import { DEFAULT_WORKSPACE } from "../../shared/workspace.ts";
import type { TokenWish } from "../daemon/created-tokens.ts";
import { readChosenWorkspace, readingValues, readWords, type CommandWords } from "./command-words.ts";
import { didYouMean } from "../../shared/nearest.ts";
import { BadValue } from "./values.ts";

export type TokenOrder =
  | { readonly kind: "help" }
  | ({ readonly kind: "create"; readonly wish: TokenWish } & How)
  | ({ readonly kind: "list" } & How)
  | ({ readonly kind: "revoke"; readonly which: readonly string[] | "all" } & How);

interface How {
  readonly json: boolean;
  /** Whose tokens; null: of the workspace without a name. */
  readonly workspace: string | null;
}

export const TOKEN_HELP = `Usage: pimcp token create NAME [flags]         make a token for a client that only sends a header
       pimcp token list [flags]                which there are; never the tokens themselves
       pimcp token revoke ID|NAME … [flags]    end some, at once
       pimcp token revoke --all [flags]        end all that were created

A token opens one workspace of every relay of this account, the one without a name if none is
said, and that one's --http. It is shown once and kept nowhere. The one that a start prints is not
among them. In a checkout: npm start -- token list

  --workspace NAME
                  Whose tokens.
  --expires WHEN  With create: 30d, 12h, or a date such as 2027-01-31 (to its end) [never]
  --scope SCOPE   With create: mcp is the only one [mcp]
  --all           With revoke: all of them.
  --json          Print one JSON object.
  --help          Show this text.

Exit codes: 0 done, and every running agent knows it; 1 done, but one of them learns of it later;
2 nothing was done.
`;

const FLAGS = {
  expires: { type: "string" },
  scope: { type: "string" },
  workspace: { type: "string" },
  all: { type: "boolean" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;
export const TOKEN_FLAGS = Object.keys(FLAGS);

const COMMANDS = ["create", "list", "revoke"] as const;
/** Which flags mean something behind which word. */
const TAKES: Readonly<Record<(typeof COMMANDS)[number], readonly string[]>> = {
  create: ["expires", "scope", "workspace", "json"],
  list: ["workspace", "json"],
  revoke: ["all", "workspace", "json"],
};

/** `argv` begins behind `token`; `now` in milliseconds since the epoch. */
export function readTokenArguments(argv: readonly string[], now: number): Result<TokenOrder, string> {
  const read = readWords("token", argv, FLAGS);
  if (!read.ok) return read;
  const { given, words } = read.value;
  const [word = "", ...rest] = words;
  if (given.has("help") || word === "help") return ok({ kind: "help" });
  const command = COMMANDS.find((each) => each === word);
  if (command === undefined) {
    const what = word === "" ? "pimcp token needs to know what to do" : `Unknown command pimcp token ${visibleLine(word, 100)}`;
    return err(`${what}: create, list or revoke.${didYouMean(word, COMMANDS, "pimcp token ")} See pimcp token --help.`);
  }
  const stray = [...given.keys()].find((flag) => !TAKES[command].includes(flag));
  if (stray !== undefined) return err(`--${stray} means nothing to pimcp token ${command}: leave it out.`);
  return readingValues(() => readCommand(command, rest, given, now));
}

function readCommand(
  command: (typeof COMMANDS)[number],
  words: readonly string[],
  given: CommandWords["given"],
  now: number,
): Result<TokenOrder, string> {
  const how: How = { json: given.has("json"), workspace: readOwner(given.get("workspace")) };
  switch (command) {
    case "create":
      return ok({ kind: "create", wish: readWish(words, given, now), ...how });
    case "list":
      return words.length === 0 ? ok({ kind: "list", ...how }) : err("pimcp token list takes no names: it lists all.");
    case "revoke":
      return readRevocation(words, given.has("all"), how);
  }
}

/** As for the commands that ask an agent, the workspace without a name can be said too. */
function readOwner(text: string | undefined): string | null {
  const workspace = text === undefined ? DEFAULT_WORKSPACE : readChosenWorkspace(text);
  return workspace === DEFAULT_WORKSPACE ? null : workspace;
}

function readRevocation(words: readonly string[], all: boolean, how: How): Result<TokenOrder, string> {
  if (all) return words.length === 0 ? ok({ kind: "revoke", which: "all", ...how }) : err("Name tokens or --all, not both.");
  if (words.length === 0) return err("pimcp token revoke needs an ID or a name, as pimcp token list shows them, or --all.");
  return ok({ kind: "revoke", which: words, ...how });
}

function readWish(words: readonly string[], given: CommandWords["given"], now: number): TokenWish {
  if (words.length > 1)
    throw new BadValue(`pimcp token create takes one name: put it in quotes, ${JSON.stringify(visibleLine(words.join(" "), 100))}.`);
  return {
    name: readName(words[0]),
    expiresAt: given.has("expires") ? readExpiry(given.get("expires") ?? "", now) : null,
    scope: given.has("scope") ? readScope(given.get("scope") ?? "") : [SCOPE],
  };
}

const MAX_NAME = 60;

/** It is shown as the client's on the page and in lists, so it has to look like what it is. */
function readName(name: string | undefined): string {
  if (name === undefined) throw new BadValue("pimcp token create needs a name to know the token by, such as the client's.");
  const { length } = name;
  if (length < 1 || length > MAX_NAME) throw new BadValue(`A token's name has 1 to ${MAX_NAME} characters, got ${length}.`);
  if (visibleLine(name) !== name || name.trim() !== name || /[\p{Z}--[ ]]|\s\s/v.test(name))
    throw new BadValue(`A token's name has visible characters and single spaces between them only, got ${JSON.stringify(visibleLine(name))}.`);
  return name;
}

const SCOPE = "mcp";

function readScope(text: string): readonly string[] {
  if (text !== SCOPE) throw new BadValue(`--scope can only be ${SCOPE}, which is all there is, got ${JSON.stringify(visibleLine(text, 100))}.`);
  return [SCOPE];
}

const UNITS: Readonly<Record<string, number>> = { h: 60 * 60_000, d: 24 * 60 * 60_000 };
const MAX_YEARS = 10;

/** A date means the end of that day, in local time. */
function readExpiry(text: string, now: number): number {
  const at = afterNow(text, now) ?? endOfDay(text);
  const got = `got ${JSON.stringify(visibleLine(text, 100))}`;
  if (at === undefined) throw new BadValue(`--expires must be days or hours such as 30d or 12h, or a date such as 2027-01-31, ${got}.`);
  if (at <= now) throw new BadValue(`--expires must lie in the future, ${got}.`);
  if (at > now + MAX_YEARS * 366 * (UNITS["d"] ?? 0))
    throw new BadValue(`--expires can be at most ${MAX_YEARS} years away, ${got}; without it a token does not expire.`);
  return at;
}

function afterNow(text: string, now: number): number | undefined {
  const [, count = "", unit = ""] = /^(\d{1,6})([hd])$/.exec(text) ?? [];
  const ms = UNITS[unit];
  return ms === undefined ? undefined : now + Number(count) * ms;
}

function endOfDay(text: string): number | undefined {
  const [, year = "", month = "", day = ""] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  const date = new Date(Number(year), Number(month) - 1, Number(day));
  // The 31st of a month that has 30 days would be another date.
  if (year === "" || date.getMonth() !== Number(month) - 1 || date.getDate() !== Number(day)) return undefined;
  return new Date(Number(year), Number(month) - 1, Number(day) + 1).getTime();
}
