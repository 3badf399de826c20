/** Arguments of `pimcp audit` → what to do, or one sentence. Pure. */
import { err, ok, type Result } from "../../shared/result.ts";
import { readWords } from "./command-words.ts";

export type AuditOrder = { readonly kind: "help" } | { readonly kind: "list"; readonly json: boolean; readonly last: number };

export const AUDIT_HELP = `Usage: pimcp audit [flags]      what was allowed and refused on this machine, oldest first

Approvals of single calls, apps that were let in, access that was taken back, and when agents ran
with which tools guarded; in a checkout: npm start -- audit. No agent has to run. Arguments are
there as their SHA-256, or in full if the agent was started with --audit-full.

  --last N      Only the last N entries, 1 to 100000 [50].
  --json        Print one JSON object, with everything that is known of each entry.
  --help        Show this text.

Exit codes: 0 done as asked; 2 unclear what is meant, or the log cannot be read.
`;

const FLAGS = { last: { type: "string" }, json: { type: "boolean" }, help: { type: "boolean", short: "h" } } as const;
export const AUDIT_FLAGS = Object.keys(FLAGS);

const DEFAULT_LAST = 50;
const MAX_LAST = 100_000;

/** `argv` begins behind the command. */
export function readAuditArguments(argv: readonly string[]): Result<AuditOrder, string> {
  const read = readWords("audit", argv, FLAGS);
  if (!read.ok) return read;
  const { given, words } = read.value;
  if (given.has("help")) return ok({ kind: "help" });
  if (words.length > 0)
    return err(`pimcp audit takes no words, got ${JSON.stringify(words[0]?.slice(0, 100))}: pimcp audit --last N shows more or fewer.`);
  const text = given.has("last") ? (given.get("last") ?? "") : String(DEFAULT_LAST);
  const last = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (last < 1 || last > MAX_LAST) return err(`--last must be a whole number from 1 to ${MAX_LAST}, got ${JSON.stringify(text.slice(0, 100))}.`);
  return ok({ kind: "list", json: given.has("json"), last });
}
