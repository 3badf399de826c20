/** What a call came to, as the host and the model are given it. */
import type { CallToolResult } from "@modelcontextprotocol/client";
import type { JsonObject, JsonValue } from "../../../shared/json.ts";
import type { Result } from "../../../shared/result.ts";
import type { ToolContent } from "../../../shared/tool.ts";
import type { AdapterResult } from "../adapter.ts";
import type { OutputGuardSettings } from "../config/server-definition.ts";
import type { OutputFiles } from "../ports.ts";
import type { CallFailure } from "./call-failure.ts";
import { resourceContent, toolContent } from "./content.ts";
import type { Answer } from "./invoke.ts";
import { guardContent, guardRawResult } from "./output-guard.ts";

export interface Presenter {
  readonly guard: OutputGuardSettings | null;
  readonly files: OutputFiles;
}

/** @param options `withRaw`: the raw result belongs into the details, where only the host sees it */
export async function presentCall(
  presenter: Presenter,
  called: Result<Answer, CallFailure>,
  options: { readonly details: JsonObject; readonly withRaw: boolean },
): Promise<AdapterResult> {
  if (!called.ok) return presentFailure(presenter, called.error, options.details);
  const { content, code } = await contentOf(called.value, presenter.files);
  const guarded = await guardContent(content, presenter.guard, presenter.files.keepText.bind(presenter.files));
  const raw = options.withRaw ? { mcpResult: await rawOf(called.value, presenter) } : {};
  const error = code === null ? {} : { error: code };
  const cut = guarded.cut === null ? {} : { outputGuard: guarded.cut };
  return { content: guarded.content, details: { ...options.details, ...error, ...raw, ...cut }, isError: code !== null };
}

/** [CL31] A code in the details, its meaning in the text. */
export async function presentFailure(presenter: Presenter, failure: CallFailure, details: JsonObject): Promise<AdapterResult> {
  const text: ToolContent = { type: "text", text: failure.message };
  const guarded = await guardContent([text], presenter.guard, presenter.files.keepText.bind(presenter.files));
  return { content: guarded.content, details: { ...details, ...failure.details, error: failure.code }, isError: true };
}

async function contentOf(answer: Answer, files: OutputFiles): Promise<{ readonly content: readonly ToolContent[]; readonly code: string | null }> {
  const keepBinary = files.keepBinary.bind(files);
  if (answer.kind === "resource") return { content: await resourceContent(answer.result, keepBinary), code: null };
  const content = await toolContent(answer.result, keepBinary);
  // [CL13] An upstream's own error is an error here.
  if (answer.result.isError === true) return { content: prefixed("Error: ", content), code: "tool_error" };
  if (answer.mismatch === null) return { content, code: null };
  const note = `Error: the tool ran, but its result does not fit its own output schema: ${answer.mismatch}. What it returned:`;
  return { content: [{ type: "text", text: note }, ...content], code: "call_failed" };
}

function prefixed(prefix: string, content: readonly ToolContent[]): readonly ToolContent[] {
  const [first, ...rest] = content;
  if (first?.type !== "text") return [{ type: "text", text: prefix.trimEnd() }, ...content];
  return [{ type: "text", text: `${prefix}${first.text}` }, ...rest];
}

function rawOf(answer: Answer, { guard, files }: Presenter): Promise<JsonValue> {
  return guardRawResult(jsonOf(answer.result), guard, files.keepText.bind(files));
}

function jsonOf(result: CallToolResult | Extract<Answer, { kind: "resource" }>["result"]): JsonValue {
  // It came as JSON.
  return result as unknown as JsonValue;
}
