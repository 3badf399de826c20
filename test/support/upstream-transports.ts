/** The real ways to upstreams, for tests, with a client over one. */
import { Client, type VersionNegotiationMode } from "@modelcontextprotocol/client";
import { onTestFinished } from "vitest";
import type { ServerDefinition, ServerTransport } from "../../local-agent/adapter/config/server-definition.ts";
import type { OpenedTransport, TransportFactory } from "../../local-agent/adapter/ports.ts";
import { silentLog } from "../../local-agent/node/log-sinks.ts";
import { systemClock, systemTimers } from "../../local-agent/node/system-time.ts";
import { createUpstreamTransports, type UpstreamTransportsOptions } from "../../local-agent/node/upstream-transports.ts";
import { serverDefinition } from "./server-definitions.ts";
import { tempDir } from "./temp-dir.ts";

export interface TransportsUnderTest {
  readonly factory: TransportFactory;
  readonly cwd: string;
  readonly define: (transport: ServerTransport, fields?: Partial<ServerDefinition>) => ServerDefinition;
  /** Opens and connects; throws the failure's sentence. Everything ends with the test. */
  readonly connect: (
    definition: ServerDefinition,
    how?: { wire?: "streamable-http" | "sse"; mode?: VersionNegotiationMode },
  ) => Promise<ConnectedUpstream>;
}

interface ConnectedUpstream {
  readonly client: Client;
  readonly opened: OpenedTransport;
  /** The text of a tool's answer. */
  readonly call: (name: string, args?: Record<string, unknown>) => Promise<string>;
}

export function transportsUnderTest(given: Partial<UpstreamTransportsOptions> = {}): TransportsUnderTest {
  const cwd = given.cwd ?? tempDir();
  const factory = createUpstreamTransports({
    env: { PATH: process.env["PATH"] },
    home: tempDir("home"),
    cwd,
    clock: systemClock,
    timers: systemTimers,
    log: silentLog,
    newId: () => crypto.randomUUID(),
    ...given,
  });
  return {
    factory,
    cwd,
    define: (transport, fields) => serverDefinition("upstream", { transport, ...fields }),
    async connect(definition, { wire = "streamable-http", mode = "legacy" } = {}) {
      const opened = await factory.open(definition, { signal: new AbortController().signal, wire });
      if (!opened.ok) throw new Error(`${opened.error.kind}: ${opened.error.message}`);
      onTestFinished(() => opened.value.close());
      const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
      await client.connect(opened.value.transport);
      return {
        client,
        opened: opened.value,
        call: async (name, args = {}) => {
          const { content } = await client.callTool({ name, arguments: args });
          return (content as { text?: string }[]).map(({ text }) => text ?? "").join("");
        },
      };
    },
  };
}
