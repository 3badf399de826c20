/**
 * The adapter's ways to its upstreams, on Node. What a way needs (the SDK, undici, the keyring) is loaded when the first one of its kind
 * is opened: an agent without upstreams pays nothing.
 */
import { join, resolve } from "node:path";
import type { AdapterSettings, HttpServer, ServerDefinition } from "../adapter/config/server-definition.ts";
import type { Environment, OpenedTransport, TransportFactory, TransportFailure } from "../adapter/ports.ts";
import type { Clock, Log, Timers } from "../../shared/ports.ts";
import { err, ok } from "../../shared/result.ts";
import { hostBrand } from "./agent-directory.ts";
import type { BearerSource, StoredTokens } from "./bearer-tokens.ts";
import type { ValueHost } from "./configured-values.ts";
import type { HttpRequestOptions } from "./open-http.ts";
import type { StdioOpener } from "./open-stdio.ts";
import type { ProtocolTrace } from "./protocol-trace.ts";
import { nameableEnvironment } from "./upstream-environment.ts";

export interface UpstreamTransportsOptions {
  readonly env: Environment;
  /** Absolute, for `~`. */
  readonly home: string;
  /** The project: where relative paths begin, and children run that say nothing else. */
  readonly cwd: string;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  /** Unique; part of a trace's file name. */
  readonly newId: () => string;
  /** The settings' `trace`, once they are read; null: not yet. */
  readonly trace?: () => AdapterSettings["trace"] | null;
  /** What servers with `debug` write to their error stream. */
  readonly showErrorOutput?: (server: string, text: string) => void;
  /** Absent: the operating system's store. */
  readonly stored?: StoredTokens;
  readonly platform?: NodeJS.Platform;
  /**
   * Where others than the person may write into the project: a directory of the agent's own in which npm works for servers of the account's
   * files. Absent: npm works in the project.
   */
  readonly packagesApart?: string;
}

export function createUpstreamTransports(given: UpstreamTransportsOptions): TransportFactory {
  const options = { ...given, env: nameableEnvironment(given.env, given.platform ?? process.platform) };
  const parts = lazyParts(options);
  /** Tokens are remembered per definition: a changed one begins anew. */
  const bearers = new WeakMap<ServerDefinition, BearerSource>();
  /** How a child ended that never got as far as a connection. */
  const faults = new WeakMap<ServerDefinition, string>();
  const traceOf = traces(options);

  const httpOptions = async (definition: ServerDefinition, server: HttpServer, signal: AbortSignal): Promise<HttpRequestOptions> => {
    const { bearerSource } = await import("./bearer-tokens.ts");
    const host = { ...(await parts.values()), clock: options.clock, stored: parts.stored };
    const bearer = (url: URL): BearerSource | null => {
      const made = bearers.get(definition) ?? bearerSource(definition.name, server, url.href, host);
      if (made !== null) bearers.set(definition, made);
      return made;
    };
    return { server, bearer, host, signal };
  };

  const make = async (definition: ServerDefinition, { signal, wire }: OpenOptions): Promise<OpenedTransport> => {
    const { transport: server, name } = definition;
    if (server.kind === "socket") {
      const { UnixSocketTransport } = await import("./unix-socket-transport.ts");
      const { pathOf } = await import("./configured-values.ts");
      return opened(new UnixSocketTransport(resolve(options.cwd, pathOf(server.path, options)), options.timers), "socket");
    }
    if (server.kind === "http") {
      const { openHttp } = await import("./open-http.ts");
      return opened(await openHttp(await httpOptions(definition, server, signal), wire), wire);
    }
    const { openStdio } = await import("./open-stdio.ts");
    const transport = await openStdio(definition, server, await parts.stdio(), signal);
    transport.onEnded = (how) => {
      faults.set(definition, how);
      options.log.event("info", "upstream.exited", { server: name });
    };
    return { ...opened(transport, "stdio"), stderrTail: () => transport.stderrTail() };
  };

  return {
    async open(definition, openOptions) {
      faults.delete(definition);
      try {
        const made = await make(definition, openOptions);
        (await traceOf(definition))?.attach(made.transport, definition.name, made.wire);
        return ok(made);
      } catch (error) {
        return err(await openFailure(error));
      }
    },
    async explain(definition, error, signal) {
      const { transport: server } = definition;
      if (server.kind === "stdio") {
        const fault = faults.get(definition);
        return fault === undefined ? null : { kind: "failed", message: fault };
      }
      if (server.kind === "socket") return null;
      const { explainHttp } = await import("./open-http.ts");
      return explainHttp(await httpOptions(definition, server, signal), error);
    },
    renewCredentials: (definition) => Promise.resolve(bearers.get(definition)?.renew(null) ?? false),
  };
}

type OpenOptions = Parameters<TransportFactory["open"]>[1];

function opened(transport: OpenedTransport["transport"], wire: OpenedTransport["wire"]): OpenedTransport {
  return { transport, wire, stderrTail: () => "", close: () => transport.close().catch(() => {}) };
}

async function openFailure(error: unknown): Promise<TransportFailure> {
  const { UnusableValue } = await import("./configured-values.ts");
  const message = error instanceof Error ? error.message : String(error);
  return { kind: error instanceof UnusableValue ? "config" : "failed", message };
}

/** Parts that all transports of one kind share, made when the first is opened. */
function lazyParts(options: UpstreamTransportsOptions) {
  const { env, home, cwd, timers, platform = process.platform } = options;
  const values = once(async (): Promise<ValueHost> => {
    const { createProcessGroups } = await import("./process-groups.ts");
    return { env, home, cwd, timers, platform, groups: createProcessGroups(timers, platform) };
  });
  return {
    values,
    stdio: once(async (): Promise<StdioOpener> => {
      const { createNpxResolver } = await import("./npx-resolver.ts");
      const host = await values();
      return { ...host, npx: createNpxResolver(host), showErrorOutput: options.showErrorOutput, packagesApart: options.packagesApart ?? null };
    }),
    stored: once(async () => options.stored ?? (await import("./keyring-tokens.ts")).keyringTokens()),
  };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => (made ??= make());
}

/** One trace file for all servers that are traced. */
function traces(options: UpstreamTransportsOptions): (definition: ServerDefinition) => Promise<ProtocolTrace | null> {
  const open = once(async () => {
    const { protocolTrace } = await import("./protocol-trace.ts");
    const { file, maxBytes, maxEvents } = options.trace?.() ?? DEFAULT_TRACE;
    const time = new Date(options.clock.now()).toISOString().replaceAll(/[:.]/g, "-");
    const path = file ?? join(hostBrand(options.env).configDir, "mcp-traces", `mcp-${time}-${options.newId().slice(0, 8)}.jsonl`);
    return protocolTrace(resolve(options.cwd, path), { maxBytes, maxEvents }, options.clock);
  });
  return async (definition) => (definition.trace || options.trace?.()?.enabled === true ? open() : null);
}

const DEFAULT_TRACE = { file: null, maxBytes: 262_144, maxEvents: 10_000 } as const;
