/** One line that says what a call is about, for the timeline. Made from the client's arguments, so: bounded, and nothing in it is hidden. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../shared/json.ts";
import { visibleLine } from "../../shared/visible-text.ts";

export const MAX_SUMMARY_CHARS = 300;

/** Pure. Unknown tools show their arguments as `name=value`; a missing or odd argument never throws. */
export function summariseArguments(tool: string, args: JsonObject): string {
  const summary = SUMMARIES.get(tool)?.(args) ?? listArguments(args);
  return visibleLine(summary.trim(), MAX_SUMMARY_CHARS);
}

type Summary = (args: JsonObject) => string | undefined;

/** A Map: a tool may be called `constructor`. */
const SUMMARIES: ReadonlyMap<string, Summary> = new Map<string, Summary>([
  ["bash", (args) => text(args["command"])],
  ["powershell", (args) => text(args["command"])],
  ["read", (args) => withRange(text(args["path"]), args)],
  ["write", (args) => withNote(text(args["path"]), size(args["content"]))],
  ["edit", (args) => withNote(text(args["path"]), edits(args))],
  ["ls", (args) => text(args["path"]) ?? "."],
  ["grep", (args) => search(args)],
  ["find", (args) => search(args)],
]);

function withRange(path: string | undefined, args: JsonObject): string | undefined {
  if (path === undefined) return undefined;
  const offset = args["offset"];
  const limit = args["limit"];
  if (typeof offset !== "number" && typeof limit !== "number") return path;
  const from = typeof offset === "number" ? offset : 1;
  return typeof limit === "number" ? `${path}:${from}–${from + limit - 1}` : `${path}:${from}`;
}

function withNote(path: string | undefined, note: string | undefined): string | undefined {
  return path === undefined || note === undefined ? path : `${path} · ${note}`;
}

function size(content: JsonValue | undefined): string | undefined {
  if (typeof content !== "string") return undefined;
  const lines = content === "" ? 0 : content.split("\n").length - (content.endsWith("\n") ? 1 : 0);
  return lines === 1 ? "1 line" : `${lines} lines`;
}

function edits(args: JsonObject): string | undefined {
  const list = args["edits"];
  const count = Array.isArray(list) ? list.length : 1;
  return count === 1 ? "1 edit" : `${count} edits`;
}

function search(args: JsonObject): string | undefined {
  const pattern = text(args["pattern"]);
  if (pattern === undefined) return undefined;
  const where = text(args["path"]) ?? ".";
  const glob = text(args["glob"]);
  return `${pattern} in ${where}${glob === undefined ? "" : ` (${glob})`}`;
}

function listArguments(args: JsonObject): string {
  // Cut each value first: a summary must not cost more than it shows.
  return Object.entries(args)
    .slice(0, 12)
    .map(([name, value]) => `${name.slice(0, 60)}=${shortValue(value)}`)
    .join(" ");
}

function shortValue(value: JsonValue): string {
  if (typeof value === "string") return value.slice(0, MAX_SUMMARY_CHARS);
  if (Array.isArray(value)) return `[${value.length}]`;
  return isJsonObject(value) ? "{…}" : JSON.stringify(value);
}

function text(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}
