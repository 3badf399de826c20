/** An adapter over servers in this process and scripted ports: what a model calls, what upstreams got, what the person was asked. */
import { createHash, randomUUID } from "node:crypto";
import type { CallToolResult, GetPromptResult, Prompt, Resource, Tool } from "@modelcontextprotocol/client";
import { InMemoryTransport } from "@modelcontextprotocol/client";
import type { ServerContext } from "@modelcontextprotocol/server";
import { Server } from "@modelcontextprotocol/server";
import { onTestFinished } from "vitest";
import type { Adapter, AdapterCall, AdapterEvent, AdapterResult } from "../../local-agent/adapter/adapter.ts";
import type { AdapterSettings, ConfiguredServer, ServerDefinition, UpstreamConfig } from "../../local-agent/adapter/config/server-definition.ts";
import { createAdapter } from "../../local-agent/adapter/create-adapter.ts";
import type {
  AdapterPorts,
  Caller,
  MetadataStore,
  OpenedTransport,
  TransportFactory,
  TransportFailure,
  UpstreamApproval,
  UpstreamApprovalRequest,
} from "../../local-agent/adapter/ports.ts";
import { createScriptRunner } from "../../local-agent/node/script-worker.ts";
import { systemTimers } from "../../local-agent/node/system-time.ts";
import type { JsonObject } from "../../shared/json.ts";
import { err, ok } from "../../shared/result.ts";
import { abortOf } from "./abort-of.ts";
import { memoryMetadataStore } from "./memory-metadata-store.ts";
import { memoryOutputFiles } from "./memory-output-files.ts";
import { scriptedApprover } from "./scripted-approver.ts";
import { NO_FORMS } from "./scripted-forms.ts";
import { NO_MODEL } from "./scripted-sampler.ts";
import { scriptedTrust } from "./scripted-trust.ts";
import { serverDefinition } from "./server-definitions.ts";

type PlayedTool = Partial<Tool> & {
  readonly run?: (args: JsonObject, context: ServerContext) => CallToolResult | Promise<CallToolResult>;
};

/** A server a test plays. What it lists is read anew for each listing. */
export interface PlayedServer {
  tools: Record<string, PlayedTool>;
  resources?: readonly (Resource & { readonly text?: string; readonly blob?: string })[];
  prompts?: readonly (Prompt & { readonly get?: (args: Readonly<Record<string, string>>) => GetPromptResult })[];
  instructions?: string;
  definition?: Partial<ServerDefinition>;
  /** What it fails to connect with, or its sentence; unset: it works. */
  down?: string | TransportFailure;
  /** Connecting waits for it. */
  opening?: Promise<void>;
  state?: "disabled";
}

export interface AdapterUnderTest {
  readonly adapter: Adapter;
  /** What reached the servers' tools, in order. */
  readonly received: { readonly server: string; readonly tool: string; readonly args: JsonObject }[];
  readonly asked: UpstreamApprovalRequest[];
  readonly kept: string[];
  readonly events: AdapterEvent[];
  readonly clock: { now: () => number; set: (now: number) => void };
  readonly mcp: (args: JsonObject, call?: Partial<AdapterCall>) => Promise<AdapterResult>;
}

export interface Scene {
  readonly settings?: Partial<AdapterSettings>;
  readonly env?: AdapterPorts["env"];
  readonly metadata?: MetadataStore;
  readonly approve?: (request: UpstreamApprovalRequest) => UpstreamApproval | Promise<UpstreamApproval>;
  readonly wantsEveryCall?: boolean;
  readonly forms?: AdapterPorts["forms"];
  readonly timers?: AdapterPorts["timers"];
  /** In place of the scripted ones. */
  readonly ports?: Partial<AdapterPorts>;
  readonly host?: Parameters<typeof createAdapter>[1];
}

export const PI: Caller = { kind: "pi" };
export const remote = (principalId: string): Caller => ({ kind: "remote", principalId, client: "A client", probe: () => {} });

/** It ends with the test. */
export async function adapterUnderTest(servers: Readonly<Record<string, PlayedServer>>, scene: Scene = {}): Promise<AdapterUnderTest> {
  const under = await playedAdapter(servers, scene);
  onTestFinished(() => under.adapter.close());
  return under;
}

/** The same for what is no test: whoever opens it closes its adapter. */
export async function playedAdapter(servers: Readonly<Record<string, PlayedServer>>, scene: Scene = {}): Promise<AdapterUnderTest> {
  const received: AdapterUnderTest["received"] = [];
  const output = memoryOutputFiles();
  const events: AdapterEvent[] = [];
  let now = 1_000_000_000;
  const clock = { now: () => now, set: (next: number) => void (now = next) };
  const approver = scriptedApprover(scene.approve ?? ((): UpstreamApproval => ({ decision: "allow", remember: "no" })), scene.wantsEveryCall);
  const ports: AdapterPorts = {
    clock,
    timers: scene.timers ?? systemTimers,
    log: { event: () => {} },
    random: () => 0.5,
    sha256: (text) => createHash("sha256").update(text).digest("hex"),
    newId: randomUUID,
    env: scene.env ?? {},
    home: "/home/person",
    config: { load: () => Promise.resolve(configOf(servers, scene.settings ?? {})) },
    transports: playedTransports(servers, received),
    metadata: scene.metadata ?? memoryMetadataStore(),
    trust: scriptedTrust().trust,
    approver,
    forms: scene.forms ?? NO_FORMS,
    sampler: NO_MODEL,
    output,
    scripts: createScriptRunner(),
    ...scene.ports,
  };
  const adapter = await createAdapter(ports, scene.host);
  adapter.subscribe((event) => events.push(event));
  const mcp: AdapterUnderTest["mcp"] = (args, call = {}) => adapter.mcp(adapterCall(args, call));
  return { adapter, received, asked: approver.asked, kept: output.texts, events, clock, mcp };
}

export function adapterCall(args: JsonObject, call: Partial<AdapterCall> = {}): AdapterCall {
  return { args, callId: randomUUID(), caller: PI, signal: new AbortController().signal, onProgress: () => {}, ...call };
}

/** Everything a model is shown. */
export function textOf(result: AdapterResult): string {
  return result.content.map((block) => (block.type === "text" ? block.text : `[${block.mimeType}]`)).join("\n");
}

function configOf(servers: Readonly<Record<string, PlayedServer>>, settings: Partial<AdapterSettings>): UpstreamConfig {
  const configured = Object.entries(servers).map(([name, played]): [string, ConfiguredServer] => {
    const definition = serverDefinition(name, { entry: { command: name }, ...played.definition });
    return [name, { state: played.state ?? "enabled", name, definition }];
  });
  return { servers: new Map(configured), settings: { ...SETTINGS, ...settings }, projectSettingsText: null, warnings: [], sources: [] };
}

const SETTINGS: AdapterSettings = {
  toolPrefix: "server",
  directTools: false,
  freezeDirectTools: false,
  disableProxyTool: false,
  namespaceProxyTools: true,
  strictDirectToolArguments: false,
  directToolResultDetails: "lean",
  warnOnLargeDirectTools: true,
  scriptMode: true,
  approveTools: false,
  sampling: null,
  samplingAutoApprove: false,
  elicitation: null,
  autoAuth: false,
  outputGuard: { maxBytes: 51_200, maxLines: 2_000, detailsMaxBytes: 16_384 },
  trace: { enabled: false, file: null, maxBytes: 262_144, maxEvents: 10_000 },
  showStatusIcon: true,
  mcpFooterStatus: "full",
  toolResultRendering: "compact",
  collapsedResultLines: 3,
  notifyOnStartupConnect: true,
  hostConfigDiscovery: "off",
};

export function playedTransports(servers: Readonly<Record<string, PlayedServer>>, received: AdapterUnderTest["received"]): TransportFactory {
  return {
    async open(definition, { signal }) {
      const played = servers[definition.name];
      const opening = await Promise.race([played?.opening, abortOf(signal)]);
      if (opening === "aborted") return err({ kind: "failed", message: "The connection was cancelled." });
      const down = played === undefined ? "no such server" : played.down;
      if (played === undefined || down !== undefined) return err(typeof down === "object" ? down : { kind: "failed", message: down ?? "" });
      return ok(await openPlayed(definition.name, played, received));
    },
    explain: () => Promise.resolve(null),
    renewCredentials: () => Promise.resolve(false),
  };
}

async function openPlayed(name: string, played: PlayedServer, received: AdapterUnderTest["received"]): Promise<OpenedTransport> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const server = new Server(
    { name, version: "1.0.0" },
    {
      capabilities: { tools: { listChanged: true }, resources: {}, prompts: {} },
      ...(played.instructions === undefined ? {} : { instructions: played.instructions }),
    },
  );
  server.setRequestHandler("tools/list", () => ({
    tools: Object.entries(played.tools).map(([tool, { run: _run, ...listed }]) => ({
      name: tool,
      inputSchema: { type: "object" as const },
      ...listed,
    })),
  }));
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const args = (params.arguments ?? {}) as JsonObject;
    received.push({ server: name, tool: params.name, args });
    const run = played.tools[params.name]?.run;
    return run === undefined ? { content: [{ type: "text", text: `ran ${params.name}` }] } : run(args, context);
  });
  server.setRequestHandler("resources/list", () => ({
    resources: (played.resources ?? []).map(({ text: _text, blob: _blob, ...listed }) => listed),
  }));
  server.setRequestHandler("resources/read", ({ params }) => {
    const { text, blob = "", mimeType } = played.resources?.find(({ uri }) => uri === params.uri) ?? {};
    const kind = mimeType === undefined ? {} : { mimeType };
    return { contents: [text === undefined ? { uri: params.uri, ...kind, blob } : { uri: params.uri, ...kind, text }] };
  });
  server.setRequestHandler("prompts/list", () => ({ prompts: (played.prompts ?? []).map(({ get: _get, ...listed }) => listed) }));
  server.setRequestHandler("prompts/get", ({ params }) => {
    const get = played.prompts?.find((prompt) => prompt.name === params.name)?.get;
    return get?.(params.arguments ?? {}) ?? { messages: [] };
  });
  await server.connect(far);
  return { transport: near, wire: "stdio", stderrTail: () => "", close: () => server.close() };
}
