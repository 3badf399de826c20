/** One call of an upstream's tool or resource, from the arguments as they came to what the upstream returned. */
import type { CallToolResult, Progress, ReadResourceResult } from "@modelcontextprotocol/client";
import type { JsonObject } from "../../../shared/json.ts";
import type { Timers } from "../../../shared/ports.ts";
import { err, ok } from "../../../shared/result.ts";
import type { Result } from "../../../shared/result.ts";
import { visibleLine } from "../../../shared/visible-text.ts";
import { describeParameters } from "../catalog/describe-parameters.ts";
import type { CatalogEntry } from "../catalog/upstream-catalog.ts";
import type { Caller, CallOrigin } from "../ports.ts";
import type { UpstreamPool, UsedUpstream } from "../upstream/upstream-pool.ts";
import type { Approvals } from "./approval.ts";
import { parseArguments } from "./arguments.ts";
import type { CallFailure } from "./call-failure.ts";
import type { schemaCheck } from "./json-schema.ts";
import { recoverStringified } from "./stringified.ts";

interface Invocation {
  readonly entry: CatalogEntry;
  /** In any spelling (arguments.ts). */
  readonly args: unknown;
  readonly origin: CallOrigin;
  readonly caller: Caller;
  readonly callId: string;
  readonly signal: AbortSignal;
  readonly onProgress: (message: string) => void;
}

/** What an upstream returned. */
export type Answer =
  | {
      readonly kind: "tool";
      readonly result: CallToolResult;
      /** How the result breaks the tool's own output schema; null: it does not, or has none. */
      readonly mismatch: string | null;
    }
  | { readonly kind: "resource"; readonly result: ReadResourceResult };

/** Never rejects. */
export type Invoke = (invocation: Invocation) => Promise<Result<Answer, CallFailure>>;

export interface InvokeParts {
  readonly pool: UpstreamPool;
  readonly approvals: Approvals;
  /** Whether arguments of direct tools are checked here, too (`strictDirectToolArguments`). */
  readonly checksDirect: boolean;
  readonly timers: Timers;
  /** The tool as it is known now; null: it is not offered any more. */
  readonly current: (entry: CatalogEntry) => CatalogEntry | null;
}

type SchemaCheck = typeof schemaCheck;

export function createInvoke(parts: InvokeParts): Invoke {
  const { pool, approvals, checksDirect } = parts;
  let schemas: Promise<{ readonly schemaCheck: SchemaCheck }> | undefined;

  return async (invocation) => {
    const { origin, signal } = invocation;
    const entry = await upToDate(invocation, parts);
    if (!entry.ok) return entry;
    if (entry.value.onlyAsTask === true) return err(onlyAsTask(entry.value));
    // With the first call: a start that only shows what there is has no use for a schema's compiler.
    schemas ??= import("./json-schema.ts");
    const { schemaCheck: check } = await schemas;
    const args = readArguments(entry.value, invocation.args, origin !== "direct" || checksDirect ? check : null);
    if (!args.ok) return args;
    const subject = { ...invocation, entry: entry.value, args: args.value };
    const allowed = await approvals.ask(subject);
    if (!allowed.ok) return allowed;
    const { server } = subject.entry;
    const limit = totalLimit(parts, server, signal);
    try {
      const used = await pool.use(server, { signal: limit.signal, caller: invocation.caller }, (upstream) => request(upstream, subject, check));
      return used.ok ? used : err(used.error);
    } catch (error) {
      if (limit.isReached()) return err(endless(server));
      const { thrownFailure } = await import("./call-failure.ts");
      return err(thrownFailure(error, { server, aborted: signal.aborted }));
    } finally {
      limit.end();
    }
  };
}

const TOTAL_MS = 3_600_000;
/** Each report of progress gives a call its server's limit anew. */
const TOTAL_LIMITS = 10;

/** [CL18] For a server that is always about to be done. */
function totalLimit({ pool, timers }: InvokeParts, server: string, signal: AbortSignal) {
  const total = new AbortController();
  let isReached = false;
  const follow = (): void => total.abort(signal.reason);
  signal.addEventListener("abort", follow, { once: true });
  if (signal.aborted) follow();
  const stop = timers.after(Math.max(TOTAL_MS, TOTAL_LIMITS * (pool.definition(server)?.requestTimeoutMs ?? 0)), () => {
    isReached = true;
    total.abort(new Error("the call took too long"));
  });
  const end = (): void => {
    stop();
    signal.removeEventListener("abort", follow);
  };
  return { signal: total.signal, isReached: () => isReached, end };
}

function endless(server: string): CallFailure {
  return { code: "call_failed", message: `Failed to call tool: "${server}" went on reporting progress and did not end. It was told to stop.` };
}

/** [CL8] What is checked, shown and called is the tool as its server offers it now, not as it was known from an earlier connection. */
async function upToDate({ entry, caller, signal }: Invocation, { pool, current }: InvokeParts): Promise<Result<CatalogEntry, CallFailure>> {
  if (entry.freshness === "live") return ok(entry);
  const connected = await pool.connect(entry.server, { signal, caller });
  if (!connected.ok) return connected;
  const now = current(entry);
  if (now !== null) return ok(now);
  const message = `"${entry.displayed}" is not offered by "${entry.server}" any more. mcp({server: ${JSON.stringify(entry.server)}}) lists what is.`;
  return err({ code: "tool_not_found_after_reconnect", message });
}

/** [CL9] */
function onlyAsTask({ displayed, server }: CatalogEntry): CallFailure {
  const message = `"${displayed}" runs only as an MCP task, and tasks are not supported here yet. "${server}" was not called. mcp({search: "what you need"}) may find another tool.`;
  return { code: "call_failed", message };
}

/** [CL7] The upstream is not troubled with arguments that its own schema refuses. */
function readArguments(entry: CatalogEntry, given: unknown, check: SchemaCheck | null): Result<JsonObject, CallFailure> {
  const read = recoveredArguments(entry, given);
  if (!read.ok) return err({ code: "invalid_request", message: `${read.error} "${entry.displayed}" was not called.` });
  const args = read.value;
  const problems = check !== null && entry.kind === "tool" ? check(entry.inputSchema)(args) : [];
  if (problems.length === 0) return ok(args);
  const list = problems.map((problem) => `- ${visibleLine(problem, 500)}`).join("\n");
  const message = `The arguments do not fit "${entry.displayed}", and it was not called:\n${list}\nExpected: ${describeParameters(entry.inputSchema).text}`;
  return err({ code: "call_failed", message, details: { problems } });
}

/** What text turned out to say is bounded and frozen as what came as such. */
function recoveredArguments({ inputSchema }: CatalogEntry, given: unknown): Result<JsonObject, string> {
  const parsed = parseArguments(given);
  if (!parsed.ok) return parsed;
  const recovered = recoverStringified(inputSchema, parsed.value);
  return recovered === parsed.value ? parsed : parseArguments(recovered);
}

async function request(
  upstream: UsedUpstream,
  { entry, args, onProgress }: Invocation & { readonly args: JsonObject },
  check: SchemaCheck,
): Promise<Answer> {
  const options = upstream.requestOptions((progress) => onProgress(progressLine(progress)));
  if (entry.resourceUri !== null) return { kind: "resource", result: await upstream.readResource(entry.resourceUri, options) };
  // Without an output schema here the client passes on what does not fit: the work is done by then, and its result is worth showing.
  const toolDefinition = { name: entry.original, inputSchema: entry.inputSchema };
  const result = await upstream.callTool({ name: entry.original, arguments: args }, { ...options, toolDefinition });
  if (deniesTool(result, entry.original)) upstream.doubtList();
  return { kind: "tool", result, mismatch: mismatchOf(result, entry, check) };
}

/** Many servers say of a tool they do not have that it failed, not that the request was wrong. */
function deniesTool({ isError, content: [first] }: CallToolResult, name: string): boolean {
  if (isError !== true || first?.type !== "text" || first.text.length > MAX_DENIAL_CHARS) return false;
  return first.text.includes(name) && /\b(?:unknown|no such) tool\b|\btool\b.{0,300}\b(?:not found|does not exist)\b/is.test(first.text);
}

const MAX_DENIAL_CHARS = 1_000;

function mismatchOf(result: CallToolResult, { outputSchema }: CatalogEntry, check: SchemaCheck): string | null {
  if (outputSchema === null || outputSchema === undefined || result.isError === true) return null;
  if (result.structuredContent === undefined) return "it has no structured content";
  const problems = check(outputSchema)(result.structuredContent);
  return problems.length === 0 ? null : problems.map((problem) => visibleLine(problem, 300)).join("; ");
}

function progressLine({ progress, total, message }: Progress): string {
  const count = total === undefined ? String(progress) : `${progress}/${total}`;
  return message === undefined || message === "" ? count : `${visibleLine(message, 500)} (${count})`;
}
