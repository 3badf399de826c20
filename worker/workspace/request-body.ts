/** Reading request bodies within bounds: one body's, and all bodies' that are being read (DESIGN D4). */
import { err, ok, type Result } from "../../shared/result.ts";
import { LIMITS } from "../../shared/wire/limits.ts";

export type BodyRefusal = "too_large" | "too_much_held" | "too_slow";

/** Undefined: the time is over. */
type Limit = <T>(work: Promise<T>) => Promise<T | undefined>;

const SMALL_BYTES = 64 * 1024;
/** How much of an oversized body is read and dropped: a client refused while it still sends sees a broken pipe instead. */
const DRAIN_BYTES = 4 * LIMITS.requestBytes;

export class BodyReader {
  readonly #withinMs: number;
  #heldBytes = 0;

  /** @param withinMs how long a client may take to send one body */
  constructor(withinMs: number = LIMITS.silenceMs) {
    this.#withinMs = withinMs;
  }

  /** The whole body. A declared length is not believed, only used to refuse early. */
  async read(request: Request): Promise<Result<Uint8Array, BodyRefusal>> {
    if (Number(request.headers.get("content-length") ?? "0") > DRAIN_BYTES) return err("too_large");
    if (request.body === null) return ok(new Uint8Array(0));
    const deadline = Promise.withResolvers<undefined>();
    const timer = setTimeout(deadline.resolve, this.#withinMs);
    const inTime = <T>(work: Promise<T>): Promise<T | undefined> => Promise.race([work, deadline.promise]);
    try {
      return await this.#readWithin(request, request.body as ReadableStream<Uint8Array>, inTime);
    } finally {
      clearTimeout(timer);
    }
  }

  async #readWithin(request: Request, body: ReadableStream<Uint8Array>, inTime: Limit): Promise<Result<Uint8Array, BodyRefusal>> {
    // HTTP framing holds a body to its declared length, so a small one needs no counting.
    if (Number(request.headers.get("content-length") ?? Number.NaN) <= SMALL_BYTES) {
      const whole = await inTime(request.arrayBuffer());
      return whole === undefined ? err("too_slow") : ok(new Uint8Array(whole));
    }
    const reader = body.getReader();
    try {
      return await this.#collect(() => inTime(reader.read()));
    } finally {
      void reader.cancel().catch(() => undefined);
    }
  }

  /** `next` gives undefined when the time is over. */
  async #collect(next: () => Promise<ReadableStreamReadResult<Uint8Array> | undefined>): Promise<Result<Uint8Array, BodyRefusal>> {
    const pieces: Uint8Array[] = [];
    let held = 0;
    let seen = 0;
    try {
      for (let piece = await next(); piece?.done !== true; piece = await next()) {
        if (piece === undefined) return err("too_slow");
        const { byteLength } = piece.value;
        seen += byteLength;
        if (seen > DRAIN_BYTES) break;
        if (seen > LIMITS.requestBytes) continue;
        if (this.#heldBytes + byteLength > LIMITS.heldBytes) return err("too_much_held");
        this.#heldBytes += byteLength;
        held += byteLength;
        pieces.push(piece.value);
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
