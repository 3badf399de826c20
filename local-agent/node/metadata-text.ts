/** The text of the metadata cache, within what is read of it. Pure. */
import { isJsonObject, type JsonValue } from "../../shared/json.ts";

/** Of the file's form, which other packages read. */
export const METADATA_VERSION = 1;

interface Piece {
  readonly server: string;
  readonly text: string;
  readonly bytes: number;
  /** When it was listed, in milliseconds since the epoch; 0: it does not say. */
  readonly at: number;
}

/**
 * The file's text, of `maxBytes` at most: a larger file would not be read, and so be lost as a whole. Where not all servers fit, those of
 * `written` have room first, then the latest. `left`: how many have none.
 */
export function fittingText(
  servers: ReadonlyMap<string, JsonValue>,
  written: ReadonlySet<string>,
  maxBytes: number,
): { readonly text: string; readonly left: number } {
  // Each by itself: together they might be longer than any string can be.
  const pieces = [...servers].map(([server, value]) => pieceOf(server, value));
  const inOrder = pieces.toSorted((one, other) => Number(written.has(other.server)) - Number(written.has(one.server)) || other.at - one.at);
  const kept = new Set<Piece>();
  let bytes = Buffer.byteLength(textOf([]));
  for (const piece of inOrder) {
    const more = piece.bytes + (kept.size === 0 ? 0 : 1);
    if (bytes + more > maxBytes) continue;
    bytes += more;
    kept.add(piece);
  }
  return { text: textOf(pieces.filter((piece) => kept.has(piece))), left: pieces.length - kept.size };
}

function pieceOf(server: string, value: JsonValue): Piece {
  const text = `${JSON.stringify(server)}:${JSON.stringify(value)}`;
  const at = isJsonObject(value) && typeof value["cachedAt"] === "number" ? value["cachedAt"] : 0;
  return { server, text, bytes: Buffer.byteLength(text), at };
}

/** Not from an object: a server may be called `__proto__`. */
function textOf(pieces: readonly Piece[]): string {
  return `{"version":${METADATA_VERSION},"servers":{${pieces.map(({ text }) => text).join(",")}}}`;
}
