/**
 * `x-mcp-header` in an upstream's schemas says which arguments its own gateway wants in headers. That is between us and the upstream:
 * a client that obeyed it would put them into headers that nobody here compares with the body.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../shared/json.ts";

const HINT = "x-mcp-header";
const MAX_DEPTH = 64;

export function withoutHeaderHints(schema: JsonObject): JsonObject {
  return JSON.stringify(schema).includes(HINT) ? (strip(schema, "schema", 0) as JsonObject) : schema;
}

/** `names`: the members' names are an author's choice, so one that is called like the hint is none. */
function strip(value: JsonValue, as: "schema" | "names", depth: number): JsonValue {
  if (depth > MAX_DEPTH || typeof value !== "object" || value === null) return value;
  if (!isJsonObject(value)) return value.map((item) => strip(item, "schema", depth + 1));
  const members = Object.entries(value).filter(([name]) => as === "names" || name !== HINT);
  return Object.fromEntries(
    members.map(([name, member]) => [name, strip(member, as === "schema" && name === "properties" ? "names" : "schema", depth + 1)]),
  );
}
