/**
 * The surface on a loopback port (`--http`), without a relay. Every page in every browser on this machine can reach such
 * a port, so Host, Origin and token are checked before anything else (MCP basic/transports "Security Warning").
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Log } from "../../shared/ports.ts";
import type { Principal } from "../../shared/principal.ts";
import type { ExchangeHandler } from "./exchange.ts";
import { createLocalHttpGate, type LocalHttpGate, type NamedToken } from "./local-http-gate.ts";
import { clientGone, readBody, toRequest, writeAnswer, writeJson } from "./node-exchange.ts";

export interface LocalHttpOptions {
  readonly handler: ExchangeHandler;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** SHA-256 of each accepted bearer token, lower-case hex. None: nobody gets in. */
  readonly tokenSha256s: readonly string[];
  /** Further tokens, each with an identity of its own: those that hold at this moment, asked at every request. */
  readonly namedTokens?: () => readonly NamedToken[];
  /** Further accepted Host values (`name` or `name:port`), beside the loopback names and `host` with the port. */
  readonly allowedHosts?: readonly string[];
  /** Web origins that may call, beside this server's own. */
  readonly allowedOrigins?: readonly string[];
  /** Told what became of each answer, as the relay would be; without it exchanges have no number. */
  readonly exchanges?: LocalExchanges;
  readonly log?: Log;
}

export interface LocalExchanges {
  /** A new number. */
  began(): number;
  /** `whole`: the answer was handed to the system to the last byte while the connection stood. */
  settled(x: number, whole: boolean): void;
}

export interface LocalHttp {
  readonly url: string;
  readonly port: number;
  /** Aborts what runs, then closes every connection. */
  close(): Promise<void>;
}

/** The port is taken; the caller names the flag that changes it. */
export class PortBusyError extends Error {
  override readonly name = "PortBusyError";
  readonly port: number;
  constructor(host: string, port: number) {
    super(`port ${port} on ${host} is in use by another program`);
    this.port = port;
  }
}

const MCP_PATH = "/mcp";
/** Longer than the pauses of clients that reuse a connection. */
const KEEP_ALIVE_MS = 75_000;

/** @throws {PortBusyError} when the port is taken; any other listening error as it is. */
export async function createLocalHttp(options: LocalHttpOptions): Promise<LocalHttp> {
  const leaving = new AbortController();
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS });
  const port = await listen(server, options.host, options.port);
  const gate = createLocalHttpGate({ ...options, port });
  server.on("request", (incoming, outgoing) => {
    serve(options, gate, leaving.signal, { incoming, outgoing }).catch((cause: unknown) => {
      options.log?.event("error", "http.broken", { error: cause instanceof Error ? cause.name : typeof cause });
      if (outgoing.headersSent) outgoing.destroy();
      else writeJson(outgoing, 500, {}, { error: "the agent failed to answer; its log says more" });
    });
  });
  const shown = options.host.includes(":") ? `[${options.host}]` : options.host;
  return {
    port,
    url: `http://${shown}:${port}${MCP_PATH}`,
    async close() {
      leaving.abort(new Error("the agent is leaving"));
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

interface Pair {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

async function serve(options: LocalHttpOptions, gate: LocalHttpGate, leaving: AbortSignal, { incoming, outgoing }: Pair): Promise<void> {
  const gone = clientGone(outgoing);
  const decision = gate.decide(incoming);
  if (decision.at === "refused") return writeJson(outgoing, decision.status, decision.headers, { error: decision.reason });
  if (decision.at === "preflight") return void outgoing.writeHead(204, decision.headers).end();
  const path = new URL(incoming.url ?? "/", "http://agent.invalid").pathname;
  if (path !== MCP_PATH) return writeJson(outgoing, 404, decision.headers, { error: `nothing is served at ${path}; MCP is at ${MCP_PATH}` });
  const body = await readBody(incoming);
  if (body === null) return; // The client left while it was sending.
  const principal: Principal = { id: `token:${decision.token.id}`, kind: "token", name: decision.token.name, scope: [] };
  const { response } = await options.handler(toRequest(incoming, body), {
    principal,
    x: numbered(options.exchanges, outgoing),
    signal: leaving,
    gone,
  });
  await writeAnswer(outgoing, response, decision.headers);
}

function numbered(exchanges: LocalExchanges | undefined, outgoing: ServerResponse): number | null {
  if (exchanges === undefined) return null;
  const x = exchanges.began();
  // It comes once, after the last byte or instead of it; a client that left already will not cause it again.
  if (outgoing.closed) exchanges.settled(x, false);
  else outgoing.once("close", () => exchanges.settled(x, outgoing.writableFinished));
  return x;
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    // Stays: an accept that fails for want of file descriptors is told here, too, and would otherwise end the process.
    server.on("error", (error: NodeJS.ErrnoException) => reject(error.code === "EADDRINUSE" ? new PortBusyError(host, port) : error));
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}
