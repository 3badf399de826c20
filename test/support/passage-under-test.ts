/** Fixtures as exposed upstreams: real executables on pipes, or servers in this process, behind the adapter's own connections. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { InMemoryTransport, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { displayedName } from "../../local-agent/adapter/catalog/names.ts";
import type { ProtocolChoice } from "../../local-agent/adapter/config/server-definition.ts";
import type { OpenedTransport, TransportFactory } from "../../local-agent/adapter/ports.ts";
import { openConnection } from "../../local-agent/adapter/upstream/connection.ts";
import type { Passage } from "../../local-agent/mcp/pass-through/passage.ts";
import { silentLog } from "../../local-agent/node/log-sinks.ts";
import { ok } from "../../shared/result.ts";
import { serverDefinition } from "./server-definitions.ts";

/** An executable under test/fixtures with its flags, an address, a transport, or what builds a server in this process. */
export type UpstreamFixture =
  | { readonly url: string; readonly speaks: ProtocolChoice }
  | { readonly transport: () => Transport; readonly speaks: "legacy" }
  | { readonly file: string; readonly flags?: readonly string[]; readonly speaks?: ProtocolChoice }
  | { readonly build: (modern: boolean) => Server; readonly speaks: Exclude<ProtocolChoice, "auto"> };

export interface PassageUnderTest extends Passage {
  /** Connections that were opened, by upstream, in order. */
  readonly opened: string[];
  /** What upstreams in this process were sent, by upstream, in order. */
  readonly sent: SentMessage[];
}

interface SentMessage {
  readonly upstream: string;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
}

const FIXTURES = join(import.meta.dirname, "../fixtures");

export function passageUnderTest(upstreams: Readonly<Record<string, UpstreamFixture>>, changes: Partial<Passage> = {}): PassageUnderTest {
  const opened: string[] = [];
  const sent: SentMessage[] = [];
  const transports: TransportFactory = {
    open: (definition) => {
      opened.push(definition.name);
      const fixture = upstreams[definition.name];
      if (fixture === undefined) throw new Error(`no fixture ${definition.name}`);
      return Promise.resolve(ok(openedFor(fixture, (message) => sent.push({ upstream: definition.name, ...message }))));
    },
    explain: () => Promise.resolve(null),
    renewCredentials: () => Promise.resolve(false),
  };
  return {
    opened,
    sent,
    upstreams: Object.keys(upstreams),
    open: (upstream, options) =>
      openConnection(
        serverDefinition(upstream, { protocolVersion: upstreams[upstream]?.speaks ?? "legacy", idleTimeoutMs: null }),
        { transports, log: silentLog },
        options,
      ),
    admits: () => true,
    beforeCall: () => Promise.resolve({ allowed: true }),
    displayed: (upstream, original) => displayedName(original, upstream, "server"),
    key: randomBytes(32),
    reserved: new Set(["human_ask", "mcp", "bash"]),
    forms: null,
    ...changes,
  };
}

function openedFor(fixture: UpstreamFixture, note: (message: Omit<SentMessage, "upstream">) => void): OpenedTransport {
  if ("url" in fixture) return overHttp(fixture.url);
  if ("file" in fixture) return onPipes(fixture);
  if ("build" in fixture) return inProcess(fixture, note);
  const transport = fixture.transport();
  return { transport, wire: "stdio", stderrTail: () => "", close: () => transport.close() };
}

function overHttp(url: string): OpenedTransport {
  const transport = new StreamableHTTPClientTransport(new URL(url));
  return { transport, wire: "streamable-http", stderrTail: () => "", close: () => transport.close() };
}

function onPipes({ file, flags = [] }: Extract<UpstreamFixture, { readonly file: string }>): OpenedTransport {
  const transport = new StdioClientTransport({ command: process.execPath, args: [join(FIXTURES, file), ...flags], stderr: "inherit" });
  return { transport, wire: "stdio", stderrTail: () => "", close: () => transport.close() };
}

function inProcess(
  { build, speaks }: Extract<UpstreamFixture, { readonly build: unknown }>,
  note: (message: Omit<SentMessage, "upstream">) => void,
): OpenedTransport {
  const [transport, other] = InMemoryTransport.createLinkedPair();
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    const headers = (options as { headers?: Record<string, string> } | undefined)?.headers ?? {};
    if ("method" in message) note({ method: message.method, params: { ...message.params }, headers });
    return send(message, options);
  };
  if (speaks === "legacy") void build(false).connect(other);
  else serveStdio(() => build(true), { transport: other, legacy: "reject" });
  return { transport, wire: "stdio", stderrTail: () => "", close: () => transport.close() };
}
