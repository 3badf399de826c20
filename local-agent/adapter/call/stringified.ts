/** Arguments that a model wrote as JSON text where the tool wants an array or an object. Pure. */
import type { JsonObject, JsonValue } from "../../../shared/json.ts";
import { isJsonObject, parseJson } from "../../../shared/json.ts";

/** References are followed this far; a schema that needs more is taken to accept anything. */
const MAX_REFERENCES = 16;

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
  const types = acceptedTypes(field, root, MAX_REFERENCES);
  if (types === undefined || types.has("string")) return text;
  const parsed = parseJson(text);
  if (Array.isArray(parsed)) return types.has("array") ? parsed : text;
  return isJsonObject(parsed) && types.has("object") ? parsed : text;
}

/** Undefined: the schema does not tell, so that anything may be right. */
function acceptedTypes(schema: JsonValue, root: object, left: number): ReadonlySet<string> | undefined {
  if (!isJsonObject(schema) || left === 0) return undefined;
  const { type, $ref: reference, anyOf, oneOf } = schema;
  if (typeof reference === "string") return acceptedTypes(resolved(reference, root) ?? null, root, left - 1);
  if (typeof type === "string") return new Set([type]);
  if (Array.isArray(type)) return new Set(type.map(String));
  const either: unknown = anyOf ?? oneOf;
  if (!Array.isArray(either)) return undefined;
  const branches = either.slice(0, 100).map((branch: JsonValue) => acceptedTypes(branch, root, left - 1));
  const all = new Set<string>();
  for (const branch of branches) {
    if (branch === undefined) return undefined;
    for (const type of branch) all.add(type);
  }
  return all;
}

function resolved(reference: string, root: object): JsonValue | undefined {
  if (!reference.startsWith("#/")) return undefined;
  let at: JsonValue | undefined = root as JsonObject;
  for (const part of reference.slice(2).split("/")) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    at = isJsonObject(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  }
  return at;
}
