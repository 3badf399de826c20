/** The arguments of a call as they came, in any of their spellings, made one object that nothing changes any more. Pure. */
import type { JsonObject } from "../../../shared/json.ts";
import { parseJson } from "../../../shared/json.ts";
import { kindOf } from "../../../shared/kind-of.ts";
import { err, ok } from "../../../shared/result.ts";
import type { Result } from "../../../shared/result.ts";

/** Deeper arguments cannot be judged by a person, and recursion over them must end. */
const MAX_DEPTH = 100;

/**
 * [CL1] An object, the JSON text of one, or that text quoted as JSON once more; nothing at all is no arguments. The copy is frozen:
 * what is shown for approval is what is sent. The error is a sentence for the model.
 */
export function parseArguments(given: unknown): Result<JsonObject, string> {
  if (given === undefined || given === null || given === "") return ok(Object.freeze({}));
  if (typeof given !== "string") return toObject(given);
  const parsed = parseJson(given);
  if (parsed === undefined) return err(`${EXPECTED}, got text that is not JSON. Pass the object itself, like {"key": "value"}.`);
  if (typeof parsed !== "string") return parsed === null ? ok(Object.freeze({})) : toObject(parsed);
  const inner = parseJson(parsed);
  return toObject(inner !== undefined && typeof inner === "object" ? inner : parsed);
}

const EXPECTED = `"args" must be a JSON object`;

function toObject(value: unknown): Result<JsonObject, string> {
  if (!isPlainObject(value)) return err(`${EXPECTED}, got ${came(value)}. Pass an object of the tool's parameters by name.`);
  try {
    return ok(copyObject(value, "args", 0));
  } catch (error) {
    if (error instanceof NotJson) return err(error.message);
    throw error;
  }
}

/** What JSON cannot say, and where it stands. */
class NotJson extends Error {
  override readonly name = "NotJson";
}

function copyObject(value: object, path: string, depth: number): JsonObject {
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  // Never by assignment: a member called `__proto__` would become the prototype, which is sent and not shown.
  return Object.freeze(Object.fromEntries(members.map(([name, member]) => [name, copyValue(member, `${path}.${name}`, depth + 1)])));
}

function copyValue(value: unknown, path: string, depth: number): JsonObject[string] {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value + 0; // JSON has no -0.
  if (depth > MAX_DEPTH) throw new NotJson(`"args" is nested more than ${MAX_DEPTH} levels deep. Send a flatter object.`);
  if (Array.isArray(value)) return Object.freeze(value.map((item: unknown, index) => copyValue(item, `${path}[${index}]`, depth + 1)));
  if (isPlainObject(value)) return copyObject(value, path, depth);
  throw new NotJson(`"${path.slice(0, 200)}" must be a JSON value, got ${came(value)}.`);
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // Objects of another realm (a script's) have another Object.prototype; its own prototype is null like ours.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function came(value: unknown): string {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? "an object that JSON has no word for" : kindOf(value);
}
