/** Where paths really lead. Nothing here throws: whoever asks says what a missing path means. */
import { realpathSync, statSync } from "node:fs";
import { isAbsolute, relative, sep } from "node:path";

/** Links followed; null: there is nothing, or it may not be looked at. */
export function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null; // Missing, a circle of links, or closed to this account.
  }
}

export function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false; // It is gone meanwhile, or closed to this account.
  }
}

/** Lexically: both are real paths. A directory is within itself. */
export function isWithin(path: string, directory: string): boolean {
  const way = relative(directory, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}
