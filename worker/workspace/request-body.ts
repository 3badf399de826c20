/** Reading request bodies within bounds: one body's, and all bodies' that are being read (DESIGN D4). */
import { err, ok, type Result } from "../../shared/result.ts";
import { LIMITS } from "../../shared/wire/limits.ts";

export type BodyRefusal = "too_large" | "too_much_held" | "too_slow";

export interface BodyBounds {
  readonly maxBytes: number;
  /** Of all bodies that are being read. */
  readonly totalBytes: number;
  /** How long a client may take to send one body. */
  readonly withinMs: number;
  /**
   * `clients` have shown a credential: what does not fit is refused. `strangers` may open what they never finish: each body
   * counts from its start, and the one that has taken longest gives way, so that they lock nobody out who sends at once.
   */
  readonly from: "clients" | "strangers";
}

/** Those of `/mcp`. */
const DEFAULTS: BodyBounds = { maxBytes: LIMITS.requestBytes, totalBytes: LIMITS.heldBytes, withinMs: LIMITS.silenceMs, from: "clients" };
const SMALL_BYTES = 64 * 1024;
/** What a stranger's open request costs before its body came. */
const LEAST_BYTES = 4 * 1024;
/** How much of an oversized body is read and dropped: a client refused while it still sends sees a broken pipe instead. */
const DRAIN_FACTOR = 4;

interface Reading {
  readonly maxBytes: number;
  heldBytes: number;
  end(why: BodyRefusal): void;
  /** The work's result, or why reading ended before. */
  inTime<T extends object>(work: Promise<T>): Promise<T | BodyRefusal>;
}

export class BodyReader {
  readonly #bounds: BodyBounds;
  /** Oldest first. */
  readonly #open = new Set<Reading>();
  #heldBytes = 0;

  constructor(bounds: Partial<BodyBounds> = {}) {
    this.#bounds = { ...DEFAULTS, ...bounds };
  }

  /** The whole body, at most `maxBytes` of it. A declared length is not believed, only used to refuse early. */
  async read(request: Request, maxBytes: number = this.#bounds.maxBytes): Promise<Result<Uint8Array, BodyRefusal>> {
    if (Number(request.headers.get("content-length") ?? "0") > DRAIN_FACTOR * maxBytes) return err("too_large");
    if (request.body === null) return ok(new Uint8Array(0));
    const reading = startReading(maxBytes);
    const timer = setTimeout(() => reading.end("too_slow"), this.#bounds.withinMs);
    this.#open.add(reading);
    try {
      return await this.#readWithin(request, request.body as ReadableStream<Uint8Array>, reading);
    } finally {
      clearTimeout(timer);
      this.#release(reading);
    }
  }

  async #readWithin(request: Request, body: ReadableStream<Uint8Array>, reading: Reading): Promise<Result<Uint8Array, BodyRefusal>> {
    if (this.#bounds.from === "strangers") {
      if (!this.#hold(reading, LEAST_BYTES)) return err("too_much_held");
    } else if (Number(request.headers.get("content-length") ?? Number.NaN) <= SMALL_BYTES) {
      // HTTP framing holds a body to its declared length, so a small one needs no counting.
      const whole = await reading.inTime(request.arrayBuffer());
      return typeof whole === "string" ? err(whole) : ok(new Uint8Array(whole));
    }
    const reader = body.getReader();
    try {
      return await this.#collect(reading, () => reading.inTime(reader.read()));
    } finally {
      void reader.cancel().catch(() => undefined);
    }
  }

  async #collect(
    reading: Reading,
    next: () => Promise<ReadableStreamReadResult<Uint8Array> | BodyRefusal>,
  ): Promise<Result<Uint8Array, BodyRefusal>> {
    const pieces: Uint8Array[] = [];
    let seen = 0;
    for (;;) {
      const piece = await next();
      if (typeof piece === "string") return err(piece);
      if (piece.done) break;
      seen += piece.value.byteLength;
      if (seen > DRAIN_FACTOR * reading.maxBytes) break;
      if (seen > reading.maxBytes) continue;
      if (!this.#hold(reading, seen)) return err("too_much_held");
      pieces.push(piece.value);
    }
    return seen > reading.maxBytes ? err("too_large") : ok(join(pieces, seen));
  }

  /** Whether `bytes` of this body may be held now. */
  #hold(reading: Reading, bytes: number): boolean {
    const more = Math.max(0, bytes - reading.heldBytes);
    while (this.#heldBytes + more > this.#bounds.totalBytes) {
      const [oldest] = this.#open;
      if (this.#bounds.from === "clients" || oldest === undefined || oldest === reading) return false;
      oldest.end("too_much_held");
      this.#release(oldest);
    }
    if (!this.#open.has(reading)) return false;
    reading.heldBytes += more;
    this.#heldBytes += more;
    return true;
  }

  #release(reading: Reading): void {
    if (this.#open.delete(reading)) this.#heldBytes -= reading.heldBytes;
  }
}

function startReading(maxBytes: number): Reading {
  const ended = Promise.withResolvers<BodyRefusal>();
  return { maxBytes, heldBytes: 0, end: ended.resolve, inTime: (work) => Promise.race([work, ended.promise]) };
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
