/** Reads single lines of a socket before something else takes it over. */
import type { Socket } from "node:net";
import type { Timers } from "../../shared/ports.ts";

export interface LineBounds {
  readonly maxBytes: number;
  readonly deadlineMs: number;
  readonly timers: Timers;
}

const NEWLINE = 0x0a;

/** The next line without its end; null: none came in time, it was too long, or the socket ended. What follows stays unread. */
export function readSocketLine(socket: Socket, { maxBytes, deadlineMs, timers }: LineBounds): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<string | null>();
  let begun = Buffer.alloc(0);
  const settle = (line: string | null): void => {
    cancel();
    socket.pause();
    socket.off("data", take);
    socket.off("close", gone);
    socket.off("end", gone);
    resolve(line);
  };
  const gone = (): void => settle(null);
  const take = (chunk: Buffer): void => {
    begun = Buffer.concat([begun, chunk]);
    const end = begun.indexOf(NEWLINE);
    if (end < 0 && begun.length <= maxBytes) return;
    settle(end < 0 || end > maxBytes ? null : begun.subarray(0, end).toString("utf8"));
    const rest = begun.subarray(end + 1);
    if (end >= 0 && rest.length > 0) socket.unshift(rest);
  };
  const cancel = timers.after(deadlineMs, gone);
  if (socket.destroyed || socket.readableEnded) settle(null);
  else {
    socket.on("data", take);
    socket.once("close", gone);
    socket.once("end", gone);
    socket.resume();
  }
  return promise;
}
