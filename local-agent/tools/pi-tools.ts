/**
 * Pi's tools as this agent offers them. A call is prepared (arguments rewritten and validated as Pi does) and then
 * executed with exactly the prepared arguments. Definitions are built per call, so that every port knows the call's signal.
 */
import { isJsonObject, parseJson, type JsonObject } from "../../shared/json.ts";
import type { Timers } from "../../shared/ports.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type { ToolContent, ToolDescriptor, ToolOutcome } from "../../shared/tool.ts";
import { callSpawns, type CallSpawns, type SearchMemory } from "./call-spawns.ts";
import type { ConfinedRoot, Purpose } from "./confined-root.ts";
import { editObjection } from "./edit-bounds.ts";
import { editPorts, findPorts, grepPorts, lsPorts, readPorts, RefusalMemory, writePorts, type CallContext } from "./file-ports.ts";
import { failedOutcome } from "./host-protocol.ts";
import { withImageTurn } from "./image-turn.ts";
import * as pi from "./pi-modules.ts";
import { shellPort, type ShellPort } from "./shell-port.ts";
import { withSpawnRules } from "./spawn-seam.ts";
import { TOOL_TRAITS, type ToolName } from "./tool-traits.ts";

/** Pi repeats rejected arguments in full; a caller that sent a megabyte need not get it back. */
const MAX_VALIDATION_MESSAGE_CHARS = 2_000;

export interface PiToolsSettings {
  readonly root: ConfinedRoot;
  readonly rgPath: string;
  /** Makes sure `rgPath` exists. */
  readonly placeRipgrep: () => void;
  readonly mark: string;
  readonly shellEnv: Readonly<Record<string, string>>;
  readonly spillDir: string;
  readonly timers: Timers;
}

export interface PreparedArguments {
  readonly name: ToolName;
  readonly args: JsonObject;
}

export interface RunningCall {
  readonly callId: string;
  /** Marks what this call starts; unique among the host's calls. */
  readonly label: string;
  readonly signal: AbortSignal;
  readonly report: (delta: string) => void;
}

/** For a definition whose texts are wanted and which is never executed. */
const NO_CALL: RunningCall = { callId: "", label: "none", signal: new AbortController().signal, report: () => {} };

/** Names, texts and schemas as Pi has them now. */
export function describeTools(names: readonly ToolName[], settings: PiToolsSettings): ToolDescriptor[] {
  return names.map((name) => {
    const { definition } = defineTool(name, settings, NO_CALL);
    const schema = parseJson(JSON.stringify(definition.parameters));
    return {
      name,
      ...TOOL_TRAITS[name],
      description: definition.description,
      inputSchema: isJsonObject(schema) ? schema : {},
      promptSnippet: definition.promptSnippet,
      promptGuidelines: definition.promptGuidelines,
    };
  });
}

/** What Pi's own loop does before a tool runs: rewrite (edit), coerce, validate. A path is also checked as it was spelled. */
export function prepareCall(name: ToolName, args: JsonObject, settings: PiToolsSettings): Result<PreparedArguments, ToolOutcome> {
  const { definition } = defineTool(name, settings, NO_CALL);
  try {
    const rewritten = definition.prepareArguments?.(structuredClone(args)) ?? args;
    const validated = definition.validate(isJsonObject(rewritten) ? { ...rewritten } : {});
    if (!isJsonObject(validated)) throw new Error(`tool "${name}" takes an object of arguments`);
    if (typeof validated["path"] === "string") settings.root.checkSpelling(validated["path"]);
    const objection = name === "edit" ? editObjection(validated) : undefined;
    if (objection !== undefined) throw new Error(objection);
    return ok({ name, args: validated });
  } catch (error) {
    return err(failedOutcome(shortened(messageOf(error))));
  }
}

/** Runs a prepared call. Never rejects. What confinement refused is told rather than what Pi made of it. */
export async function executeCall(prepared: PreparedArguments, settings: PiToolsSettings, call: RunningCall): Promise<ToolOutcome> {
  const { definition, context, spawns } = defineTool(prepared.name, settings, call, prepared.args);
  try {
    await checkPath(prepared, context);
    if (prepared.name === "grep" || prepared.name === "find") settings.placeRipgrep();
    const execute = (): Promise<PiResult> => definition.execute(call.callId, prepared.args, call.signal);
    const result = await withSpawnRules(spawns.rules, () => withImageTurn(call.signal, execute));
    if (context.refusals.first !== undefined) throw context.refusals.first;
    if (prepared.name === "grep" && !spawns.searchWasConfined()) throw new Error("the search could not be confined, so its result was discarded");
    return toOutcome(prepared.name, result);
  } catch (error) {
    return failedOutcome(messageOf(context.refusals.first ?? error));
  }
}

/** Before Pi looks at the path at all: not even whether something exists outside the root is to be told. */
async function checkPath({ name, args }: PreparedArguments, { root, refusals }: CallContext): Promise<void> {
  const path = args["path"];
  if (typeof path !== "string") return;
  await refusals.watch(() => root.locate(pi.resolveToCwd(path, root.path), purposeOf(name)));
}

function purposeOf(name: ToolName): Purpose {
  if (name === "read") return "read";
  return name === "write" || name === "edit" ? "write" : "touch";
}

/** The part of Pi's definitions that is used here, with the parameter types erased: arguments are validated instead. */
interface PiDefinition {
  readonly description: string;
  readonly parameters: unknown;
  readonly promptSnippet: string | undefined;
  readonly promptGuidelines: readonly string[] | undefined;
  readonly prepareArguments: ((args: unknown) => unknown) | undefined;
  /** @throws with a sentence that lists what is wrong */
  validate(args: JsonObject): unknown;
  execute(callId: string, args: unknown, signal: AbortSignal): Promise<PiResult>;
}

interface PiResult {
  readonly content: readonly PiContent[];
  readonly isError?: boolean;
  readonly structuredContent?: unknown;
}

type PiContent = { readonly type: "text"; readonly text: string } | { readonly type: "image"; readonly data: string; readonly mimeType: string };

interface DefinedTool {
  readonly definition: PiDefinition;
  readonly context: CallContext;
  readonly spawns: CallSpawns;
}

function defineTool(name: ToolName, settings: PiToolsSettings, call: RunningCall, args: JsonObject = {}): DefinedTool {
  const carriers = { mark: settings.mark, label: call.label };
  const search: SearchMemory = { target: undefined };
  const { root, rgPath } = settings;
  const context: CallContext = { root, rgPath, args, signal: call.signal, refusals: new RefusalMemory(), search };
  const spawns = callSpawns(settings.root, carriers, search);
  const shell = (inner: ShellPort): ShellPort => shellPort(inner, { ...settings, ...call, carriers, children: spawns.children });
  return { definition: definePiTool(name, settings, context, shell), context, spawns };
}

function definePiTool(name: ToolName, settings: PiToolsSettings, context: CallContext, shell: (inner: ShellPort) => ShellPort): PiDefinition {
  const cwd = settings.root.path;
  /** The person's own environment: what is set for this process alone stays here. The call's mark is added at the start. */
  const shellOptions = {
    exposeSessionEnvironment: false,
    spawnHook: (start: { command: string; cwd: string; env: NodeJS.ProcessEnv }) => ({
      ...start,
      env: personEnvironment(settings.shellEnv, start.env),
    }),
  };
  switch (name) {
    case "read":
      return adapt(pi.createReadToolDefinition(cwd, { operations: readPorts(context) }));
    case "write":
      return adapt(pi.createWriteToolDefinition(cwd, { operations: writePorts(context) }));
    case "edit":
      return adapt(pi.createEditToolDefinition(cwd, { operations: editPorts(context) }));
    case "ls":
      return adapt(pi.createLsToolDefinition(cwd, { operations: lsPorts(context) }));
    case "grep":
      return adapt(pi.createGrepToolDefinition(cwd, { operations: grepPorts(context) }));
    case "find":
      return adapt(pi.createFindToolDefinition(cwd, { operations: findPorts(context) }));
    case "bash":
      return adapt(pi.createBashToolDefinition(cwd, { ...shellOptions, operations: shell(pi.createLocalBashOperations()) }));
    case "powershell":
      return adapt(pi.createPowerShellToolDefinition(cwd, { ...shellOptions, operations: shell(pi.createLocalPowerShellOperations()) }));
  }
}

/** The person's environment without what Pi took out of this process's (the variables of a Pi session around the agent). */
function personEnvironment(shellEnv: Readonly<Record<string, string>>, fromPi: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(Object.entries(shellEnv).filter(([name]) => name in fromPi || !(name in process.env)));
}

type AnyDefinition = ReturnType<typeof pi.createBashToolDefinition> | ReturnType<typeof pi.createReadToolDefinition>;

function adapt(definition: unknown): PiDefinition {
  const tool = definition as AnyDefinition;
  return {
    description: tool.description,
    parameters: tool.parameters,
    promptSnippet: tool.promptSnippet,
    promptGuidelines: tool.promptGuidelines,
    prepareArguments: tool.prepareArguments,
    validate: (args) => pi.validateToolArguments(tool, { type: "toolCall", id: "", name: tool.name, arguments: args }),
    // Pi's tools run without a session: every use they make of the context is optional.
    execute: (callId, args, signal) => tool.execute(callId, args as never, signal, undefined, undefined as never),
  };
}

/** Pi's result as MCP has it. `details` repeats what is shown and stays here; only a shell's structured content is an object. */
function toOutcome(name: ToolName, result: PiResult): ToolOutcome {
  const structured = name === "bash" || name === "powershell" ? result.structuredContent : undefined;
  const content = result.content.map(toContent);
  return {
    content,
    ...(isJsonObject(structured) ? { structuredContent: withoutFlood(structured, content) } : {}),
    isError: result.isError === true,
  };
}

/**
 * Pi keeps up to 1 MiB of output here beside the 50 KB it shows. Some clients hand this to the model instead of the text, so it
 * holds no more than the text does; the whole is in the spill file the text names.
 */
function withoutFlood(structured: JsonObject, content: readonly ToolContent[]): JsonObject {
  const shown = content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  const { output } = structured;
  return typeof output === "string" && output.length > shown.length ? { ...structured, output: shown, truncated: true } : structured;
}

function toContent(content: PiContent): ToolContent {
  return content.type === "text" ? { type: "text", text: content.text } : { type: "image", data: content.data, mimeType: content.mimeType };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function shortened(text: string): string {
  return text.length > MAX_VALIDATION_MESSAGE_CHARS ? `${text.slice(0, MAX_VALIDATION_MESSAGE_CHARS)}…` : text;
}
