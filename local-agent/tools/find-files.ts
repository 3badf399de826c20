/**
 * File search for Pi's `find` without fd: `rg --files` lists what is not ignored, picomatch picks. Same rules as Pi's own
 * search with fd: a pattern without "/" matches names at any depth, one with "/" is anchored at the search directory, an
 * all-lowercase pattern ignores case, directories end in "/". Links are not followed, and not listed.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { access } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import picomatch from "picomatch";
import { NO_IGNORE_MESSAGES } from "./call-spawns.ts";
import { matchBudget } from "./match-budget.ts";

const MAX_STDERR_CHARS = 4096;

export interface FindRequest {
  readonly rgPath: string;
  /** Directory to search, as the caller spelled it (absolute), and its real path. */
  readonly searchPath: string;
  readonly realPath: string;
  readonly pattern: string;
  /** Patterns never shown, relative to the search directory. */
  readonly ignore: readonly string[];
  readonly limit: number;
  /** `--iglob` values. */
  readonly exclude: readonly string[];
  /** Asked for each result's real location; what it refuses is dropped. */
  readonly mayShow: (path: string) => boolean;
  readonly signal: AbortSignal;
}

/** Relative paths with "/", sorted, at most `limit`. @throws when ripgrep cannot search at all, or the pattern takes too long */
export async function findFiles(request: FindRequest): Promise<string[]> {
  const gitAware = await isInsideGitRepository(request.realPath);
  const args = [
    "--no-config",
    "--files",
    "--hidden",
    "--no-messages",
    NO_IGNORE_MESSAGES,
    "--color=never",
    "--null",
    ...(gitAware ? [] : ["--no-require-git"]),
  ];
  for (const glob of request.exclude) args.push("--iglob", glob);
  request.signal.throwIfAborted();
  const child = spawn(request.rgPath, [...args, "--", "."], { cwd: request.realPath, stdio: ["ignore", "pipe", "pipe"] });
  const found = await collect(child, request);
  return [...found].toSorted().slice(0, request.limit);
}

/** Matcher over paths relative to the search directory; a directory's ends in "/". */
function findMatcher(pattern: string, searchPath: string): (path: string) => boolean {
  const slashed = (process.platform === "win32" ? pattern.replaceAll("\\", "/") : pattern).replace(/^(?:\.\/)+/, "");
  const absolute = isAbsolute(slashed);
  // "src/**" means what is below src, not src itself.
  const matches = picomatch(slashed.replace(/\/\*\*$/, "/**/*"), {
    dot: true,
    noext: true,
    nonegate: true,
    nocase: slashed === slashed.toLowerCase(),
    windows: false,
  });
  return (path) => {
    const bare = path.replace(/\/$/, "");
    if (!slashed.includes("/")) return matches(bare.slice(bare.lastIndexOf("/") + 1));
    return matches(absolute ? join(searchPath, bare).replaceAll("\\", "/") : bare);
  };
}

/** Which of these paths the request asks for. @throws Refusal when the pattern takes too long */
function boundedFilter(request: FindRequest): (paths: readonly string[]) => string[] {
  const budget = matchBudget();
  const isWanted = budget.spend(() => {
    const matches = findMatcher(request.pattern, request.searchPath);
    const isIgnored = request.ignore.length === 0 ? () => false : picomatch([...request.ignore], { dot: true, windows: false });
    return (path: string): boolean => matches(path) && !isIgnored(path);
  });
  return (paths) => budget.spend(() => paths.filter(isWanted));
}

async function collect(child: ChildProcess, request: FindRequest): Promise<Set<string>> {
  const found = new Set<string>();
  const seenDirectories = new Set<string>();
  const stop = (): void => void child.kill("SIGKILL");
  request.signal.addEventListener("abort", stop, { once: true });
  const ended = endOf(child);
  try {
    const wanted = boundedFilter(request);
    for await (const files of entriesOf(child)) {
      const paths = files.flatMap((file) => [...newDirectories(file, seenDirectories), file]);
      const shown = wanted(paths).filter((path) => request.mayShow(join(request.realPath, path)));
      for (const path of shown.slice(0, request.limit - found.size)) found.add(path);
      if (found.size >= request.limit) break;
    }
    stop();
    const failure = await ended;
    if (request.signal.aborted) throw new Error("Operation aborted");
    if (failure !== undefined && found.size === 0) throw new Error(failure);
    return found;
  } finally {
    stop();
    request.signal.removeEventListener("abort", stop);
  }
}

/** Paths as ripgrep prints them with `--null`, in batches: a name may hold a line break. */
async function* entriesOf(child: ChildProcess): AsyncGenerator<string[]> {
  if (child.stdout === null) return;
  let rest = "";
  for await (const chunk of child.stdout.setEncoding("utf8") as AsyncIterable<string>) {
    const parts = (rest + chunk).split("\0");
    rest = parts.pop() ?? "";
    yield parts.map((part) => (process.platform === "win32" ? part.replaceAll("\\", "/") : part).replace(/^\.\//, ""));
  }
}

/** The directories on the way to a file that were not met before, outermost first. */
function newDirectories(file: string, seen: Set<string>): string[] {
  const fresh: string[] = [];
  for (let directory = dirname(file); directory !== "." && !seen.has(directory); directory = dirname(directory)) {
    seen.add(directory);
    fresh.unshift(`${directory}/`);
  }
  return fresh;
}

/** Why ripgrep failed, once it has ended; undefined when it searched, found nothing, or was stopped. */
function endOf(child: ChildProcess): Promise<string | undefined> {
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    if (stderr.length < MAX_STDERR_CHARS) stderr += text;
  });
  return new Promise((resolve) => {
    child.once("error", (error) => resolve(`ripgrep could not be started: ${error.message}`));
    child.once("close", (code) => resolve(code === null || code <= 1 ? undefined : stderr.trim() || `ripgrep ended with code ${code}`));
  });
}

/** Inside a repository ignore rules stop at nested repositories, as git's do; outside, `.gitignore` files count all the same. */
async function isInsideGitRepository(directory: string): Promise<boolean> {
  for (let current = directory; ; current = dirname(current)) {
    try {
      await access(join(current, ".git"));
      return true;
    } catch {
      if (current === dirname(current)) return false;
    }
  }
}
