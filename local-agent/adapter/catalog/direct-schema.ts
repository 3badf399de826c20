/** A tool's parameters as model providers take them. Pure. */
import type { JsonObject } from "../../../shared/json.ts";
import { isJsonObject } from "../../../shared/json.ts";
import type { CatalogEntry } from "./upstream-catalog.ts";

/**
 * The schema a tool of its own is registered with. Providers refuse a whole request for a dialect they do not know or for members that are no
 * JSON Schema (`~…` marks of schema builders), so these are left out; what is not an object's schema becomes that of one without members.
 */
export function directSchema(schema: CatalogEntry["inputSchema"]): JsonObject {
  const { $schema: _dialect, additionalProperties: _open, ...kept } = schema as JsonObject;
  const clean = withoutMarks(kept);
  if (!isJsonObject(clean) || clean["type"] !== "object") return { type: "object", properties: {} };
  return isJsonObject(clean["properties"]) ? clean : { ...clean, properties: {} };
}

/** Names under `properties` are the tool's own, whatever they begin with. */
function withoutMarks(value: unknown, isNames = false): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutMarks(item));
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([name]) => isNames || !name.startsWith("~"));
  return Object.fromEntries(
    kept.map(([name, member]) => [name, VALUES.has(name) && !isNames ? member : withoutMarks(member, !isNames && NAMED.has(name))]),
  );
}

const NAMED = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
/** These hold values, not schemas. */
const VALUES = new Set(["const", "enum", "default", "examples"]);
