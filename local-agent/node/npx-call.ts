/** Reads `npx …` and `npm exec …` command lines. Pure. What is not understood in full is left to npm. */

export interface NpxCall {
  /** As npm is asked for it: a name with or without a version, tag or range. */
  readonly spec: string;
  readonly name: string;
  /** Behind the `@`; empty: any. */
  readonly wanted: string;
  /** The program of the package; null: its only one, or the one of its name. */
  readonly bin: string | null;
  /** For the program, exactly as given; a `--` among them stays. */
  readonly args: readonly string[];
}

/** Null: no such call, or with something in it that only npm understands. */
export function readNpxCall(command: string, args: readonly string[]): NpxCall | null {
  if (!isNpmExec(command, args)) return null;
  return readWords(programOf(command) === "npx" ? args : args.slice(1));
}

/** Whether it has npm run a package, understood or not. */
export function isNpmExec(command: string, args: readonly string[]): boolean {
  const program = programOf(command);
  return program === "npx" || (program === "npm" && (args[0] === "exec" || args[0] === "x"));
}

function programOf(command: string): string {
  const name = command.split(/[/\\]/).at(-1) ?? "";
  return name.toLowerCase().replace(/\.(?:cmd|exe|ps1)$/, "");
}

function readWords(args: readonly string[]): NpxCall | null {
  const read = readFlags(args);
  const [first = "", ...rest] = read?.words ?? [];
  if (read === null || first === "") return null;
  const spec = readSpec(read.fromPackage ?? first);
  return spec === null ? null : { ...spec, bin: read.fromPackage === null ? null : first, args: rest };
}

/** The flags before the first word, as far as they are understood; null: one is not. */
function readFlags(args: readonly string[]): { readonly fromPackage: string | null; readonly words: readonly string[] } | null {
  let fromPackage: string | null = null;
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? "";
    if (word === "--") return { fromPackage, words: args.slice(at + 1) };
    if (!word.startsWith("-")) return { fromPackage, words: args.slice(at) };
    if (word === "-y" || word === "--yes") continue;
    const [flag, attached] = splitFlag(word);
    if ((flag !== "-p" && flag !== "--package") || fromPackage !== null) return null;
    if (attached === undefined) at += 1;
    fromPackage = attached ?? args[at] ?? "";
  }
  return null;
}

function splitFlag(word: string): readonly [string, string | undefined] {
  const equals = word.indexOf("=");
  return equals === -1 ? [word, undefined] : [word.slice(0, equals), word.slice(equals + 1)];
}

/** Packages of a registry only: a path, an archive or a repository is npm's business. */
function readSpec(spec: string): Pick<NpxCall, "spec" | "name" | "wanted"> | null {
  const [, name, wanted = ""] = /^((?:@[\w.~-]+\/)?[\w~-][\w.~-]*)(?:@([\w.^~<>=*+-]+))?$/.exec(spec) ?? [];
  return name === undefined || !isPlain(wanted) ? null : { spec, name, wanted };
}

const EXACT = /^=?v?\d+\.\d+\.\d+/;
const ANY = /^(?:\*|[a-z][\w-]*)?$/i;

/** Whether `satisfies` can tell what suits. */
function isPlain(wanted: string): boolean {
  return EXACT.test(wanted) || ANY.test(wanted) || readRange(wanted) !== null;
}

/**
 * Whether an installed version is what was asked for. An exact version must be that one. A tag may have moved on meanwhile; npm's own
 * cache does not look either. A range that is not as plain as `^1.2` is for npm to judge.
 */
export function satisfies(installed: string, wanted: string): boolean {
  if (EXACT.test(wanted)) return installed === wanted.replace(/^=?v?/, "");
  if (ANY.test(wanted)) return true;
  const range = readRange(wanted);
  const [, ...has] = /^(\d+)\.(\d+)\.(\d+)$/.exec(installed)?.map(Number) ?? [];
  if (range === null || has.length !== 3) return false;
  const { floor, fixed } = range;
  return floor.every((part, index) => index >= fixed || has[index] === part) && isAtLeast(has, floor);
}

/** `fixed`: how many leading parts may not differ. */
function readRange(wanted: string): { readonly floor: readonly number[]; readonly fixed: number } | null {
  const [, sign, ...parts] = /^([\^~]?)(\d+)(?:\.(\d+|x|\*))?(?:\.(\d+|x|\*))?$/.exec(wanted) ?? [];
  if (sign === undefined) return null;
  const given = parts.findIndex((part) => part === undefined || part === "x" || part === "*");
  const known = given === -1 ? parts.length : given;
  const floor = parts.map((part, index) => (index < known ? Number(part) : 0));
  if (sign === "") return { floor, fixed: known };
  if (sign === "~") return { floor, fixed: Math.min(known, 2) };
  // A caret fixes everything up to the first part that is not zero.
  const first = floor.findIndex((part) => part > 0);
  return { floor, fixed: Math.min(known, first === -1 ? known : first + 1) };
}

function isAtLeast(has: readonly number[], floor: readonly number[]): boolean {
  const differs = floor.findIndex((part, index) => has[index] !== part);
  return differs === -1 || (has[differs] ?? 0) > (floor[differs] ?? 0);
}
