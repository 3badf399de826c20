/** Small readings of a stranger's JSON Schema for whoever writes it down in words. Pure. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../shared/json.ts";
import { visibleLine } from "../../../shared/visible-text.ts";

const MAX_LITERAL = 100;
const MAX_NOTE = 160;
/** Real pointers name two or three members. */
const MAX_POINTER = 1000;
/** What else is worth a reader's time, in the order it is told. */
const CONSTRAINTS = [
  "format",
  "minimum",
  "exclusiveMinimum",
  "maximum",
  "exclusiveMaximum",
  "minLength",
  "maxLength",
  "pattern",
  "minItems",
  "maxItems",
];

/** A member of its own: what an object inherits is none of its keywords. */
export function keyword(schema: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(schema, name) ? schema[name] : undefined;
}

export function objectKeyword(schema: JsonObject, name: string): JsonObject | null {
  const value = keyword(schema, name);
  return isJsonObject(value) ? value : null;
}

export function listKeyword(schema: JsonObject, name: string): readonly JsonValue[] | null {
  const value = keyword(schema, name);
  return Array.isArray(value) ? (value as readonly JsonValue[]) : null;
}

/** `type` as a list; empty: none is given. */
export function typesOf(schema: JsonObject): readonly JsonValue[] {
  const type = keyword(schema, "type");
  if (type === undefined) return [];
  return listKeyword(schema, "type") ?? [type];
}

export function requiredOf(schema: JsonObject): ReadonlySet<JsonValue> {
  return new Set(listKeyword(schema, "required") ?? []);
}

/** What a local reference (`#/$defs/Name`) points at; undefined: nothing here, it is elsewhere, or it is too long to be one. */
export function referenced(root: JsonValue, reference: string): JsonValue | undefined {
  if (reference === "#") return root;
  if (!reference.startsWith("#/") || reference.length > MAX_POINTER) return undefined;
  let at: JsonValue | undefined = root;
  for (const part of reference.slice(2).split("/")) {
    const name = unescaped(part);
    if (Array.isArray(at)) at = (at as readonly JsonValue[])[Number(name)];
    else at = isJsonObject(at) ? keyword(at, name) : undefined;
  }
  return at;
}

/** A value in one line, as JSON; nothing in it hides or reorders text. */
export function literal(value: JsonValue): string {
  // Escapes only make it longer: what is cut off here would be cut off below.
  return visibleLine(JSON.stringify(typeof value === "string" ? value.slice(0, MAX_LITERAL) : value), MAX_LITERAL);
}

/** The beginning of its description, in one line; empty: it has none. */
export function noteOf(schema: JsonObject): string {
  const description = keyword(schema, "description");
  if (typeof description !== "string") return "";
  return visibleLine(
    description
      .slice(0, 4 * MAX_NOTE)
      .replace(/\s+/g, " ")
      .trim(),
    MAX_NOTE,
  );
}

/** Its default and what else is asked of a value, as name and value. */
export function constraintsOf(schema: JsonObject): (readonly [name: string, value: string])[] {
  return ["default", ...CONSTRAINTS].flatMap((name) => {
    const value = keyword(schema, name);
    return value === undefined ? [] : [[name, literal(value)] as const];
  });
}

/** RFC 6901 in a URI fragment. */
function unescaped(part: string): string {
  const plain = part.replaceAll("~1", "/").replaceAll("~0", "~");
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain; // A `%` that stands for itself.
  }
}
