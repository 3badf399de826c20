/** `get_instructions`: the operating prompt for clients that show neither `instructions` nor prompts to their model. */
import type { ToolDescriptor, ToolSource } from "../../shared/tool.ts";

const GET_INSTRUCTIONS: ToolDescriptor = {
  name: "get_instructions",
  title: "Get instructions",
  description:
    "Returns the operating instructions of this workstation: what the tools do, their rules, and the root directory. Read them once before you begin.",
  inputSchema: { type: "object", properties: {} },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
};

/** The same tools and, last, `get_instructions`. */
export function withInstructionsTool(tools: ToolSource, instructions: () => string): ToolSource {
  return {
    list: () => [...tools.list(), GET_INSTRUCTIONS],
    async call(call) {
      if (call.name !== GET_INSTRUCTIONS.name) return tools.call(call);
      return { content: [{ type: "text", text: instructions() }], isError: false };
    },
  };
}
