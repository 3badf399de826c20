/** `mcp({describe})`: one tool, as much as is known of it. */
import type { AdapterCall, AdapterResult } from "../../adapter.ts";
import { presentFailure } from "../../call/present.ts";
import { describeParameters } from "../../catalog/describe-parameters.ts";
import type { CatalogEntry } from "../../catalog/upstream-catalog.ts";
import type { ProxyParts } from "../proxy-parts.ts";
import { quoted } from "../proxy-parts.ts";
import { resolveTool } from "../resolve-tool.ts";
import { indented, takesNothing } from "../tool-lines.ts";
import { answerText } from "./answer.ts";

export async function describeMode(
  asked: { readonly tool: string; readonly server: string | undefined },
  parts: ProxyParts,
  call: AdapterCall,
): Promise<AdapterResult> {
  const found = await resolveTool({ name: asked.tool, server: asked.server }, parts, call);
  if (!found.ok) return presentFailure(parts.presenter, found.error, { mode: "describe", tool: asked.tool });
  const entry = found.value;
  const details = { mode: "describe", tool: entry.displayed, server: entry.server };
  return answerText(parts.presenter, textOf(entry, parts.needsApproval(entry)), details);
}

function textOf(entry: CatalogEntry, needsApproval: boolean): string {
  const { heading, text } = describeParameters(entry.inputSchema);
  return [
    `${entry.displayed}${needsApproval ? " (requires approval)" : ""}`,
    `Server: ${quoted(entry.server)}${entry.freshness === "stale" ? " (from an old list, which a call makes anew)" : ""}`,
    ...(entry.resourceUri === null ? [] : [`Reads the resource ${quoted(entry.resourceUri)}`]),
    "",
    ...(entry.description === "" ? (entry.title === null ? [] : [entry.title, ""]) : [entry.description, ""]),
    ...(takesNothing(entry.inputSchema) ? ["Its schema names no parameters."] : [`${heading}:`, indented(text)]),
    ...hints(entry),
  ].join("\n");
}

function hints({ annotations }: CatalogEntry): readonly string[] {
  const said = [
    ...(annotations?.readOnlyHint === true ? ["only reads"] : []),
    ...(annotations?.destructiveHint === true && annotations.readOnlyHint !== true ? ["may destroy"] : []),
    ...(annotations?.idempotentHint === true ? ["may be repeated"] : []),
  ];
  return said.length === 0 ? [] : ["", `The server says of it: ${said.join(", ")}.`];
}
