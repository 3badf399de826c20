/** A stranger's JSON Schema, copied within bounds, with a counter at every reference. Pure. */
import type { JsonObject, JsonValue } from "../../../shared/json.ts";
import { isJsonObject } from "../../../shared/json.ts";

/** Counts one followed reference when a value is checked (json-schema.ts). */
export const STEP_KEYWORD = "pi-relay-step";

/** More is no description of arguments, and compiling it would hold up everybody else. */
const MAX_NODES = 4_000;
const MAX_DEPTH = 64;

/** What these hold are values, not schemas. */
const VALUES = new Set(["const", "enum", "default", "examples", "example"]);
/** What these hold are schemas by name: a name is no keyword. */
const BY_NAME = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"]);

export interface BoundedSchema {
  readonly schema: object;
  /** How many parts it has. */
  readonly nodes: number;
}

/** Undefined: too large, too deep, or built in circles. */
export function boundedSchema(schema: object): BoundedSchema | undefined {
  let nodes = 1;
  try {
    const copy = copySchema(schema as JsonObject, 0);
    return { schema: copy, nodes };
  } catch (error) {
    if (error instanceof OutOfBounds) return undefined;
    throw error;
  }

  function copySchema(value: JsonObject, depth: number): JsonObject {
    const copied = Object.entries(value).map(([keyword, held]) => [keyword, copyHeld(keyword, held, depth + 1)]);
    if (typeof value["$ref"] === "string" || typeof value["$dynamicRef"] === "string") copied.push([STEP_KEYWORD, true]);
    return Object.fromEntries(copied) as JsonObject;
  }

  function copyHeld(keyword: string, held: JsonValue, depth: number): JsonValue {
    if (BY_NAME.has(keyword) && isJsonObject(held)) {
      return Object.fromEntries(Object.entries(held).map(([name, schema]) => [name, copyAny(schema, depth + 1, VALUES.has(keyword))]));
    }
    return copyAny(held, depth, VALUES.has(keyword));
  }

  function copyAny(value: JsonValue, depth: number, isValue: boolean): JsonValue {
    nodes += 1;
    if (nodes > MAX_NODES || depth > MAX_DEPTH) throw new OutOfBounds();
    if (Array.isArray(value)) return value.map((item: JsonValue) => copyAny(item, depth + 1, isValue));
    if (!isJsonObject(value)) return value;
    if (!isValue) return copySchema(value, depth);
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copyAny(member, depth + 1, true)]));
  }
}

class OutOfBounds extends Error {
  override readonly name = "OutOfBounds";
}
