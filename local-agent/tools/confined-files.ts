/** Opening, reading and replacing files at places `confined-root.ts` has allowed. Only regular files; never through a last link. */
import { isUtf8 } from "node:buffer";
import { constants } from "node:fs";
import { access, lstat, mkdir, open, readdir, realpath, type FileHandle, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { JsonObject } from "../../shared/json.ts";
import writeFileAtomic from "write-file-atomic";
import { Refusal, type ConfinedRoot } from "./confined-root.ts";
import { fileObjection } from "./edit-bounds.ts";

/** Largest file that is held in memory whole: an image. Longer text is streamed by `read`. */
const MAX_WHOLE_FILE_BYTES = 64 * 1024 * 1024;

const IMAGE_SNIFF_BYTES = 4100;

/** @throws Refusal, or the error of the file system when the file cannot be read */
export async function checkReadable(root: ConfinedRoot, requested: string): Promise<void> {
  const { path } = await root.locate(requested, "read");
  await access(path, constants.R_OK);
  await refuseUnlessRegular(path, requested);
}

export async function readWhole(root: ConfinedRoot, requested: string): Promise<Buffer> {
  const handle = await openRegular(root, requested);
  try {
    const { size } = await handle.stat();
    if (size > MAX_WHOLE_FILE_BYTES) {
      throw new Refusal(
        `${requested} has ${size} bytes: at most ${MAX_WHOLE_FILE_BYTES} can be loaded at once; use the shell, or read text with offset and limit`,
      );
    }
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

/** The first bytes, enough to tell an image format. */
export async function readHead(root: ConfinedRoot, requested: string): Promise<Buffer> {
  const handle = await openRegular(root, requested);
  try {
    const buffer = Buffer.alloc(IMAGE_SNIFF_BYTES);
    const { bytesRead } = await handle.read(buffer, 0, IMAGE_SNIFF_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** The file in chunks, up to its size when opened, so that a file that grows still ends. */
export async function* readChunks(root: ConfinedRoot, requested: string): AsyncGenerator<Uint8Array> {
  const handle = await openRegular(root, requested);
  try {
    const { size } = await handle.stat();
    yield* handle.createReadStream(size > 0 ? { end: size - 1, autoClose: false } : { autoClose: false }) as AsyncIterable<Uint8Array>;
  } finally {
    await handle.close();
  }
}

export async function checkEditable(root: ConfinedRoot, requested: string): Promise<void> {
  const { path } = await root.locate(requested, "write");
  await access(path, constants.R_OK);
  await refuseUnlessRegular(path, requested);
  await refuseReadOnly(path, requested);
}

/** Whole text file for an edit, if it is not too much for these arguments. Bytes that are not UTF-8 would come back as U+FFFD, so such a file is refused. */
export async function readForEdit(root: ConfinedRoot, requested: string, args: JsonObject): Promise<Buffer> {
  await checkEditable(root, requested);
  const bytes = await readWhole(root, requested);
  if (!isUtf8(bytes)) throw new Refusal(`${requested} is not valid UTF-8 text, and edit would damage its other bytes: use the shell to change it`);
  const objection = fileObjection(requested, bytes.toString("utf8"), bytes.length, args);
  if (objection !== undefined) throw new Refusal(objection);
  return bytes;
}

/**
 * Replaces or creates a file: temporary file and rename on the real path, mode kept. A file outside the root that shares
 * the inode (hard link) keeps its content.
 */
export async function replaceFile(root: ConfinedRoot, requested: string, content: string): Promise<void> {
  const located = await root.locate(requested, "write");
  if (located.exists) {
    await refuseUnlessRegular(located.path, requested);
    await refuseReadOnly(located.path, requested);
  }
  await writeFileAtomic(located.path, content, { encoding: "utf8" });
}

/**
 * A rename needs no permission on the file itself, and an administrator none at all; a file made read-only stays as it is all
 * the same.
 */
async function refuseReadOnly(path: string, requested: string): Promise<void> {
  await access(path, constants.W_OK);
  const { mode } = await stat(path);
  if ((mode & 0o222) === 0) throw new Refusal(`${requested} is read-only: make it writable first if it is meant to change`);
}

/** Creates a directory and its parents below the root, then makes sure that is where they are. */
export async function makeDirectory(root: ConfinedRoot, requested: string): Promise<void> {
  const located = await root.locate(requested, "write");
  await mkdir(located.path, { recursive: true });
  await root.locate(await realpath(located.path), "write");
}

export async function listNames(root: ConfinedRoot, requested: string): Promise<string[]> {
  return readdir((await root.locate(requested, "touch")).path);
}

export async function isDirectory(root: ConfinedRoot, requested: string): Promise<boolean> {
  return (await lstat((await root.locate(requested, "touch")).path)).isDirectory();
}

/**
 * Whether an entry of a listed directory shows as a directory. A link counts as what it points at only when that may be
 * touched; a dangling one, or one that leaves the root, is just a name. A denied name may show in its parent's listing.
 */
export async function entryIsDirectory(root: ConfinedRoot, requested: string): Promise<boolean> {
  const parent = await root.locate(dirname(requested), "touch");
  const entry = await lstat(join(parent.path, basename(requested)));
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  try {
    return await isDirectory(root, requested);
  } catch {
    return false; // The target is missing, denied or outside: nothing about it is told.
  }
}

/** A directory or a regular file to search in. @throws when it does not exist or is neither. */
export async function searchTarget(root: ConfinedRoot, requested: string): Promise<{ readonly path: string; readonly directory: boolean }> {
  const { path } = await root.locate(requested, "touch");
  const found = await lstat(path);
  if (found.isDirectory()) return { path, directory: true };
  await refuseUnlessRegular(path, requested);
  return { path, directory: false };
}

/** O_NONBLOCK so that a FIFO put there meanwhile cannot hang the open, O_NOFOLLOW so that a link put there is not followed. */
async function openRegular(root: ConfinedRoot, requested: string): Promise<FileHandle> {
  const { path } = await root.locate(requested, "read");
  await refuseUnlessRegular(path, requested);
  const handle = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw notRegular(requested);
}

/** Looked at before opening: opening a device can already have an effect. */
async function refuseUnlessRegular(path: string, requested: string): Promise<void> {
  const found = await lstat(path);
  if (found.isDirectory()) throw new Error(`EISDIR: ${requested} is a directory, expected a file`);
  if (!found.isFile()) throw notRegular(requested);
}

function notRegular(requested: string): Refusal {
  return new Refusal(`${requested} is not a regular file (a pipe, socket or device): it is neither read nor written`);
}
