/** The agent's own temporary directory: Pi's settings directory (empty but for ripgrep) and output too long to show. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

/** Only a directory with this at the start of its name is ever removed. */
const PREFIX = "pimcp-tools-";

export interface PrivateDir {
  readonly path: string;
  readonly agentDir: string;
  readonly spillDir: string;
}

/** Made with mode 0700 (mkdtemp) in the system's temporary directory. @throws with a sentence when that cannot be written */
export function makePrivateDir(): PrivateDir {
  const path = makeEmptyDir(tmpdir());
  const dirs = { path, agentDir: join(path, "agent"), spillDir: join(path, "output") };
  mkdirSync(dirs.agentDir, { mode: 0o700 });
  mkdirSync(dirs.spillDir, { mode: 0o700 });
  return dirs;
}

/** Removes it with all that is in it; anything else is left alone. Never throws. */
export function removePrivateDir(path: string | undefined): void {
  if (path === undefined || !basename(path).startsWith(PREFIX)) return;
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // Left for the system's own cleaning of its temporary directory.
  }
}

function makeEmptyDir(parent: string): string {
  try {
    return mkdtempSync(join(parent, PREFIX));
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new Error(`the temporary directory ${parent} cannot be written (${code}): set TMPDIR to one that can`, { cause: error });
  }
}
