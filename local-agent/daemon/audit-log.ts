/**
 * The audit log of an account: `audit.jsonl` in the state directory, JSON lines, 0600. Every agent of the account appends to it, one
 * write a line; a full file becomes `audit.jsonl.1` and so on. Rules: docs/spec/human.md.
 */
import { constants, existsSync, renameSync, statSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import type { AuditEvent, AuditTrail } from "../../shared/audit.ts";
import { asciiJson } from "../../shared/json.ts";
import type { Clock, Log } from "../../shared/ports.ts";
import { underGuard } from "./guard.ts";
import { systemErrorCode } from "./start-failure.ts";

export const AUDIT_FILE = "audit.jsonl";
export const AUDIT_FILES_KEPT = 4;
const MAX_BYTES = 5 * 1024 * 1024;

export interface AuditLogOptions {
  /** In a directory that is private and exists. */
  readonly path: string;
  /** Process id of the writer. */
  readonly agent: number;
  readonly clock: Clock;
  readonly log: Log;
  /** A file that has become longer makes way for a new one. */
  readonly maxBytes?: number;
}

/** Entries of one agent are written in the order in which they were told. */
export function createAuditLog(options: AuditLogOptions): AuditTrail {
  let last: Promise<void> = Promise.resolve();
  return {
    record(event) {
      const line = lineOf(event, options);
      const written = last.then(() => write(line, options));
      last = written.catch(() => {});
      return written;
    },
  };
}

function lineOf(event: AuditEvent, { agent, clock }: AuditLogOptions): string {
  return `${asciiJson({ at: new Date(clock.now()).toISOString(), agent, ...event })}\n`;
}

async function write(line: string, options: AuditLogOptions): Promise<void> {
  const { path, log, maxBytes = MAX_BYTES } = options;
  try {
    if (sizeOf(path) >= maxBytes) await rotate(path, maxBytes);
  } catch (error) {
    // A longer file is better than a lost entry.
    log.event("warn", "audit.unrotated", { error: systemErrorCode(error) ?? String(error) });
  }
  try {
    await append(path, line);
  } catch (error) {
    const why = systemErrorCode(error) ?? (error instanceof Error ? error.message : String(error));
    throw new Error(`the audit log ${path} cannot be written (${why}): make it a file of your own with room on its disk.`, { cause: error });
  }
}

/** Neither follows a link nor writes to what is no file: somebody else might read it. */
const FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

async function append(path: string, line: string): Promise<void> {
  const file = await open(path, FLAGS, 0o600);
  try {
    const { mode, size } = await requireOwn(file);
    if ((mode & 0o077) !== 0 && process.platform !== "win32") await file.chmod(0o600);
    const bytes = Buffer.from((await endsTorn(file, size)) ? `\n${line}` : line);
    const { bytesWritten } = await file.write(bytes, 0, bytes.length);
    if (bytesWritten !== bytes.length) throw new Error("the disk is full");
    await file.datasync();
  } finally {
    await file.close();
  }
}

async function requireOwn(file: FileHandle): Promise<{ readonly mode: number; readonly size: number }> {
  const found = await file.stat();
  if (!found.isFile()) throw new Error("it is no regular file");
  const uid = process.getuid?.();
  if (uid !== undefined && found.uid !== uid) throw new Error("it belongs to another account");
  return found;
}

/** A line that a full disk cut short: what follows must not become part of it. */
async function endsTorn(file: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return false;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] !== 0x0a;
}

/** Another agent may have done it meanwhile; what it still writes into the renamed file is kept there. */
async function rotate(path: string, maxBytes: number): Promise<void> {
  await underGuard(dirname(path), () => {
    if (sizeOf(path) < maxBytes) return;
    for (let number = AUDIT_FILES_KEPT - 1; number >= 1; number--) {
      if (existsSync(`${path}.${number}`)) renameSync(`${path}.${number}`, `${path}.${number + 1}`);
    }
    renameSync(path, `${path}.1`);
  });
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
