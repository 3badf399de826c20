/** A fake of `ToolSource`: each tool is a function; calls are recorded. */
import type { ToolCall, ToolDescriptor, ToolOutcome, ToolSource } from "../../shared/tool.ts";

export type ToolScript = (call: ToolCall) => ToolOutcome | Promise<ToolOutcome>;

export interface ScriptedTools extends ToolSource {
  readonly seen: ToolCall[];
}

export function scriptedTools(
  scripts: Readonly<Record<string, ToolScript>>,
  described: Readonly<Record<string, Partial<ToolDescriptor>>> = {},
): ScriptedTools {
  const seen: ToolCall[] = [];
  return {
    seen,
    list: () => Object.keys(scripts).map((name) => ({ ...descriptor(name), ...described[name] })),
    async call(call) {
      seen.push(call);
      const script = scripts[call.name];
      if (script === undefined) throw new Error(`no script for ${call.name}`);
      return script(call);
    },
  };
}

export function descriptor(name: string): ToolDescriptor {
  return {
    name,
    title: name,
    description: `the tool ${name}`,
    inputSchema: { type: "object", properties: { text: { type: "string" } } },
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  };
}

export function text(value: string): ToolOutcome {
  return { content: [{ type: "text", text: value }], isError: false };
}

/** Settles when the call is aborted, as a tool that obeys its signal does. */
export function untilAborted(call: ToolCall): Promise<ToolOutcome> {
  return new Promise((resolve) => {
    const stop = (): void => resolve({ content: [{ type: "text", text: "Command aborted" }], isError: true });
    if (call.signal.aborted) stop();
    else call.signal.addEventListener("abort", stop, { once: true });
  });
}
