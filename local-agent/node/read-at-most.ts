/** The content of an open file, within a bound that holds whatever its size is said to be. */
import type { FileHandle } from "node:fs/promises";

const PIECE_BYTES = 64 * 1024;

/**
 * Its bytes from where it stands; null: there are more than `maxBytes`. The size that the system tells of a file does not count: of those in
 * `/proc` it is 0, and some of them end after terabytes; another file grows while it is read. Rejects with what the system says.
 */
export async function readAtMost(file: FileHandle, maxBytes: number): Promise<Buffer | null> {
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  const pieces: Buffer[] = [];
  for (let total = 0; total <= maxBytes;) {
    const { bytesRead } = await file.read(piece);
    if (bytesRead === 0) return Buffer.concat(pieces);
    pieces.push(Buffer.from(piece.subarray(0, bytesRead)));
    total += bytesRead;
  }
  return null;
}
