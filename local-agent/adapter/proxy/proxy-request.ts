/** What a call of `mcp` asks for. A model fills in fields in many ways; what cannot be meant is answered with what to do instead. Pure. */
import type { JsonObject, JsonValue } from "../../../shared/json.ts";
import { isJsonObject, parseJson } from "../../../shared/json.ts";
import { err, ok } from "../../../shared/result.ts";
import type { Result } from "../../../shared/result.ts";
import { visibleLine } from "../../../shared/visible-text.ts";

export type ProxyRequest =
  | { readonly mode: "action"; readonly action: string }
  | { readonly mode: "call"; readonly tool: string; readonly args: JsonValue | undefined; readonly server: string | undefined }
  | { readonly mode: "connect" | "instructions" | "list"; readonly server: string }
  | { readonly mode: "describe"; readonly tool: string; readonly server: string | undefined }
  | SearchMode
  | { readonly mode: "status" };

export interface SearchMode {
  readonly mode: "search";
  readonly query: string;
  readonly server: string | undefined;
  readonly regex: boolean;
  readonly includeSchemas: boolean;
  readonly limit: number;
  readonly offset: number;
}

export interface RequestProblem {
  readonly code: "invalid_request" | "empty_query" | "invalid_search_mode";
  readonly message: string;
}

const TEXT_FIELDS = ["action", "tool", "connect", "describe", "instructions", "search", "server"] as const;
type TextField = (typeof TEXT_FIELDS)[number];
/** Known, though not all are offered: `searchMode`, `url` and `target` come from models that know another version of this tool. */
const FIELDS = new Set<string>([...TEXT_FIELDS, "args", "regex", "includeSchemas", "limit", "offset", "searchMode", "url", "target"]);
const LIMIT = 12;

/** [CL50] Where several fields are given, the first of action, tool, connect, describe, instructions, search, server decides. */
export function readRequest(given: JsonObject): Result<ProxyRequest, RequestProblem> {
  const stray = Object.keys(given).find((name) => !FIELDS.has(name));
  if (stray !== undefined) return err(strayField(stray, given));
  const texts: Partial<Record<TextField, string>> = {};
  for (const field of TEXT_FIELDS) {
    const value = given[field];
    if (value === undefined || value === null) continue;
    if (typeof value !== "string") return err(invalid(`"${field}" must be text, got ${JSON.stringify(value).slice(0, 100)}.`));
    if (value.trim() !== "") texts[field] = value.trim();
  }
  return chosen(texts, given);
}

function chosen(texts: Partial<Record<TextField, string>>, given: JsonObject): Result<ProxyRequest, RequestProblem> {
  const { action, tool, connect, describe, instructions, search, server } = texts;
  if (action !== undefined) return ok({ mode: "action", action });
  if (tool !== undefined) return ok({ mode: "call", tool, args: given["args"], server });
  const misplaced = misplacedFields(given["args"]);
  if (misplaced !== undefined) return err(misplaced);
  if (connect !== undefined) return ok({ mode: "connect", server: connect });
  if (describe !== undefined) return ok({ mode: "describe", tool: describe, server });
  if (instructions !== undefined) return ok({ mode: "instructions", server: instructions });
  const wantsSearch = search !== undefined || (given["search"] === "" && onlySearch(given));
  if (wantsSearch) return searchMode(search ?? "", server, given);
  return ok(server === undefined ? { mode: "status" } : { mode: "list", server });
}

/** An empty search is a mistake when nothing else is said; models that fill in every field mean nothing by it. */
function onlySearch(given: JsonObject): boolean {
  return Object.entries(given).every(([name, value]) => name === "search" || value !== "");
}

function searchMode(query: string, server: string | undefined, given: JsonObject): Result<SearchMode, RequestProblem> {
  const { searchMode: kind } = given;
  if (kind !== undefined && kind !== null && kind !== "" && kind !== "lexical") {
    return err({
      code: "invalid_search_mode",
      message: `"searchMode" can only be "lexical" here, got ${JSON.stringify(kind).slice(0, 100)}. Leave it out.`,
    });
  }
  if (query === "" && server === undefined) {
    return err({
      code: "empty_query",
      message: '"search" is empty. Say in a few words what the tool should do, or name a server with {server: "name"}.',
    });
  }
  return ok({
    mode: "search",
    query,
    server,
    regex: truth(given["regex"], false),
    includeSchemas: truth(given["includeSchemas"], true),
    limit: count(given["limit"], LIMIT),
    offset: count(given["offset"], 0),
  });
}

/** [CL51] `args` belongs to a tool. Often it holds what should stand beside it. */
function misplacedFields(args: JsonValue | undefined): RequestProblem | undefined {
  if (args === undefined || args === null || args === "") return undefined;
  const held = typeof args === "string" ? parseJson(args) : args;
  const inner = typeof held === "string" ? parseJson(held) : held;
  if (isJsonObject(inner) && Object.keys(inner).length === 0) return undefined;
  const named = isJsonObject(inner) ? Object.keys(inner).filter((name) => FIELDS.has(name)) : [];
  if (named.length === 0) return invalid('"args" was given without "tool". Name the tool beside it: mcp({tool: "name", args: {…}}).');
  const fields = named.map((name) => `"${name}"`).join(", ");
  const [first] = named;
  const example = isJsonObject(inner) && first !== undefined ? `mcp({${first}: ${JSON.stringify(inner[first]).slice(0, 200)}})` : "";
  return invalid(`${fields} must stand at the top level, not inside "args": ${example}.`);
}

function strayField(name: string, given: JsonObject): RequestProblem {
  const shown = `"${visibleLine(name, 100)}"`;
  const isCall = typeof given["tool"] === "string" && given["tool"] !== "";
  const advice = isCall
    ? `A tool's own parameters belong into "args": mcp({tool: ${JSON.stringify(given["tool"]).slice(0, 200)}, args: {${shown}: …}}).`
    : 'To find a tool: mcp({search: "what you need"}). To call one: mcp({tool: "name", args: {…}}).';
  return invalid(`${shown} is no field of mcp. ${advice}`);
}

function invalid(message: string): RequestProblem {
  return { code: "invalid_request", message };
}

function truth(value: JsonValue | undefined, otherwise: boolean): boolean {
  if (value === "true") return true;
  if (value === "false") return false;
  return typeof value === "boolean" ? value : otherwise;
}

function count(value: JsonValue | undefined, otherwise: number): number {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? Math.trunc(number) : otherwise;
}
