/** The last bytes of a stream of text. */
export class TextTail {
  readonly #maxBytes: number;
  #kept: Buffer = Buffer.alloc(0);

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(chunk: Buffer): void {
    const grown = chunk.length >= this.#maxBytes ? chunk : Buffer.concat([this.#kept, chunk]);
    // A copy: a view would keep the whole chunk alive.
    this.#kept = grown.length > this.#maxBytes ? Buffer.from(grown.subarray(grown.length - this.#maxBytes)) : grown;
  }

  /** As text, without the rest of a character that was cut at the front. */
  text(): string {
    let from = 0;
    while (from < 4 && from < this.#kept.length && ((this.#kept[from] ?? 0) & 0xc0) === 0x80) from += 1;
    return this.#kept.toString("utf8", from).trimEnd();
  }
}
