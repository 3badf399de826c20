/** The tool `mcpScript` as a model sees it, and its arguments. */
import * as v from "valibot";
import type { JsonObject } from "../../../shared/json.ts";
import { err, ok, type Result } from "../../../shared/result.ts";
import type { OfferedTool } from "../adapter.ts";

const DEFAULT_TIMEOUT_MS = 30_000;
/** A script that waits for a person's answers may take long; for ever it may not. */
const MAX_TIMEOUT_MS = 3_600_000;
const MAX_CODE_CHARS = 1_048_576;

/** Its bytes depend on nothing. */
export const SCRIPT_TOOL: OfferedTool = {
  name: "mcpScript",
  title: "MCP script",
  description: [
    "Runs JavaScript that makes several MCP calls in one go: loop, filter, chain, fan out. For one call use mcp.",
    "The code is the body of an async function; plain ECMAScript with these globals and nothing of Node or the Web:",
    "await tools.search({query, server?, limit?, offset?}) → {items: [{path, name, server, description?}], total, hasMore, nextOffset};",
    "await tools.describe({path}) → {path, name, server, inputTypeScript, outputSchema?} or {path, error};",
    "await tools.call(path, args), or tools.<path>(args) → {ok: true, data} or {ok: false, error: {code, message}}; data is the MCP result: look at data.structuredContent, then at the text in data.content;",
    "emit(value) and console.log(…) are shown before the value it returns; setTimeout.",
    "Return only what you need.",
  ].join("\n"),
  inputSchema: {
    type: "object",
    properties: {
      code: { type: "string", description: "JavaScript; may await and return" },
      timeoutMs: { type: "number", minimum: 1, maximum: MAX_TIMEOUT_MS, description: `Ended then; default ${DEFAULT_TIMEOUT_MS}` },
    },
    required: ["code"],
  },
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  promptSnippet: "Make several MCP calls in one JavaScript request (loop, filter, chain)",
};

const Arguments = v.object(
  {
    code: v.pipe(
      v.string(expected("code", "a string of JavaScript")),
      v.maxLength(
        MAX_CODE_CHARS,
        ({ received }) => `"code" must have at most ${MAX_CODE_CHARS} characters, got ${received}: split it into several scripts.`,
      ),
    ),
    timeoutMs: v.optional(
      v.pipe(
        v.number(expected("timeoutMs", "a number of milliseconds")),
        v.minValue(1, expected("timeoutMs", "at least 1")),
        v.maxValue(MAX_TIMEOUT_MS, expected("timeoutMs", `at most ${MAX_TIMEOUT_MS}`)),
      ),
      DEFAULT_TIMEOUT_MS,
    ),
  },
  '"code" must be a string of JavaScript, got nothing.',
);

export interface ScriptArguments {
  readonly code: string;
  readonly timeoutMs: number;
}

/** The error is a sentence for the model. */
export function readScriptArguments(args: JsonObject): Result<ScriptArguments, string> {
  const read = v.safeParse(Arguments, args);
  if (!read.success) return err(read.issues[0].message);
  return ok({ code: read.output.code, timeoutMs: Math.floor(read.output.timeoutMs) });
}

function expected(name: string, what: string): (issue: { readonly received: string }) => string {
  return ({ received }) => `"${name}" must be ${what}, got ${received.length > 80 ? "something longer" : received}.`;
}
