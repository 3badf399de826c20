/**
 * Newline-delimited JSON-RPC over a Unix socket that somebody else serves, such as a multiplexer. Only this end of it is ours: nothing
 * is started, adopted or stopped.
 */
import { connect, type Socket } from "node:net";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import type { Timers } from "../../shared/ports.ts";
import { endSocket } from "./end-socket.ts";
import { MessageLines } from "./message-lines.ts";
import { writeMessage } from "./message-writer.ts";

const CONNECT_MS = 10_000;
/** The other side may want to say something more; it is not waited for longer. */
const CLOSE_MS = 2000;

export class UnixSocketTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];
  readonly #path: string;
  readonly #timers: Timers;
  readonly #lines = new MessageLines({
    message: (message) => this.onmessage?.(message),
    stray: (error) => this.onerror?.(error),
  });
  #socket: Socket | null = null;
  #ended: Promise<void> | null = null;

  constructor(path: string, timers: Timers) {
    this.#path = path;
    this.#timers = timers;
  }

  /** Rejects with a sentence when nobody listens there. */
  async start(): Promise<void> {
    if (this.#socket !== null || this.#ended !== null) throw new Error("This transport was started or closed before.");
    const socket = connect(this.#path);
    this.#socket = socket;
    await new Promise<void>((resolve, reject) => {
      const cancel = this.#timers.after(CONNECT_MS, () =>
        reject(new Error(`The socket ${this.#path} did not answer within ${CONNECT_MS / 1000} seconds.`)),
      );
      socket.once("connect", () => {
        cancel();
        resolve();
      });
      socket.once("error", (error: NodeJS.ErrnoException) => {
        cancel();
        reject(connectFailure(error, this.#path));
      });
      socket.once("close", () => {
        cancel();
        reject(new Error("The transport was closed while it was being started."));
      });
    });
    socket.on("error", (error) => this.onerror?.(error));
    socket.on("data", (chunk: Buffer) => this.#take(chunk));
    socket.once("close", () => void this.close());
  }

  send(message: JSONRPCMessage): Promise<void> {
    return writeMessage(this.#ended === null ? this.#socket : null, message);
  }

  close(): Promise<void> {
    this.#ended ??= this.#end();
    return this.#ended;
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
    this.onclose?.();
    if (this.#socket !== null) await endSocket(this.#socket, this.#timers, CLOSE_MS);
  }
}

function connectFailure(error: NodeJS.ErrnoException, path: string): Error {
  const why: Readonly<Record<string, string>> = {
    ENOENT: `There is no socket at ${path}; start the server that listens there.`,
    ECONNREFUSED: `Nobody listens on the socket ${path}; start the server again.`,
    EACCES: `The socket ${path} may not be used by this account.`,
    ENOTSOCK: `${path} is no socket.`,
  };
  return new Error(why[error.code ?? ""] ?? `The socket ${path} could not be opened: ${error.message}`, { cause: error });
}
