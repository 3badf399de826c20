/**
 * The only place that decides whether a tool may touch a path. Decisions are made on the real path, because a name
 * proves nothing: links, `..`, `~`, `/proc/self/root` and a root that is itself a link all spell places differently.
 *
 * What remains is the time between the check and the use. Only something that can already run programs can win that
 * race, and a shell is not confined by paths at all.
 */
import { lstat, readlink, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { deniedBy, excludeGlobs, foldName, readDenyEntry, type DenyRule } from "./deny-list.ts";
import { windowsObjection } from "./windows-paths.ts";

/** Every process's memory, environment and open files, and the kernel's switches: no files of a project. */
const SYSTEM_PLACES = process.platform === "win32" ? [] : ["/proc", "/sys"];

/** As many links in a row as Linux follows (path_resolution(7)); a loop has no end. */
const MAX_LINKS = 40;

/** A path that is not touched. The message is for the caller: what was asked, why not, what is possible. */
export class Refusal extends Error {
  override readonly name = "Refusal";
}

/** A setting that cannot be used (a root that is no directory, a deny entry without meaning). */
class RootSettingError extends Error {
  override readonly name = "RootSettingError";
}

interface Located {
  /** Real path; for something that does not exist yet, the real path of its deepest existing ancestor plus the rest. */
  readonly path: string;
  readonly exists: boolean;
}

/** `read` may also reach files the tools wrote for the caller (`readableDir`); `write` reaches less than `touch`. */
export type Purpose = "read" | "touch" | "write";

export interface ConfinedRoot {
  /** Real path of the root. */
  readonly path: string;
  /** Places closed to writing that exist and that the root contains or lies in. */
  readonly writeClosed: readonly string[];
  /** Resolves an absolute path and checks it. @throws Refusal */
  locate(requested: string, purpose: Purpose): Promise<Located>;
  /** Checks an argument as the caller spelled it, before anything has resolved it. @throws Refusal */
  checkSpelling(argument: string): void;
  /** Whether a path reported by a search below a located directory may be shown. */
  mayShow(path: string): boolean;
  /** `--iglob` values that keep ripgrep out of denied places below `searchDir`, a located directory. */
  excludeGlobs(searchDir: string): string[];
}

export interface RootSettings {
  readonly root: string;
  readonly deny: readonly string[];
  /** Absolute places that are closed whatever `deny` says. They need not exist, and cost nothing outside the root. */
  readonly closed?: readonly string[] | undefined;
  /** Absolute places `write` is refused in, judged by the real path; the root may be inside one. */
  readonly writeClosed?: readonly string[] | undefined;
  /** A directory outside the root whose files `read` may open: output too long to show. */
  readonly readableDir?: string | undefined;
  readonly home?: string | undefined;
}

/** @throws RootSettingError */
export async function openConfinedRoot(settings: RootSettings): Promise<ConfinedRoot> {
  const given = resolve(settings.root);
  const path = await realDirectory(given);
  const readableDir = settings.readableDir === undefined ? undefined : await realpath(settings.readableDir);
  const rules: DenyRule[] = [];
  for (const entry of settings.deny) rules.push(...(await resolveDenyEntry(entry, path, settings.home ?? homedir())));
  const closed: DenyRule[] = [];
  for (const place of [...(settings.closed ?? []), ...SYSTEM_PLACES]) closed.push(...(await closePlace(place, { path, given })));
  const writeClosed: Located[] = [];
  for (const place of settings.writeClosed ?? [])
    writeClosed.push(await realLocation(resolve(place)).catch(() => ({ path: resolve(place), exists: false })));
  return confinedRoot({ path, given, readableDir, rules, closed, writeClosed });
}

interface RootState {
  readonly path: string;
  readonly given: string;
  readonly readableDir: string | undefined;
  readonly rules: readonly DenyRule[];
  readonly closed: readonly DenyRule[];
  readonly writeClosed: readonly Located[];
}

function confinedRoot(state: RootState): ConfinedRoot {
  const allRules = [...state.closed, ...state.rules];
  return {
    path: state.path,
    writeClosed: overlapping(state),
    async locate(requested, purpose) {
      checkText(requested, requested, state.path);
      const located = await locateOrRefuse(requested, state);
      if (purpose === "read" && located.exists && isBelow(state.readableDir, located.path)) return located;
      const below = componentsBelow(state.path, located.path);
      if (below === undefined) throw outside(requested, state);
      // Both spellings count: a link may carry a denied name, and may point at one.
      const spellings = [below, componentsBelow(state.path, requested), componentsBelow(state.given, requested)].filter(
        (names) => names !== undefined,
      );
      const closed = firstRule(state.closed, spellings);
      if (closed !== undefined) throw new Refusal(`${requested} is refused: ${closed} is always closed to tools, and nothing below it can be used`);
      const denied = firstRule(state.rules, spellings);
      if (denied !== undefined) throw new Refusal(`${requested} is refused: "${denied}" is on the deny list, and nothing below it can be used`);
      if (purpose === "write" && state.writeClosed.some((place) => isWithin(place.path, located.path))) {
        throw new Refusal(`${requested} belongs to pi-relay itself and is closed to writing: start it with --root DIRECTORY to work elsewhere`);
      }
      return located;
    },
    checkSpelling(argument) {
      checkText(argument, argument, state.path);
    },
    mayShow(path) {
      const below = componentsBelow(state.path, path);
      return below !== undefined && deniedBy(allRules, below) === undefined;
    },
    excludeGlobs(searchDir) {
      return excludeGlobs(allRules, componentsBelow(state.path, searchDir) ?? []);
    },
  };
}

function firstRule(rules: readonly DenyRule[], spellings: readonly (readonly string[])[]): string | undefined {
  return spellings.map((components) => deniedBy(rules, components)).find((entry) => entry !== undefined);
}

/** A link on the way that leads nowhere, or something that may not be looked at. */
class Unresolvable extends Error {
  override readonly name = "Unresolvable";
  /** Where the way ends. */
  readonly at: string;
  /** Completes "<path> …". */
  readonly why: string;

  constructor(at: string, why: string) {
    super(`${at} ${why}`);
    this.at = at;
    this.why = why;
  }
}

/** The real location of an absolute path, whether or not its last components exist. @throws Unresolvable */
async function realLocation(requested: string): Promise<Located> {
  const missing: string[] = [];
  for (let ancestor = requested; ; ancestor = dirname(ancestor)) {
    const found = await lookUp(ancestor);
    if (found !== undefined) return { path: join(found, ...missing), exists: missing.length === 0 };
    if (ancestor === dirname(ancestor)) throw new Unresolvable(requested, "cannot be resolved: nothing on its way exists");
    missing.unshift(basename(ancestor));
  }
}

/** Real path of what exists at `path`; undefined when nothing does. */
async function lookUp(path: string): Promise<string | undefined> {
  const undetermined = (error: unknown): Unresolvable =>
    new Unresolvable(path, `is refused: its real location cannot be determined (${errorCode(error) ?? "unknown error"})`);
  try {
    await lstat(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw undetermined(error);
  }
  try {
    return await realpath(path);
  } catch (error) {
    // Writing through a link that points nowhere would create a file wherever it points.
    if (isMissing(error)) throw new Unresolvable(path, "is a symbolic link whose target does not exist: it is neither read nor written through");
    throw undetermined(error);
  }
}

/** Why the way ends is told only when it ends inside the root: what exists elsewhere is nobody's business. */
async function locateOrRefuse(requested: string, state: RootState): Promise<Located> {
  try {
    return await realLocation(requested);
  } catch (error) {
    if (!(error instanceof Unresolvable)) throw error;
    if (await endsOutside(error, state.path, MAX_LINKS)) throw outside(requested, state);
    throw new Refusal(`${error.at} ${error.why}`);
  }
}

/** Whether the place where a way ends, or what a dangling link there points at, is outside the root. In doubt it is. */
async function endsOutside(end: Unresolvable, root: string, links: number): Promise<boolean> {
  try {
    const parent = await realLocation(dirname(end.at));
    if (componentsBelow(root, parent.path) === undefined) return true;
    const target = await readlink(end.at).catch(() => undefined);
    return target !== undefined && componentsBelow(root, (await realLocation(resolve(parent.path, target))).path) === undefined;
  } catch (error) {
    if (!(error instanceof Unresolvable)) return true;
    // A loop inside the root comes back to itself until the links are used up.
    return links > 0 && endsOutside(error, root, links - 1);
  }
}

function outside(requested: string, state: RootState): Refusal {
  return new Refusal(`${requested} is outside the root ${state.given}: only paths inside it can be used`);
}

function isMissing(error: unknown): boolean {
  const code = errorCode(error);
  return code === "ENOENT" || code === "ENOTDIR";
}

export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

function checkText(text: string, shown: string, root: string): void {
  if (text.includes("\0")) throw new Refusal(`${JSON.stringify(shown)} is refused: a path cannot contain a NUL character`);
  if (process.platform !== "win32") return;
  const objection = windowsObjection(text, root);
  if (objection !== undefined) throw new Refusal(`${shown} is refused: ${objection}`);
}

/** Components of `path` below `base`, by whole names; undefined when it is not inside. */
function componentsBelow(base: string, path: string): string[] | undefined {
  const between = relative(base, path);
  if (between === "") return [];
  const components = between.split(sep);
  return isAbsolute(between) || components[0] === ".." ? undefined : components;
}

/** Whether a real path is `place` or below it, for a disk that ignores case too. */
/** At any depth: what is kept for a caller may have a directory of its own. */
function isBelow(place: string | undefined, path: string): boolean {
  return place !== undefined && path !== place && isWithin(place, path);
}

function isWithin(place: string, path: string): boolean {
  const fold = (text: string): string => text.split(sep).map(foldName).join(sep);
  return componentsBelow(fold(place), fold(path)) !== undefined;
}

/** The outermost of the existing places closed to writing, as far as they concern this root. */
function overlapping({ path, writeClosed }: RootState): string[] {
  const places = new Set(writeClosed.filter((place) => place.exists).map((place) => place.path));
  const concerned = [...places].filter((place) => isWithin(path, place) || isWithin(place, path));
  return concerned.filter((place) => !concerned.some((other) => other !== place && isWithin(other, place)));
}

async function realDirectory(given: string): Promise<string> {
  try {
    const path = await realpath(given);
    if ((await lstat(path)).isDirectory()) return path;
  } catch (error) {
    throw new RootSettingError(`the root ${given} cannot be used (${errorCode(error) ?? "unknown error"}): give an existing directory with --root`);
  }
  throw new RootSettingError(`the root ${given} is not a directory: give an existing directory with --root`);
}

/** An absolute or `~` entry outside the root closes nothing that was open, so it leaves no rule. */
async function resolveDenyEntry(entry: string, root: string, home: string): Promise<DenyRule[]> {
  const read = readDenyEntry(entry, { home, windows: process.platform === "win32" });
  if (!read.ok) throw new RootSettingError(read.error);
  if (read.value.kind === "anywhere") return [{ names: read.value.names, anchored: false, shown: read.value.shown }];
  const location = await realLocation(resolve(read.value.path)).catch((error: unknown) => {
    throw new RootSettingError(`deny entry ${JSON.stringify(entry)} cannot be used: ${error instanceof Error ? error.message : String(error)}`);
  });
  const below = componentsBelow(root, location.path);
  if (below === undefined) return [];
  if (below.length === 0) throw new RootSettingError(`deny entry ${JSON.stringify(entry)} is the root itself: nothing would be left to work on`);
  return [{ names: below.map(foldName), anchored: true, shown: read.value.shown }];
}

/** Both what a place is called and where it really is: a link there could be replaced, and its target has other ways to it. */
async function closePlace(place: string, root: { readonly path: string; readonly given: string }): Promise<DenyRule[]> {
  const called = resolve(place);
  const parent = await realLocation(dirname(called)).catch(() => undefined);
  const real = await realLocation(called).catch(() => undefined);
  const locations = new Set([called, join(parent?.path ?? dirname(called), basename(called)), real?.path ?? called]);
  const rules: DenyRule[] = [];
  for (const location of locations) {
    if (componentsBelow(location, root.path) !== undefined) {
      throw new RootSettingError(`the root ${root.given} is in ${place}, which is always closed to tools: give another directory with --root`);
    }
    const below = componentsBelow(root.path, location);
    if (below !== undefined) rules.push({ names: below.map(foldName), anchored: true, shown: place });
  }
  return rules;
}
