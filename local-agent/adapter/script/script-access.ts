/** What a script can do: the same search, description and calls as `mcp`, as values rather than texts. */
import type { JsonObject, JsonValue } from "../../../shared/json.ts";
import type { AdapterCall } from "../adapter.ts";
import type { Answer } from "../call/invoke.ts";
import { parameterLines } from "../catalog/parameter-lines.ts";
import { parameterShape } from "../catalog/parameter-shape.ts";
import type { CatalogEntry } from "../catalog/upstream-catalog.ts";
import { findTools } from "../proxy/modes/search.ts";
import type { ProxyParts } from "../proxy/proxy-parts.ts";
import { resolveTool } from "../proxy/resolve-tool.ts";
import type { ScriptAccess, ScriptCallAnswer } from "./script-requests.ts";

export function scriptAccess(call: AdapterCall, parts: ProxyParts): ScriptAccess {
  const { caller, callId, onProgress } = call;
  return {
    async search({ query, server, limit, offset }) {
      const found = await findTools({ query, server: server ?? undefined, regex: false, limit, offset }, parts);
      if (!found.ok) return { items: [], total: 0, hasMore: false, nextOffset: null, error: { ...found.error } };
      const { hits, total, nextOffset } = found.value;
      return { items: hits.map(({ entry }) => itemOf(entry)), total, hasMore: nextOffset !== null, nextOffset };
    },
    async describe(path, signal) {
      const found = await resolveTool({ name: path }, parts, { signal, caller });
      return found.ok
        ? descriptionOf(found.value)
        : { path, error: { code: found.error.code, message: found.error.message, ...found.error.details } };
    },
    async call(path, args, signal) {
      const found = await resolveTool({ name: path }, parts, { signal, caller });
      if (!found.ok) return failed(found.error.code, found.error.message);
      const called = await parts.invoke({ entry: found.value, args, origin: "script", caller, callId, signal, onProgress });
      return called.ok ? answerOf(called.value) : failed(called.error.code, called.error.message);
    },
  };
}

function itemOf({ displayed, original, server, description }: CatalogEntry): JsonObject {
  return { path: displayed, name: original, server, ...(description === "" ? {} : { description }) };
}

function descriptionOf(entry: CatalogEntry): JsonObject {
  const shape = parameterShape(entry.inputSchema);
  return {
    ...itemOf(entry),
    ...(shape === null ? { inputGuidance: parameterLines(entry.inputSchema) } : { inputTypeScript: shape }),
    ...(entry.outputSchema === null || entry.outputSchema === undefined
      ? {}
      : { outputSchemaTarget: "data.structuredContent", outputSchema: entry.outputSchema as unknown as JsonValue }),
  };
}

function answerOf(answer: Answer): ScriptCallAnswer {
  const data = answer.result as unknown as JsonValue;
  if (answer.kind === "resource") return { ok: true, data };
  if (answer.result.isError === true) return failed("tool_error", textOf(answer.result));
  if (answer.mismatch === null) return { ok: true, data };
  return failed("call_failed", `The tool ran, but its result does not fit its own output schema: ${answer.mismatch}`);
}

function textOf({ content }: Extract<Answer, { kind: "tool" }>["result"]): string {
  const said = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  return said === "" ? "The tool says that it failed, and not why." : said;
}

function failed(code: string, message: string): ScriptCallAnswer {
  return { ok: false, error: { code, message } };
}
