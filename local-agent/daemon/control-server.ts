/** The agent's end of the control channel (`control-protocol.ts`). */
import { chmodSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { basename, join } from "node:path";
import * as v from "valibot";
import { parseJson } from "../../shared/json.ts";
import type { Timers } from "../../shared/ports.ts";
import { mintSecret, preparePrivateDirectory } from "./config-dir.ts";
import { CONTROL_LIMITS, ControlRequest, type ControlAnswer } from "./control-protocol.ts";

export interface ControlServerOptions {
  readonly path: string;
  /** Rejects with a sentence for the person. */
  readonly handle: (request: ControlRequest) => Promise<unknown>;
  readonly timers: Timers;
}

/**
 * Where the agent of a place is asked. Not in the place's own directory: its name says which relay it is, and a socket's path may have
 * 103 characters (macOS; Linux 107). A pipe of Windows is in no directory, so nobody can guess its name.
 */
export function controlPath(stateDir: string, placeDir: string): string {
  if (process.platform === "win32") return `\\\\.\\pipe\\pimcp-${mintSecret()}`;
  return join(preparePrivateDirectory(join(stateDir, "control")), `${basename(placeDir).slice(-8)}.sock`);
}

/** Rejects with the system's error. Whoever calls holds the claim, so a socket that is there already is of an agent that was killed. */
export async function serveControl(options: ControlServerOptions): Promise<{ close(): Promise<void> }> {
  const { path } = options;
  const isFile = process.platform !== "win32";
  if (isFile) rmSync(path, { force: true });
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    serveOne(socket, options);
  });
  server.maxConnections = CONTROL_LIMITS.connections;
  await listen(server, path);
  if (isFile) chmodSync(path, 0o600);
  return {
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of open) socket.destroy();
      await closed;
      if (isFile) rmSync(path, { force: true });
    },
  };
}

function serveOne(socket: Socket, { handle, timers }: ControlServerOptions): void {
  let text = "";
  let isAnswered = false;
  const answer = (said: ControlAnswer): void => {
    if (isAnswered) return;
    isAnswered = true;
    cancel();
    socket.end(`${JSON.stringify(said)}\n`, () => socket.destroy());
  };
  const cancel = timers.after(CONTROL_LIMITS.deadlineMs, () => {
    answer({ ok: false, message: "The agent did not answer in time: whether it did what was asked is not known." });
    socket.destroySoon();
  });
  socket.once("close", cancel);
  socket.on("error", () => socket.destroy()); // Whoever asked is gone.
  socket.setEncoding("utf8").on("data", (piece: string) => {
    if (isAnswered) return;
    text += piece;
    const end = text.indexOf("\n");
    if (end < 0 && text.length <= CONTROL_LIMITS.requestChars) return;
    socket.pause();
    void answerTo(end < 0 ? "" : text.slice(0, end), handle).then(answer);
  });
  socket.once("end", () => answer({ ok: false, message: "The request had no end." }));
}

async function answerTo(line: string, handle: ControlServerOptions["handle"]): Promise<ControlAnswer> {
  const request = v.safeParse(ControlRequest, parseJson(line));
  // An agent that was not restarted after an update hears this from a newer command.
  if (!request.success)
    return { ok: false, message: "The running agent does not understand this request: restart it, it may be of another version." };
  try {
    return { ok: true, result: await handle(request.output) };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    // Stays: an accept that fails for want of file descriptors is told here, too, and would otherwise end the process.
    server.on("error", reject);
    server.listen(path, resolve);
  });
}
