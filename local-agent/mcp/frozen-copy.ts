/** A copy of a call's arguments that nothing can change any more: what a person is shown is what is run. */
import type { JsonObject, JsonValue } from "../../shared/json.ts";

/** Deeper arguments cannot be shown in a way that a person could judge. */
const MAX_DEPTH = 100;

/** `undefined` when they are nested too deeply. Members without a value are left out. */
export function frozenCopy(args: JsonObject): JsonObject | undefined {
  try {
    return copyObject(args, 0);
  } catch (error) {
    if (error instanceof TooDeep) return undefined;
    throw error;
  }
}

class TooDeep extends Error {
  override readonly name = "TooDeep";
}

function copyObject(value: JsonObject, depth: number): JsonObject {
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  // Never by assignment: a member called `__proto__` would become the prototype, which is run and not shown.
  return Object.freeze(Object.fromEntries(members.map(([name, member]) => [name, copyValue(member, depth + 1)])));
}

function copyValue(value: JsonValue, depth: number): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) throw new TooDeep();
  if (isArray(value)) return Object.freeze(value.map((item) => copyValue(item, depth + 1)));
  return copyObject(value, depth);
}

function isArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
