/**
 * The fields of a form that an MCP server asks the person to fill in (elicitation, form mode), and reading what they gave. One
 * meaning for Pi's dialogs and for the page. Schemas: MCP 2025-11-25 and 2026-07-28, `PrimitiveSchemaDefinition`. Pure.
 */
import * as v from "valibot";
import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";
import { err, ok, type Result } from "./result.ts";

const FormChoice = v.object({ value: v.string(), title: v.string() });
type FormChoice = v.InferOutput<typeof FormChoice>;

const EVERY = {
  /** Key of the answer. */
  name: v.string(),
  title: v.string(),
  description: v.string(),
  required: v.boolean(),
};

/** `null` is a bound that is not set. */
export const FormField = v.variant("kind", [
  v.object({ ...EVERY, kind: v.literal("text"), format: v.nullable(v.string()), minLength: v.number(), maxLength: v.number(), initial: v.string() }),
  v.object({
    ...EVERY,
    kind: v.literal("number"),
    whole: v.boolean(),
    minimum: v.nullable(v.number()),
    maximum: v.nullable(v.number()),
    initial: v.string(),
  }),
  v.object({ ...EVERY, kind: v.literal("switch"), initial: v.boolean() }),
  v.object({ ...EVERY, kind: v.literal("choice"), choices: v.array(FormChoice), initial: v.string() }),
  v.object({
    ...EVERY,
    kind: v.literal("choices"),
    choices: v.array(FormChoice),
    minItems: v.number(),
    maxItems: v.number(),
    initial: v.array(v.string()),
  }),
]);
export type FormField = v.InferOutput<typeof FormField>;

/** What a person gave for a field, before it is read. */
export const GivenValue = v.union([v.string(), v.boolean(), v.array(v.string())]);
export type GivenValue = v.InferOutput<typeof GivenValue>;

/** A server that asks for more than anybody fills in. */
const MAX_FIELDS = 50;
const MAX_CHOICES = 500;
const MAX_TEXT = 64 * 1024;

/** The fields in their order; the error says what cannot be asked. */
export function formFields(schema: JsonObject): Result<FormField[], string> {
  const properties = schema["properties"];
  if (schema["type"] !== "object" || !isJsonObject(properties)) return err("the form is no object schema with properties");
  const names = Object.keys(properties);
  if (names.includes("__proto__")) return err('the form has a field that is named "__proto__"');
  if (names.length > MAX_FIELDS) return err(`the form has ${names.length} fields, ${MAX_FIELDS} are the most`);
  const required = new Set(textsOf(schema["required"]));
  const fields: FormField[] = [];
  for (const name of names) {
    const of = properties[name];
    const field = isJsonObject(of) ? fieldOf(of, { name, required: required.has(name), ...wordsOf(of, name) }) : undefined;
    if (field === undefined) return err(`the form's field ${JSON.stringify(name)} is of a kind that cannot be asked`);
    const count = "choices" in field ? field.choices.length : 0;
    if (count > MAX_CHOICES) return err(`the form's field ${JSON.stringify(name)} has ${count} choices, ${MAX_CHOICES} are the most`);
    fields.push(field);
  }
  return ok(fields);
}

/**
 * What the person gave for a field: text for text, number and choice, a boolean for a switch, a list for choices. Undefined: the field
 * is left out. The error says what was expected.
 */
export function readField(field: FormField, given: GivenValue | readonly string[]): Result<JsonValue | undefined, string> {
  if (field.kind === "switch") return typeof given === "boolean" ? ok(given) : err("yes or no is expected");
  if (field.kind === "choices") return readChoices(field, Array.isArray(given) ? given : []);
  const text = typeof given === "string" ? given : "";
  if (text === "" && !(field.kind === "text" && field.required && field.minLength === 0)) {
    return field.required ? err("it has to be filled in") : ok(undefined);
  }
  if (field.kind === "choice") return field.choices.some(({ value }) => value === text) ? ok(text) : err("one of the choices is expected");
  return field.kind === "number" ? readNumber(field, text) : readText(field, text);
}

function readChoices(field: Extract<FormField, { kind: "choices" }>, given: readonly string[]): Result<JsonValue | undefined, string> {
  const picked = field.choices.map(({ value }) => value).filter((value) => given.includes(value));
  if (picked.length === 0 && !field.required && field.minItems === 0) return ok(undefined);
  if (picked.length < field.minItems) return err(`at least ${field.minItems} of the choices are expected`);
  return picked.length > field.maxItems ? err(`at most ${field.maxItems} of the choices are expected`) : ok(picked);
}

function readNumber(field: Extract<FormField, { kind: "number" }>, text: string): Result<JsonValue, string> {
  const value = Number(text.trim());
  if (text.trim() === "" || !Number.isFinite(value)) return err(field.whole ? "a whole number is expected" : "a number is expected");
  if (field.whole && !Number.isSafeInteger(value)) return err("a whole number is expected");
  if (field.minimum !== null && value < field.minimum) return err(`a number of at least ${field.minimum} is expected`);
  return field.maximum !== null && value > field.maximum ? err(`a number of at most ${field.maximum} is expected`) : ok(value);
}

function readText(field: Extract<FormField, { kind: "text" }>, text: string): Result<JsonValue, string> {
  const length = Array.from(text).length;
  if (length < field.minLength) return err(`at least ${field.minLength} characters are expected`);
  if (length > field.maxLength) return err(`at most ${field.maxLength} characters are expected`);
  const expected = field.format === null || isOfFormat(field.format, text) ? undefined : FORMATS[field.format];
  return expected === undefined ? ok(text) : err(`${expected} is expected`);
}

const FORMATS: Readonly<Record<string, string>> = {
  email: "an e-mail address",
  uri: "a web address",
  date: "a date such as 2026-07-28",
  "date-time": "a time such as 2026-07-28T09:30:00Z",
};

function isOfFormat(format: string, text: string): boolean {
  switch (format) {
    case "email":
      return /^[^\s@]+@[^\s@]+$/.test(text);
    case "uri":
      return /^[a-z][a-z\d+.-]*:\S+$/i.test(text);
    case "date":
      return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));
    case "date-time":
      return /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}/.test(text) && !Number.isNaN(Date.parse(text));
    default:
      return true;
  }
}

type EveryField = Pick<FormField, "name" | "title" | "description" | "required">;

function fieldOf(of: JsonObject, every: EveryField): FormField | undefined {
  const choices = choicesOf(of);
  const type = textOf(of["type"]);
  switch (type) {
    case "boolean":
      return { ...every, kind: "switch", initial: of["default"] === true };
    case "number":
    case "integer":
      return { ...every, kind: "number", whole: type === "integer", ...rangeOf(of), initial: numberText(of["default"]) };
    case "string":
      if (choices !== undefined) return choices.length === 0 ? undefined : { ...every, kind: "choice", choices, initial: textOf(of["default"]) };
      return { ...every, kind: "text", format: textOf(of["format"]) || null, ...lengthsOf(of), initial: textOf(of["default"]) };
    case "array":
      return manyOf(of, every);
    default:
      return undefined;
  }
}

function manyOf(of: JsonObject, every: EveryField): FormField | undefined {
  const choices = isJsonObject(of["items"]) ? choicesOf(of["items"]) : undefined;
  if (choices === undefined || choices.length === 0) return undefined;
  const minItems = Math.max(sizeOf(of["minItems"], 0), 0);
  return { ...every, kind: "choices", choices, minItems, maxItems: sizeOf(of["maxItems"], choices.length), initial: textsOf(of["default"]) };
}

/** `enum` (with the older `enumNames`), or `oneOf`/`anyOf` of constants with titles. */
function choicesOf(of: JsonObject): FormChoice[] | undefined {
  const titled = of["oneOf"] ?? of["anyOf"];
  if (Array.isArray(titled)) {
    return titled.flatMap((choice: JsonValue) => {
      if (!isJsonObject(choice) || typeof choice["const"] !== "string") return [];
      return [{ value: choice["const"], title: textOf(choice["title"]) || choice["const"] }];
    });
  }
  if (!Array.isArray(of["enum"])) return undefined;
  const titles = textsOf(of["enumNames"]);
  return textsOf(of["enum"]).map((value, index) => ({ value, title: titles[index] ?? value }));
}

function wordsOf(of: JsonObject, name: string): { readonly title: string; readonly description: string } {
  return { title: textOf(of["title"]) || name, description: textOf(of["description"]) };
}

function rangeOf({ minimum, maximum }: JsonObject): { readonly minimum: number | null; readonly maximum: number | null } {
  return { minimum: typeof minimum === "number" ? minimum : null, maximum: typeof maximum === "number" ? maximum : null };
}

function lengthsOf(of: JsonObject): { readonly minLength: number; readonly maxLength: number } {
  return { minLength: sizeOf(of["minLength"], 0), maxLength: Math.min(sizeOf(of["maxLength"], MAX_TEXT), MAX_TEXT) };
}

function sizeOf(value: JsonValue | undefined, otherwise: number): number {
  return typeof value === "number" && Number.isFinite(value) ? value : otherwise;
}

function numberText(value: JsonValue | undefined): string {
  return typeof value === "number" ? String(value) : "";
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

function textsOf(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((item: JsonValue): item is string => typeof item === "string") : [];
}
