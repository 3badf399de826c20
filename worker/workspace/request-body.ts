/** Reading request bodies within bounds: one body's, and all bodies' that are being read (DESIGN D4). */
import { err, ok, type Result } from "../../shared/result.ts";
import { LIMITS } from "../../shared/wire/limits.ts";

export type BodyRefusal = "too_large" | "too_much_held";

const SMALL_BYTES = 64 * 1024;
/** How much of an oversized body is read and dropped: a client refused while it still sends sees a broken pipe instead. */
const DRAIN_BYTES = 4 * LIMITS.requestBytes;

export class BodyReader {
  #heldBytes = 0;

  /** The whole body. A declared length is not believed, only used to refuse early. */
  async read(request: Request): Promise<Result<Uint8Array, BodyRefusal>> {
    if (Number(request.headers.get("content-length") ?? "0") > DRAIN_BYTES) return err("too_large");
    if (request.body === null) return ok(new Uint8Array(0));
    const declared = Number(request.headers.get("content-length") ?? Number.NaN);
    // HTTP framing holds a body to its declared length, so a small one needs no counting.
    if (declared <= SMALL_BYTES) return ok(new Uint8Array(await request.arrayBuffer()));
    const pieces: Uint8Array[] = [];
    let held = 0;
    let seen = 0;
    try {
      for await (const piece of request.body as ReadableStream<Uint8Array>) {
        seen += piece.byteLength;
        if (seen > DRAIN_BYTES) break;
        if (seen > LIMITS.requestBytes) continue;
        if (this.#heldBytes + piece.byteLength > LIMITS.heldBytes) return err("too_much_held");
        this.#heldBytes += piece.byteLength;
        held += piece.byteLength;
        pieces.push(piece);
      }
    } finally {
      this.#heldBytes -= held;
    }
    return seen > LIMITS.requestBytes ? err("too_large") : ok(join(pieces, seen));
  }
}

function join(pieces: readonly Uint8Array[], size: number): Uint8Array {
  const [only] = pieces;
  if (only !== undefined && pieces.length === 1) return only;
  const whole = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.byteLength;
  }
  return whole;
}
