/** Ends a socket as politely as time allows. */
import type { Socket } from "node:net";
import type { Timers } from "../../shared/ports.ts";

/** Resolves when it is closed; what is not by `withinMs` is torn down. What the peer still sends is read and thrown away. Never rejects. */
export async function endSocket(socket: Socket, timers: Timers, withinMs: number): Promise<void> {
  if (socket.destroyed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = timers.after(withinMs, () => socket.destroy());
  socket.once("close", () => {
    cancel();
    resolve();
  });
  if (socket.connecting) socket.destroy();
  else {
    // Unread it would keep the socket open.
    socket.resume();
    socket.end();
  }
  await promise;
}
