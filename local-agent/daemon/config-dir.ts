/**
 * What outlives a run, and who may read it: `$XDG_CONFIG_HOME/pimcp` (what a person would back up) and
 * `$XDG_STATE_HOME/pimcp` (what can be made again). Directories are 0700, files 0600, writes atomic.
 * Rules: docs/spec/start.md, ST10 to ST13.
 */
import { chmodSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, type Stats } from "node:fs";
import { join } from "node:path";
import { randomBytes } from "node:crypto";
import writeFileAtomic from "write-file-atomic";
import { StartFailure, systemErrorCode } from "./start-failure.ts";

export interface Directories {
  readonly config: string;
  readonly state: string;
}

/** Makes a directory that only this account can look into. Throws `StartFailure` when it belongs to somebody else. */
export function preparePrivateDirectory(path: string): string {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const found = statSync(path);
    if (!isOurs(found))
      throw new StartFailure(`${path} belongs to another account: move it away, or set XDG_CONFIG_HOME and XDG_STATE_HOME elsewhere.`);
    if ((found.mode & 0o077) !== 0 && process.platform !== "win32") chmodSync(path, 0o700);
    return path;
  } catch (error) {
    if (error instanceof StartFailure) throw error;
    throw new StartFailure(
      `Cannot use the directory ${path} (${systemErrorCode(error) ?? String(error)}): make it writable, or set XDG_CONFIG_HOME and XDG_STATE_HOME elsewhere.`,
    );
  }
}

/** Where what opens a workspace is kept: each has its own, so that nothing minted for one opens another. `configDir` exists. */
export function workspaceSettings(configDir: string, workspace: string | null): string {
  const path = workspaceSettingsPath(configDir, workspace);
  return workspace === null ? path : preparePrivateDirectory(path);
}

/** Makes nothing: whoever only looks leaves no directory behind. */
export function workspaceSettingsPath(configDir: string, workspace: string | null): string {
  return workspace === null ? configDir : join(configDir, `workspace-${workspace}`);
}

const MAX_PRIVATE_BYTES = 64 * 1024;

/**
 * The trimmed text of a file that holds a secret; `undefined` when there is none. Throws `StartFailure` when others could
 * have read it: a key that leaked once must be noticed, not used.
 */
export function readPrivateFile(path: string, maxBytes = MAX_PRIVATE_BYTES): string | undefined {
  let found: Stats;
  try {
    found = statSync(path);
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT" || systemErrorCode(error) === "ENOTDIR") return undefined;
    throw new StartFailure(`Cannot read ${path} (${systemErrorCode(error) ?? String(error)}): check its permissions.`);
  }
  refuseExposed(path, found, maxBytes);
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    throw new StartFailure(`Cannot read ${path} (${systemErrorCode(error) ?? String(error)}): check its permissions.`);
  }
}

/** Replaces a file at once, 0600: a reader sees the old text or the new one. */
export function writePrivateFile(path: string, text: string): void {
  try {
    writeFileAtomic.sync(path, text.endsWith("\n") ? text : `${text}\n`, { mode: 0o600 });
  } catch (error) {
    throw new StartFailure(`Cannot write ${path} (${systemErrorCode(error) ?? String(error)}): free some space or make its directory writable.`);
  }
}

/** The secret kept in `path`, minted if there is none. Two starts at the same moment get the same one. */
export function readOrMint(path: string, mint: () => string = mintSecret): string {
  const kept = readPrivateFile(path);
  if (kept !== undefined && kept !== "") return kept;
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  writePrivateFile(draft, mint());
  try {
    // A link fails when the name exists, so the first of two racing starts wins and the other reads its secret.
    if (kept === "") renameSync(draft, path);
    else linkSync(draft, path);
  } catch (error) {
    if (systemErrorCode(error) !== "EEXIST") renameSync(draft, path); // A file system without hard links.
  } finally {
    rmSync(draft, { force: true });
  }
  return readPrivateFile(path) ?? "";
}

/** 256 random bits, fit for a header, a URL and a shell word. */
export function mintSecret(): string {
  return randomBytes(32).toString("base64url");
}

function refuseExposed(path: string, found: Stats, maxBytes: number): void {
  if (!found.isFile()) throw new StartFailure(`${path} is not a regular file: name a file that holds the secret.`);
  if (found.size > maxBytes) throw new StartFailure(`${path} is ${found.size} bytes, too long for a secret: name the right file.`);
  if (process.platform === "win32") return;
  if (!isOurs(found)) throw new StartFailure(`${path} belongs to another account: copy it to a file of your own and chmod 600 that.`);
  if ((found.mode & 0o077) !== 0) throw new StartFailure(`${path} can be read by other accounts: run chmod 600 ${path}`);
}

/** Root may use what it finds: it could read it anyway. */
function isOurs(found: Stats): boolean {
  const uid = process.getuid?.();
  return uid === undefined || uid === 0 || found.uid === uid;
}
