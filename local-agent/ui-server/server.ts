/** Serves the page, on 127.0.0.1 unless the person chose another address. Rules: docs/spec/page.md. */
import { getRequestListener } from "@hono/node-server";
import { createServer, type Server } from "node:http";
import { networkInterfaces } from "node:os";
import type { Desk } from "../desk/desk.ts";
import { addressesServed } from "./admission.ts";
import { createEventStreams } from "./event-streams.ts";
import { assertPageBuilt } from "./page-files.ts";
import { createRoutes, malformedRequest } from "./routes.ts";

export interface UiServerOptions {
  readonly desk: Desk;
  /** An IP address of this machine; `0.0.0.0` or `::` for all of them. */
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Session secret; at least 128 random bits, printable ASCII without spaces. */
  readonly secret: string;
  /** Folder of the built page (`index.html`, `assets/`). */
  readonly uiDir: string;
  readonly keepAliveMs?: number;
}

export interface UiServer {
  readonly port: number;
  /** With the secret in the fragment, which browsers never send. For the person's terminal or a 0600 file only. */
  readonly url: string;
  readonly bareUrl: string;
  /** Ends every open connection at once and frees the port. */
  close(): Promise<void>;
}

/** The port is taken. The page never moves to another port by itself: its address is what people and `pimcp open` know. */
export class UiPortBusy extends Error {
  override readonly name = "UiPortBusy";
  readonly port: number;

  constructor(host: string, port: number, cause: unknown) {
    super(`Port ${port} on ${host} is in use, so the approval page cannot be served there. Stop the other program or choose a port with --ui-port.`, {
      cause,
    });
    this.port = port;
  }
}

/** Rejects with `UiPortBusy`, or with a sentence when the page was not built or the port may not be bound. */
export async function startUiServer(options: UiServerOptions): Promise<UiServer> {
  await assertPageBuilt(options.uiDir);
  const streams = createEventStreams(options.desk, options.keepAliveMs ?? 15_000);
  let port = options.port;
  const { desk, host, secret, uiDir } = options;
  const app = createRoutes({ desk, streams, secret, uiDir, port: () => port, addresses: () => addressesServed(host, ownAddresses) });
  const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false, errorHandler: malformedRequest });
  const server = createServer({ connectionsCheckingInterval: 1_000 }, (incoming, outgoing) => void answer(incoming, outgoing));
  // Silent connections of another local account must not use up the places: they are ended soon, and there are many.
  server.maxConnections = 1024;
  server.headersTimeout = 5_000;
  server.requestTimeout = 30_000;
  try {
    port = await listen(server, options);
  } catch (error) {
    streams.close();
    throw error;
  }
  const bareUrl = `http://${shownHost(host)}:${port}/`;
  return {
    port,
    url: `${bareUrl}#${options.secret}`,
    bareUrl,
    close: () => close(server, () => streams.close()),
  };
}

function ownAddresses(): readonly string[] {
  // One with a zone (`fe80::1%eth0`) stands in no URL.
  return Object.values(networkInterfaces())
    .flatMap((addresses) => (addresses ?? []).map(({ address }) => address))
    .filter((address) => !address.includes("%"));
}

/** The person at this machine is led to loopback, wherever else the page can be reached. */
function shownHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}

function listen(server: Server, { host, port }: UiServerOptions): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  // Stays: an accept that fails for want of file descriptors is told here, too, and would otherwise end the process.
  server.on("error", (error: NodeJS.ErrnoException) => reject(error.code === "EADDRINUSE" ? new UiPortBusy(host, port, error) : error));
  server.listen({ host, port, exclusive: true }, () => {
    const address = server.address();
    resolve(typeof address === "object" && address !== null ? address.port : port);
  });
  return promise;
}

function close(server: Server, endStreams: () => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  endStreams();
  server.closeAllConnections();
  return promise;
}
