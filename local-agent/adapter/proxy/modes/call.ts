/** `mcp({tool, args})`: one call. */
import type { JsonValue } from "../../../../shared/json.ts";
import type { AdapterCall, AdapterResult } from "../../adapter.ts";
import { presentCall, presentFailure } from "../../call/present.ts";
import type { ProxyParts } from "../proxy-parts.ts";
import { resolveTool } from "../resolve-tool.ts";

export async function callMode(
  asked: { readonly tool: string; readonly args: JsonValue | undefined; readonly server: string | undefined },
  parts: ProxyParts,
  call: AdapterCall,
): Promise<AdapterResult> {
  const { caller, callId, signal, onProgress } = call;
  const found = await resolveTool({ name: asked.tool, server: asked.server }, parts, call);
  if (!found.ok) return presentFailure(parts.presenter, found.error, { mode: "call", tool: asked.tool });
  const entry = found.value;
  const called = await parts.invoke({ entry, args: asked.args, origin: "proxy", caller, callId, signal, onProgress });
  const what = entry.resourceUri === null ? { canonicalTool: entry.displayed } : { resourceUri: entry.resourceUri };
  // Nobody but the host of this process sees details; for a remote client a file would be written for nothing.
  return presentCall(parts.presenter, called, {
    details: { mode: "call", server: entry.server, tool: entry.original, ...what },
    withRaw: caller.kind === "pi",
  });
}
