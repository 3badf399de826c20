/** Sends JSON-RPC lines into a stream that may be slow, or gone. */
import type { Writable } from "node:stream";
import { type JSONRPCMessage, SdkError, SdkErrorCode, serializeMessage } from "@modelcontextprotocol/client";

/** What may wait for a reader that does not read; a request has its own, earlier deadline. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

/** Resolves when the stream has room again. Rejects with an `SdkError` when it is closed, or closes meanwhile. */
export function writeMessage(stream: Writable | null | undefined, message: JSONRPCMessage): Promise<void> {
  if (stream === null || stream === undefined || !stream.writable) return Promise.reject(notConnected());
  if (stream.writableLength > MAX_WAITING_BYTES) {
    return Promise.reject(new SdkError(SdkErrorCode.SendFailed, `The server does not read: ${stream.writableLength} bytes wait for it already.`));
  }
  if (stream.write(serializeMessage(message))) return Promise.resolve();
  return roomIn(stream);
}

/** One wait for all that wait: a server that asks without reading would make each of them cost as much as all before it. */
const waits = new WeakMap<Writable, Promise<void>>();

function roomIn(stream: Writable): Promise<void> {
  const known = waits.get(stream);
  if (known !== undefined) return known;
  const wait = new Promise<void>((resolve, reject) => {
    const settle = (): void => {
      stream.off("drain", settle);
      stream.off("close", settle);
      waits.delete(stream);
      if (stream.writable) resolve();
      else reject(notConnected());
    };
    stream.on("drain", settle);
    stream.on("close", settle);
  });
  waits.set(stream, wait);
  return wait;
}

function notConnected(): SdkError {
  return new SdkError(SdkErrorCode.NotConnected, "Not connected");
}
