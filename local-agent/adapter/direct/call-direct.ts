/** One call of a direct tool. */
import type { AdapterCall, AdapterResult, DirectTool } from "../adapter.ts";
import { presentCall, presentFailure } from "../call/present.ts";
import type { ProxyParts } from "../proxy/proxy-parts.ts";
import { quoted } from "../proxy/proxy-parts.ts";

/** [CL86] Its details are lean: a host keeps them with every message. */
export async function callDirect(name: string, call: AdapterCall, parts: ProxyParts, tools: readonly DirectTool[]): Promise<AdapterResult> {
  const { caller, callId, signal, onProgress } = call;
  const tool = tools.find((each) => each.name === name);
  if (tool === undefined) {
    const message = `${quoted(name)} is not offered any more. mcp({search: "what you need"}) finds what is.`;
    return presentFailure(parts.presenter, { code: "tool_not_found", message }, { tool: name });
  }
  // What it is now counts for the call; what was registered may be of an earlier list.
  const entry = parts.view.current(tool.entry) ?? tool.entry;
  const called = await parts.invoke({ entry, args: call.args, origin: "direct", caller, callId, signal, onProgress });
  return presentCall(parts.presenter, called, {
    details: { server: entry.server, tool: entry.original },
    withRaw: caller.kind === "pi" && parts.config.settings.directToolResultDetails === "bounded",
  });
}
