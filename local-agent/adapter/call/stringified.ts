/** Arguments that a model wrote as JSON text where the tool wants an array or an object. Pure. */
import type { JsonObject, JsonValue } from "../../../shared/json.ts";
import { isJsonObject, parseJson } from "../../../shared/json.ts";

/** Parts of a field's schema that are looked at, also again: branches that refer to each other would double without end. Beyond, anything may be right. */
const MAX_PARTS = 1_000;
/** Of one part: names of types, and characters of a reference. */
const MAX_TYPES = 100;
const MAX_REFERENCE = 1_000;

/**
 * [CL4] Reads a field's text as JSON, once, where its schema takes no text but takes what the text says. Everything else stays as it is,
 * so that a text that may be one is never touched.
 */
export function recoverStringified(schema: object, args: JsonObject): JsonObject {
  const properties: unknown = Reflect.get(schema, "properties");
  if (!isJsonObject(properties)) return args;
  const recovered = Object.entries(args).map(([name, value]): [string, JsonValue] => {
    const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return [name, typeof value === "string" && field !== undefined ? recovered1(field, value, schema) : value];
  });
  return recovered.some(([name, value]) => args[name] !== value) ? Object.freeze(Object.fromEntries(recovered)) : args;
}

function recovered1(field: JsonValue, text: string, root: object): JsonValue {
  const types = acceptedTypes(field, root, { parts: MAX_PARTS });
  if (types === undefined || types.has("string")) return text;
  const parsed = parseJson(text);
  if (Array.isArray(parsed)) return types.has("array") ? parsed : text;
  return isJsonObject(parsed) && types.has("object") ? parsed : text;
}

/** Undefined: the schema does not tell, so that anything may be right. */
function acceptedTypes(schema: JsonValue, root: object, left: { parts: number }): ReadonlySet<string> | undefined {
  left.parts -= 1;
  if (!isJsonObject(schema) || left.parts < 0) return undefined;
  const { type, $ref: reference, anyOf, oneOf } = schema;
  if (typeof reference === "string") return acceptedTypes(resolved(reference, root) ?? null, root, left);
  if (typeof type === "string") return new Set([type]);
  if (Array.isArray(type)) return type.length > MAX_TYPES ? undefined : new Set(type.map(String));
  const either: unknown = anyOf ?? oneOf;
  if (!Array.isArray(either)) return undefined;
  const all = new Set<string>();
  for (const branch of either) {
    const types = acceptedTypes(branch, root, left);
    if (types === undefined) return undefined;
    for (const type of types) all.add(type);
  }
  return all;
}

function resolved(reference: string, root: object): JsonValue | undefined {
  if (!reference.startsWith("#/") || reference.length > MAX_REFERENCE) return undefined;
  let at: JsonValue | undefined = root as JsonObject;
  for (const part of reference.slice(2).split("/")) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    at = isJsonObject(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  }
  return at;
}
