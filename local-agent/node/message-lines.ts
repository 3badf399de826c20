/** Newline-delimited JSON-RPC, as stdio and Unix sockets carry it (MCP, basic/transports, stdio). Bounded: no line grows without end. */
import { deserializeMessage, type JSONRPCMessage } from "@modelcontextprotocol/client";

/** Far above what a model can use, far below what hurts. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

export interface LineEvents {
  message(message: JSONRPCMessage): void;
  /** A line that is no message. It is passed over: servers do print to their output. */
  stray(error: Error): void;
}

const NEWLINE = 0x0a;
const NOTHING = Buffer.alloc(0);

/** Cuts a byte stream into lines. `take` throws a sentence when a line is longer than allowed; nothing can be read after that. */
export class MessageLines {
  readonly #events: LineEvents;
  readonly #maxBytes: number;
  /** Where a line that came in part is put together. Its pieces themselves may cost far more than they hold: a server may send single bytes. */
  #room: Buffer = NOTHING;
  #begunBytes = 0;

  constructor(events: LineEvents, maxBytes = MAX_LINE_BYTES) {
    this.#events = events;
    this.#maxBytes = maxBytes;
  }

  take(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      const piece = chunk.subarray(from, end);
      from = end + 1;
      this.#read(this.#whole(piece));
    }
    if (from < chunk.length) this.#begin(chunk.subarray(from));
  }

  /** The line that ends with this piece. */
  #whole(piece: Buffer): Buffer {
    if (this.#begunBytes === 0 && piece.length <= this.#maxBytes) return piece;
    this.#begin(piece);
    const line = this.#room.subarray(0, this.#begunBytes);
    this.#room = NOTHING;
    this.#begunBytes = 0;
    return line;
  }

  #begin(piece: Buffer): void {
    const bytes = this.#begunBytes + piece.length;
    if (bytes > this.#maxBytes) {
      this.#room = NOTHING;
      throw new Error(`The server wrote a line of more than ${this.#maxBytes} bytes, so the connection was ended.`);
    }
    if (bytes > this.#room.length) {
      const room = Buffer.allocUnsafe(Math.min(2 * bytes, this.#maxBytes));
      this.#room.copy(room, 0, 0, this.#begunBytes);
      this.#room = room;
    }
    piece.copy(this.#room, this.#begunBytes);
    this.#begunBytes = bytes;
  }

  #read(bytes: Buffer): void {
    const line = bytes.toString("utf8").trimEnd();
    if (line === "") return;
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(line);
    } catch {
      // The line itself may hold anything, so it is not quoted.
      this.#events.stray(new Error(`The server wrote a line of ${line.length} characters that is no JSON-RPC message; it was passed over.`));
      return;
    }
    this.#events.message(message);
  }
}
