/** Arguments of `pimcp grants` and `pimcp revoke` → what to do, or one sentence. Pure. */
import { parseArgs } from "node:util";
import type { Revocation } from "../../shared/authorization.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import { didYouMean } from "./nearest.ts";
import { BadValue, readPort, readRelay } from "./values.ts";

/** Which of several running agents is meant; null: whichever runs. */
export interface AgentChoice {
  readonly relay: string | null;
  readonly port: number | null;
}

export type GrantsOrder =
  | { readonly kind: "help" }
  | { readonly kind: "list"; readonly json: boolean; readonly choice: AgentChoice }
  | { readonly kind: "revoke"; readonly which: Revocation; readonly json: boolean; readonly choice: AgentChoice };

export const GRANTS_HELP = `Usage: pimcp grants [flags]                  which apps have access
       pimcp revoke ID [ID …] [flags]        take access back, at once
       pimcp revoke --all [flags]            from all of them

Both ask the agent that runs on this machine; in a checkout: npm start -- grants

  --json        Print one JSON object.
  --relay URL   Of several agents, the one of this relay; local is the embedded one.
  --port PORT   Of several agents, the one whose relay or page has this port.
  --help        Show this text.
`;

const FLAGS = {
  all: { type: "boolean" },
  json: { type: "boolean" },
  relay: { type: "string" },
  port: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

export const GRANTS_FLAGS = Object.keys(FLAGS);
const MAX_IDS = 500;

/** `argv` begins behind the command. */
export function readGrantsArguments(command: "grants" | "revoke", argv: readonly string[]): Result<GrantsOrder, string> {
  const { tokens } = parseArgs({ args: [...argv], options: FLAGS, strict: false, tokens: true, allowPositionals: true });
  const given = new Map<string, string | undefined>();
  const ids: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") ids.push(token.value);
    if (token.kind !== "option") continue;
    if (!Object.hasOwn(FLAGS, token.name)) {
      return err(`Unknown flag ${token.rawName}.${didYouMean(token.name, GRANTS_FLAGS, "--")} See pimcp ${command} --help.`);
    }
    given.set(token.name, token.value);
  }
  if (given.has("help")) return ok({ kind: "help" });
  try {
    const how = { json: given.has("json"), choice: readChoice(given) };
    if (command === "revoke") return readRevocation(ids, given.has("all"), how);
    if (ids.length > 0 || given.has("all")) return err("pimcp grants lists and takes no ids: pimcp revoke ID takes access back.");
    return ok({ kind: "list", ...how });
  } catch (error) {
    if (error instanceof BadValue) return err(error.message);
    throw error;
  }
}

function readRevocation(
  ids: readonly string[],
  all: boolean,
  how: { readonly json: boolean; readonly choice: AgentChoice },
): Result<GrantsOrder, string> {
  if (all) return ids.length === 0 ? ok({ kind: "revoke", which: { ids: "all" }, ...how }) : err("Name ids or --all, not both.");
  if (ids.length === 0) return err("pimcp revoke needs the id of a grant, as pimcp grants lists them, or --all.");
  const odd = ids.find((id) => !/^[\w-]{1,100}$/.test(id));
  if (odd !== undefined) return err(`${JSON.stringify(odd.slice(0, 100))} is no id of a grant: pimcp grants lists them.`);
  if (ids.length > MAX_IDS) return err(`pimcp revoke takes at most ${MAX_IDS} ids at once, got ${ids.length}; --all means all.`);
  return ok({ kind: "revoke", which: { ids: [...ids] }, ...how });
}

function readChoice(given: ReadonlyMap<string, string | undefined>): AgentChoice {
  return {
    relay: given.has("relay") ? readRelay(given.get("relay") ?? "", "--relay") : null,
    port: given.has("port") ? readPort(given.get("port") ?? "", "--port") : null,
  };
}
