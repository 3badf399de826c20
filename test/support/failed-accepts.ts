/** Servers of `node:net` that begin to listen while something runs, so that accepts can fail on them as the system has them fail. */
import { channel } from "node:diagnostics_channel";
import { Server } from "node:net";

/** Runs it, and has two accepts fail on each server it made listen: the second finds what the first one left. */
export async function withFailedAccepts<T>(start: () => Promise<T>): Promise<T> {
  const servers: Server[] = [];
  const listens = channel("tracing:net.server.listen:asyncStart");
  const heard = (message: unknown): void => {
    const server = (message as { readonly server?: unknown }).server;
    if (server instanceof Server) servers.push(server);
  };
  listens.subscribe(heard);
  try {
    const started = await start();
    if (servers.length === 0) throw new Error("nothing listens");
    const failure = Object.assign(new Error("accept EMFILE"), { code: "EMFILE", syscall: "accept" });
    for (const server of [...servers, ...servers]) server.emit("error", failure);
    return started;
  } finally {
    listens.unsubscribe(heard);
  }
}
