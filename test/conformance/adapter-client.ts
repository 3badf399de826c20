/**
 * The adapter as the client under test: the suite starts it with the URL of a server of its own. Everything that server offers is listed
 * and used once, in the ways a host uses an upstream's tools, resources and prompts; a form is sent as it stands.
 */
import type { ElicitResult } from "@modelcontextprotocol/client";
import { createAdapter } from "../../local-agent/adapter/create-adapter.ts";
import type { Adapter, AdapterCall } from "../../local-agent/adapter/adapter.ts";
import { createMemoryConfig } from "../../local-agent/adapter/config/memory-config.ts";
import type { AdapterPorts, UpstreamQuestion } from "../../local-agent/adapter/ports.ts";
import { nodePorts } from "../../local-agent/node/adapter-ports.ts";
import { silentLog } from "../../local-agent/node/log-sinks.ts";
import { systemClock, systemTimers } from "../../local-agent/node/system-time.ts";
import { formFields, readField } from "../../shared/form-fields.ts";
import type { JsonObject, JsonValue } from "../../shared/json.ts";
import { memoryMetadataStore } from "../support/memory-metadata-store.ts";

interface GivenCall {
  readonly name: string;
  readonly arguments: JsonObject;
}

const { MCP_CONFORMANCE_CONTEXT: context, MCP_CONFORMANCE_PROTOCOL_VERSION: revision } = process.env;
const SERVER = "suite";
const DEADLINE_MS = 25_000;

await useServer(process.argv.at(-1) ?? "");

async function useServer(address: string): Promise<void> {
  const adapter = await createAdapter(ports(address));
  try {
    const connected = await adapter.pool.connect(SERVER, { signal: AbortSignal.timeout(DEADLINE_MS), caller: { kind: "pi" } });
    if (!connected.ok) throw new Error(connected.error.message);
    for (const { name, args } of calls(adapter)) console.log(name, JSON.stringify((await adapter.direct(name, call(args))).content));
    for (const { command, prompt } of adapter.promptCommands()) {
      const line = (prompt.arguments ?? []).map(({ name }) => `${name}=value`).join(" ");
      const fetched = await adapter.prompt(command, line, call({}));
      console.log(command, fetched.ok ? JSON.stringify(fetched.value.messages) : fetched.error);
    }
  } finally {
    await adapter.close();
  }
}

/** The calls that the scenario asks for; where it asks for none, one of each tool and each resource. */
function calls(adapter: Adapter): { readonly name: string; readonly args: JsonObject }[] {
  const asked = context === undefined ? undefined : (JSON.parse(context) as { readonly toolCalls?: readonly GivenCall[] }).toolCalls;
  const entries = adapter.entries();
  const [first] = entries;
  const shown = adapter.directTools();
  return shown.flatMap(({ name, entry }) => {
    if (asked !== undefined) return asked.filter((each) => each.name === entry.original).map((each) => ({ name, args: each.arguments }));
    return [{ name, args: argumentsFor(entry.inputSchema as JsonObject, (first?.inputSchema ?? {}) as JsonObject) }];
  });
}

/** Numbers and texts, and in place of an object the schema of the first tool as it came: a scenario looks whether it is whole. */
function argumentsFor(schema: JsonObject, object: JsonObject): JsonObject {
  const values: Readonly<Record<string, JsonValue>> = { number: 5, integer: 5, string: "text", boolean: true, object, array: [] };
  const properties = Object.entries((schema["properties"] ?? {}) as Readonly<Record<string, JsonObject>>);
  return Object.fromEntries(properties.map(([name, property]) => [name, values[property["type"] as string] ?? "text"]));
}

function call(args: JsonObject): AdapterCall {
  return { args, callId: crypto.randomUUID(), caller: { kind: "pi" }, signal: AbortSignal.timeout(DEADLINE_MS), onProgress: () => {} };
}

function ports(address: string): AdapterPorts {
  const protocolVersion = revision === "2026-07-28" ? "auto" : "legacy";
  const served = { mcpServers: { [SERVER]: { url: address, protocolVersion } }, settings: { directTools: true, toolPrefix: "none" } };
  const cwd = process.cwd();
  const node = nodePorts({
    cwd,
    env: process.env,
    home: cwd,
    configFile: null,
    outputDir: cwd,
    trust: { known: () => "allowed", ask: () => Promise.resolve(true) },
    trace: () => null,
    clock: systemClock,
    timers: systemTimers,
    log: silentLog,
  });
  return {
    ...node,
    config: createMemoryConfig(served, { env: {}, project: cwd }),
    metadata: memoryMetadataStore(),
    approver: { wantsEveryCall: false, ask: () => Promise.resolve({ decision: "allow", remember: "no" }) },
    forms: { modes: { form: true, url: false }, ask: sendAsItStands },
    sampler: { available: false, sample: () => Promise.reject(new Error("there is no model")) },
  };
}

/** A person who sends each form as it was put before them. */
function sendAsItStands({ params }: UpstreamQuestion): Promise<ElicitResult> {
  const fields = "requestedSchema" in params ? formFields(params.requestedSchema as unknown as JsonObject) : undefined;
  if (fields?.ok !== true) return Promise.resolve({ action: "decline" });
  const content: NonNullable<ElicitResult["content"]> = {};
  for (const field of fields.value) {
    const read = readField(field, field.initial);
    if (read.ok && read.value !== undefined) content[field.name] = read.value as string;
  }
  return Promise.resolve({ action: "accept", content });
}
