/**
 * A 0600 file of JSON lines that outlives the end of the process at any moment: a line counts once it is on the disk, and
 * a last line that was cut is as if it had never been written. One process at a time; the caller sees to that.
 */
import { closeSync, constants, fchmodSync, fstatSync, fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import writeFileAtomic from "write-file-atomic";

export interface Journal {
  /** What whole lines held when the file was opened, oldest first. */
  readonly found: readonly unknown[];
  /** Lines that were whole and yet no JSON: the disk lost something. */
  readonly damaged: number;
  bytes(): number;
  /** One line. `durable`: on the disk when it returns, power cut included. Throws when the disk takes nothing; nothing was written then. */
  append(value: unknown, durable: boolean): void;
  /** Replaces all lines at once: a reader finds the old ones or the new ones. Throws as `append` does. */
  rewrite(values: readonly unknown[]): void;
  close(): void;
}

/** Throws what the system says when the file cannot be used. */
export function openJournal(path: string): Journal {
  let file = openPrivately(path);
  const { found, damaged, end } = readLines(readFileSync(file));
  let size = end;
  ftruncateSync(file, size);

  return {
    found,
    damaged,
    bytes: () => size,
    append(value, durable) {
      const line = Buffer.from(`${JSON.stringify(value)}\n`);
      try {
        writeWhole(file, line);
        if (durable) fsyncSync(file);
      } catch (error) {
        // Half a line would swallow the next one.
        ftruncateSync(file, size);
        throw error;
      }
      size += line.byteLength;
    },
    rewrite(values) {
      const text = values.map((value) => `${JSON.stringify(value)}\n`).join("");
      writeFileAtomic.sync(path, text, { mode: 0o600 });
      closeSync(file);
      file = openPrivately(path);
      size = Buffer.byteLength(text);
    },
    close: () => closeSync(file),
  };
}

/** A link in its place could lead the words elsewhere, so none is followed. */
function openPrivately(path: string): number {
  const { O_RDWR, O_CREAT, O_APPEND, O_NOFOLLOW } = constants;
  const file = openSync(path, O_RDWR | O_CREAT | O_APPEND | (O_NOFOLLOW ?? 0), 0o600);
  if (process.platform !== "win32" && (fstatSync(file).mode & 0o077) !== 0) fchmodSync(file, 0o600);
  keepName(path);
  return file;
}

/** A new file's name is on the disk only once its directory is. Windows has no such call. */
function keepName(path: string): void {
  if (process.platform === "win32") return;
  const directory = openSync(dirname(path), constants.O_RDONLY);
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

function readLines(bytes: Buffer): { found: unknown[]; damaged: number; end: number } {
  const end = bytes.lastIndexOf("\n") + 1;
  const lines = bytes
    .toString("utf8", 0, end)
    .split("\n")
    .filter((line) => line !== "");
  const found = lines.map(parsed).filter((value) => value !== undefined);
  return { found, damaged: lines.length - found.length, end };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}

function writeWhole(file: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.byteLength;) done += writeSync(file, bytes, done);
}
