/** One call of `mcpScript`: runs the code, gathers what it said, and ends with it whatever it left running. */
import type { JsonObject } from "../../../shared/json.ts";
import type { Clock } from "../../../shared/ports.ts";
import type { ToolContent } from "../../../shared/tool.ts";
import type { AdapterCall, AdapterResult } from "../adapter.ts";
import type { Caller, ScriptEnd, ScriptRunner } from "../ports.ts";
import { scriptContent } from "./script-content.ts";
import { createScriptRequests, type ScriptAccess } from "./script-requests.ts";
import { readScriptArguments } from "./script-tool.ts";

export interface ScriptParts {
  readonly runner: ScriptRunner;
  readonly clock: Clock;
  readonly access: ScriptAccess;
  /** The output guard over everything the script said; `details` says what it did. Never rejects. */
  readonly guard: (content: readonly ToolContent[]) => Promise<{ readonly content: readonly ToolContent[]; readonly details: JsonObject }>;
}

/** Never rejects. `details` is `{mode: "script", timeoutMs, error?, message?, calls?, callsOmitted?}` and the guard's. */
export async function runScript(call: Pick<AdapterCall, "args" | "signal" | "caller">, parts: ScriptParts): Promise<AdapterResult> {
  const read = readScriptArguments(call.args);
  if (!read.ok) return refused(read.error);
  const { code, timeoutMs } = read.value;

  const lifetime = new AbortController();
  const requests = createScriptRequests(parts.access, parts.clock, lifetime.signal);
  const { output, end } = await parts.runner.run({ code, owner: ownerOf(call.caller), timeoutMs, signal: call.signal, request: requests.request });
  // Before what is left is aborted: that it was cut off is what the trace has to say of it.
  const { calls, callsOmitted } = requests.trace();
  lifetime.abort(new Error("the script has ended"));

  const failure = failureOf(end, timeoutMs);
  const said = scriptContent(output, end.how === "returned" ? end.value : undefined);
  const guarded = await parts.guard(said);
  // Why it ended is beside the guard: it would cut the end of a long output, and with it the one sentence that matters.
  const content = failure === null ? guarded.content : [...guarded.content, { type: "text" as const, text: failure.message }];
  return {
    content: content.length === 0 ? [{ type: "text", text: "(no output)" }] : content,
    details: {
      mode: "script",
      ...(failure === null ? {} : { error: failure.error, message: failure.message }),
      timeoutMs,
      ...(calls.length === 0 ? {} : { calls }),
      ...(callsOmitted === 0 ? {} : { callsOmitted }),
      ...guarded.details,
    },
    isError: failure !== null,
  };
}

function ownerOf(caller: Caller): string {
  return caller.kind === "remote" ? caller.principalId : caller.kind;
}

function refused(message: string): AdapterResult {
  return { content: [{ type: "text", text: message }], details: { mode: "script", error: "invalid_arguments", message }, isError: true };
}

/** What a script throws may be as long as it likes. */
const MAX_MESSAGE_CHARS = 2_000;

function failureOf(end: ScriptEnd["end"], timeoutMs: number): { readonly error: string; readonly message: string } | null {
  switch (end.how) {
    case "returned":
      return null;
    case "threw":
      return { error: "script_error", message: end.message.slice(0, MAX_MESSAGE_CHARS) };
    case "timeout":
      return {
        error: "timeout",
        message: `mcpScript timed out after ${timeoutMs}ms. Calls that had begun may have had their effect. Do less in one script, or give a larger timeoutMs.`,
      };
    case "memory":
      return { error: "out_of_memory", message: "mcpScript was ended because it took too much memory. Keep less at once." };
    case "cancelled":
      return { error: "aborted", message: "mcpScript was cancelled." };
  }
}
