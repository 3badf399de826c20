/** Newline-delimited JSON-RPC over a socket that is connected already, for either side of it. */
import type { Socket } from "node:net";
import { type JSONRPCMessage, ProtocolErrorCode, type Transport } from "@modelcontextprotocol/client";
import type { Timers } from "../../shared/ports.ts";
import { endSocket } from "./end-socket.ts";
import { MessageLines } from "./message-lines.ts";
import { writeMessage } from "./message-writer.ts";

export interface OpenSocketOptions {
  readonly timers: Timers;
  /**
   * `hold`: nothing more is read of a peer that does not read what it was sent, and after half a minute it is given up; so it cannot ask
   * for more than it takes.
   */
  readonly unread: "hold" | "ignore";
}

const STALL_MS = 30_000;
/** What was written last may still be on its way. */
const CLOSE_MS = 1000;
const TOO_DEEP = "The answer is nested too deeply to be handed on. The call itself may have had its effect.";

export class OpenSocketTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];
  /** The peer takes again what it is sent. */
  onwritable?: () => void;
  readonly #socket: Socket;
  readonly #options: OpenSocketOptions;
  readonly #lines = new MessageLines({
    message: (message) => this.onmessage?.(message),
    stray: (error) => this.onerror?.(error),
  });
  #stopStall: (() => void) | null = null;
  #ended: Promise<void> | null = null;
  #endedBy: "us" | "peer" = "us";

  constructor(socket: Socket, options: OpenSocketOptions) {
    this.#socket = socket;
    this.#options = options;
    // Every message that waits for a slow peer listens; how many can wait is bounded by what is read of it.
    socket.setMaxListeners(0);
    socket.on("error", (error) => this.onerror?.(error));
    socket.once("close", () => this.#gone());
    socket.once("end", () => this.#gone());
  }

  start(): Promise<void> {
    if (this.#ended !== null) return Promise.reject(new Error("The connection has ended already."));
    this.#socket.on("data", (chunk: Buffer) => this.#take(chunk));
    this.#socket.on("drain", () => this.#drained());
    this.#socket.resume();
    return Promise.resolve();
  }

  /** Whether the peer takes what it is sent. */
  get isWritable(): boolean {
    return this.#ended === null && this.#socket.writable && !this.#socket.writableNeedDrain;
  }

  /** Whether the peer ended it. */
  get wasEndedByPeer(): boolean {
    return this.#ended !== null && this.#endedBy === "peer";
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const written = this.#write(message);
    if (this.#socket.writableNeedDrain) this.#stalled();
    await written;
  }

  close(): Promise<void> {
    this.#ended ??= this.#end();
    return this.#ended;
  }

  #write(message: JSONRPCMessage): Promise<void> {
    const socket = this.#ended === null ? this.#socket : null;
    try {
      return writeMessage(socket, message);
    } catch (error) {
      // Writing recurses, and reading does not. Whoever asked would wait for its whole deadline.
      if (!("result" in message)) throw error;
      return writeMessage(socket, { jsonrpc: "2.0", id: message.id, error: { code: ProtocolErrorCode.InternalError, message: TOO_DEEP } });
    }
  }

  #gone(): void {
    if (this.#ended === null) this.#endedBy = "peer";
    void this.close();
  }

  #stalled(): void {
    if (this.#options.unread !== "hold" || this.#stopStall !== null) return;
    this.#socket.pause();
    this.#stopStall = this.#options.timers.after(STALL_MS, () => {
      this.#socket.destroy();
      void this.close();
    });
  }

  #drained(): void {
    this.#stopStall?.();
    this.#stopStall = null;
    if (this.#ended !== null) return;
    this.#socket.resume();
    this.onwritable?.();
  }

  #take(chunk: Buffer): void {
    if (this.#ended !== null) return;
    try {
      this.#lines.take(chunk);
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
      void this.close();
    }
  }

  async #end(): Promise<void> {
    this.#stopStall?.();
    this.onclose?.();
    await endSocket(this.#socket, this.#options.timers, CLOSE_MS);
  }
}
