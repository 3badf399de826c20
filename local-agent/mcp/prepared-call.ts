/** Calls as they will run, whatever source runs them. */
import { ok, type Result } from "../../shared/result.ts";
import type { PreparedCall, ToolCall, ToolOutcome } from "../../shared/tool.ts";
import type { CallScope, ScopedTools } from "./tool-call.ts";

export function prepareCall(tools: ScopedTools, call: ToolCall, scope: CallScope): Promise<Result<PreparedCall, ToolOutcome>> {
  return tools.prepare === undefined ? Promise.resolve(ok(asGiven(tools, call, scope))) : tools.prepare(call, scope);
}

/** For tools that do not change what they are given. */
export function asGiven(tools: ScopedTools, call: ToolCall, scope: CallScope): PreparedCall {
  return { name: call.name, args: call.args, execute: () => tools.call(call, scope), discard: () => {} };
}
