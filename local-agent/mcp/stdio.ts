/** The surface over stdio: one client, one connection, its era read off its first message (by the SDK). */
import { randomUUID } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import type { Server } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { lifeIsOver } from "./call-scope.ts";
import { createProtocolServer, type ProtocolServerOptions } from "./protocol-server.ts";
import type { CallScope } from "./tool-call.ts";

export interface StdioStreams {
  readonly input: Readable;
  readonly output: Writable;
}

/** Longest line that is read; the connection ends beyond it. */
const MAX_LINE_BYTES = 8 * 1024 * 1024;

export interface StdioOptions extends ProtocolServerOptions {
  readonly lifeMs: number;
}

/** [MC30] [MC31] [MC33] Both eras; what still runs when the input ends is aborted, and so is a call that outlives `lifeMs`. */
export function serveOverStdio(options: StdioOptions, streams: StdioStreams): { readonly closed: Promise<void>; close(): Promise<void> } {
  const ended = new AbortController();
  const scope: CallScope = {
    principal: { id: "local", kind: "local", name: "stdio", scope: [] },
    x: null,
    signal: ended.signal,
    gone: ended.signal,
    probe: () => {},
    writable: () => !streams.output.writableNeedDrain,
    began: (abort) => options.timers.after(options.lifeMs, () => abort(lifeIsOver(options.lifeMs))),
  };
  const transport = new StdioServerTransport(streams.input, streams.output, { maxBufferSize: MAX_LINE_BYTES });
  const closed = new Promise<void>((resolve) => {
    ended.signal.addEventListener("abort", () => resolve(), { once: true });
  });
  const end = (): void => ended.abort(new Error("the client closed its end"));
  for (const event of ["end", "close"]) streams.input.once(event, end);
  streams.output.once("error", end);
  const since = options.passThrough?.parts.connections.age ?? 0;
  const place = { session: null, connection: randomUUID(), since };
  const handle = serveStdio(
    ({ era }) => {
      const server = (): Server => createProtocolServer(options, era, scope, place);
      const caller = { principal: scope.principal, since, place: place.connection, era, capabilities: {}, logLevel: null };
      return options.passThrough === undefined ? server() : options.passThrough.learn(caller).then(server);
    },
    { transport, onerror: (error) => options.log.event("warn", "stdio.complained", { error: error.name }) },
  );
  return {
    closed,
    async close() {
      ended.abort(new Error("the agent is leaving"));
      await handle.close();
    },
  };
}
