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

/** Cuts a byte stream into lines. `take` throws a sentence when a line is longer than allowed; nothing can be read after that. */
export class MessageLines {
  readonly #events: LineEvents;
  readonly #maxBytes: number;
  #begun: Buffer[] = [];
  #begunBytes = 0;

  constructor(events: LineEvents, maxBytes = MAX_LINE_BYTES) {
    this.#events = events;
    this.#maxBytes = maxBytes;
  }

  take(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      this.#begin(chunk.subarray(from, end));
      from = end + 1;
      this.#finish();
    }
    this.#begin(chunk.subarray(from));
  }

  #begin(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#begunBytes += piece.length;
    if (this.#begunBytes > this.#maxBytes) {
      this.#begun = [];
      throw new Error(`The server wrote a line of more than ${this.#maxBytes} bytes, so the connection was ended.`);
    }
    this.#begun.push(piece);
  }

  #finish(): void {
    const line = Buffer.concat(this.#begun).toString("utf8").trimEnd();
    this.#begun = [];
    this.#begunBytes = 0;
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
