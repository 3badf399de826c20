/**
 * The command line and the environment as a set of given flags, checked only for shape: known names, values where one
 * belongs. Pure. What the values mean is `arguments.ts`.
 */
import { err, ok, type Result } from "../../shared/result.ts";
import { ENV_PREFIX, envName, FLAGS, WITHOUT_ENV, type Flag, type FlagName } from "./flags.ts";
import { didYouMean } from "../../shared/nearest.ts";

export interface GivenFlag {
  /** One unless the flag was repeated; for a switch `"on"` or `"off"`. */
  readonly values: readonly string[];
  /** How the person wrote it, for messages: `--port` or `PI_AS_MCP_PORT`. */
  readonly as: string;
  readonly by: "flag" | "env";
}
export type GivenFlags = ReadonlyMap<FlagName, GivenFlag>;

export interface CommandLine {
  /** First word, if it is not a flag. */
  readonly command: string | null;
  /** Further words and, after a command that reads its own arguments, everything. */
  readonly words: readonly string[];
  readonly given: GivenFlags;
}

const rows: readonly Flag[] = FLAGS;
const NAMES = rows.map((flag) => flag.name);
const ALIASES: Readonly<Record<string, string>> = { "-h": "--help", "-v": "--version", "-V": "--version" };
const ON = new Set(["1", "true", "yes", "on"]);
const OFF = new Set(["0", "false", "no", "off"]);

/** Reads argv (without program names). Never throws; the error is one sentence. */
export function readArgv(argv: readonly string[]): Result<CommandLine, string> {
  const given = new Map<FlagName, GivenFlag>();
  const words: string[] = [];
  for (let at = 0; at < argv.length; at++) {
    const word = ALIASES[argv[at] ?? ""] ?? argv[at] ?? "";
    if (!word.startsWith("-") || word === "-") {
      words.push(word);
      continue;
    }
    const flag = readFlag(word, argv[at + 1]);
    if (!flag.ok) return flag;
    if (flag.value.tookNext) at++;
    const before = flag.value.row.repeats === true ? (given.get(flag.value.name)?.values ?? []) : [];
    given.set(flag.value.name, { values: [...before, flag.value.text], as: `--${flag.value.name}`, by: "flag" });
  }
  return ok({ command: words[0] ?? null, words: words.slice(1), given });
}

/** Reads `PI_AS_MCP_*`. An empty variable counts as unset. The second value holds remarks that do not stop the start. */
export function readEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): Result<{ readonly given: GivenFlags; readonly notices: readonly string[] }, string> {
  const given = new Map<FlagName, GivenFlag>();
  const notices: string[] = [];
  for (const [variable, text] of Object.entries(env)) {
    if (!variable.startsWith(ENV_PREFIX) || text === undefined || text === "") continue;
    const row = rows.find((flag) => envName(flag.name) === variable && !WITHOUT_ENV.has(flag.name));
    if (row === undefined) {
      notices.push(
        `${variable} is not a setting of this version and is ignored.${didYouMean(variable.slice(ENV_PREFIX.length), NAMES.map(envWord), ENV_PREFIX)}`,
      );
      continue;
    }
    const value = row.value === null ? readSwitch(variable, text) : ok(text);
    if (!value.ok) return value;
    given.set(row.name as FlagName, { values: [value.value], as: variable, by: "env" });
  }
  return ok({ given, notices });
}

function readFlag(
  word: string,
  next: string | undefined,
): Result<{ readonly name: FlagName; readonly row: Flag; readonly text: string; readonly tookNext: boolean }, string> {
  const [name, inline] = splitFlag(word);
  const row = rows.find((flag) => flag.name === name);
  if (row === undefined) return err(`Unknown flag ${word.split("=")[0]}.${didYouMean(name, NAMES, "--")} See pimcp --help.`);
  const known = { name: row.name as FlagName, row };
  if (row.value === null) {
    return inline === undefined ? ok({ ...known, text: "on", tookNext: false }) : err(`--${name} takes no value, got ${JSON.stringify(inline)}.`);
  }
  const text = inline ?? next;
  if (text === undefined || (inline === undefined && text.startsWith("--"))) {
    return err(`--${name} needs a value: --${name} ${row.value}.`);
  }
  if (text === "" && name !== "deny") return err(`--${name} must not be empty: --${name} ${row.value}.`);
  return ok({ ...known, text, tookNext: inline === undefined });
}

function splitFlag(word: string): readonly [string, string | undefined] {
  const at = word.indexOf("=");
  const name = at < 0 ? word : word.slice(0, at);
  return [name.replace(/^-{1,2}/, ""), at < 0 ? undefined : word.slice(at + 1)];
}

function envWord(name: string): string {
  return envName(name).slice(ENV_PREFIX.length);
}

function readSwitch(variable: string, text: string): Result<string, string> {
  const word = text.toLowerCase();
  if (ON.has(word)) return ok("on");
  return OFF.has(word) ? ok("off") : err(`${variable} is a switch: 1 or 0, got ${JSON.stringify(text)}.`);
}
