/** `get_instructions`: the operating prompt for clients that show neither `instructions` nor prompts to their model. */
import { ok } from "../../shared/result.ts";
import type { ToolDescriptor } from "../../shared/tool.ts";
import { asGiven, prepareCall } from "./prepared-call.ts";
import type { ScopedTools } from "./tool-call.ts";

export const GET_INSTRUCTIONS: ToolDescriptor = {
  name: "get_instructions",
  title: "Get instructions",
  description:
    "Returns the operating instructions of this workstation: what the tools do, their rules, and the root directory. Read them once before you begin.",
  inputSchema: { type: "object", properties: {} },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
};

/** The same tools and, last, `get_instructions`. */
export function withInstructionsTool(tools: ScopedTools, instructions: () => string): ScopedTools {
  const source: ScopedTools = {
    list: () => [...tools.list(), GET_INSTRUCTIONS],
    silence: (name) => tools.silence?.(name),
    async call(call, scope) {
      if (call.name !== GET_INSTRUCTIONS.name) return tools.call(call, scope);
      return { content: [{ type: "text", text: instructions() }], isError: false };
    },
    prepare: async (call, scope) => (call.name === GET_INSTRUCTIONS.name ? ok(asGiven(source, call, scope)) : prepareCall(tools, call, scope)),
  };
  return source;
}
