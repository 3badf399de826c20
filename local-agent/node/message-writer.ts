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
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      stream.off("drain", settle);
      stream.off("close", settle);
      if (stream.writable) resolve();
      else reject(notConnected());
    };
    stream.on("drain", settle);
    stream.on("close", settle);
  });
}

function notConnected(): SdkError {
  return new SdkError(SdkErrorCode.NotConnected, "Not connected");
}
