import { assert as holds, dictionary, jsonValue, property, string } from "fast-check";
import { expect, test } from "vitest";
import { formFields, readField, type FormField } from "../../../shared/form-fields.ts";
import type { JsonObject } from "../../../shared/json.ts";

function only(schema: JsonObject, required: readonly string[] = []): FormField {
  const fields = formFields({ type: "object", properties: { it: schema }, required: [...required] });
  if (!fields.ok || fields.value[0] === undefined) throw new Error("no field");
  return fields.value[0];
}

test.each<[string, JsonObject, Partial<FormField>]>([
  [
    "text",
    { type: "string", title: "Name", description: "of the branch", minLength: 2 },
    { kind: "text", title: "Name", description: "of the branch" },
  ],
  ["a number", { type: "integer", minimum: 1, maximum: 9, default: 3 }, { kind: "number", initial: "3" }],
  ["a switch", { type: "boolean", default: true }, { kind: "switch", initial: true }],
  ["a choice", { type: "string", enum: ["a", "b"], enumNames: ["Ay"] }, { kind: "choice", initial: "" }],
  ["a titled choice", { type: "string", oneOf: [{ const: "a", title: "Ay" }], default: "a" }, { kind: "choice", initial: "a" }],
  ["several choices", { type: "array", items: { type: "string", enum: ["a"] }, default: ["a"] }, { kind: "choices", initial: ["a"] }],
])("%s is a field with its words and what it begins with", (_kind, schema, expected) => {
  expect(only(schema)).toMatchObject(expected);
});

test("choices without a title are called by their value", () => {
  const field = only({ type: "string", enum: ["a", "b"], enumNames: ["Ay"] });
  expect(field.kind === "choice" ? field.choices : []).toEqual([
    { value: "a", title: "Ay" },
    { value: "b", title: "b" },
  ]);
});

test.each<[JsonObject, string, unknown]>([
  [{ type: "integer", minimum: 1, maximum: 9 }, "4", 4],
  [{ type: "integer" }, "4.5", "a whole number is expected"],
  [{ type: "integer" }, "many", "a whole number is expected"],
  [{ type: "number", minimum: 1 }, "0.5", "a number of at least 1 is expected"],
  [{ type: "number", maximum: 1 }, "1e3", "a number of at most 1 is expected"],
  [{ type: "string", minLength: 3 }, "ab", "at least 3 characters are expected"],
  [{ type: "string", maxLength: 1 }, "💡", "💡"],
  [{ type: "string", format: "email" }, "ada@example.org", "ada@example.org"],
  [{ type: "string", format: "email" }, "ada", "an e-mail address is expected"],
  [{ type: "string", format: "uri" }, "no address", "a web address is expected"],
  [{ type: "string", format: "date" }, "2026-13-01", "a date such as 2026-07-28 is expected"],
  [{ type: "string", format: "date-time" }, "2026-07-28T09:30:00Z", "2026-07-28T09:30:00Z"],
  [{ type: "string", enum: ["a"] }, "b", "one of the choices is expected"],
  [{ type: "string" }, "", undefined],
])("%j reads %j", (schema, given, expected) => {
  const read = readField(only(schema), given);
  expect(read.ok ? read.value : read.error).toEqual(expected);
});

test("what has to be filled in is not left out", () => {
  expect(readField(only({ type: "number" }, ["it"]), "")).toEqual({ ok: false, error: "it has to be filled in" });
  expect(readField(only({ type: "string" }, ["it"]), "")).toEqual({ ok: true, value: "" });
});

test("of several choices as many are taken as the form wants, in its order", () => {
  const field = only({ type: "array", minItems: 1, maxItems: 2, items: { anyOf: [{ const: "a" }, { const: "b" }, { const: "c" }] } });
  expect(readField(field, ["c", "a", "z"])).toEqual({ ok: true, value: ["a", "c"] });
  expect(readField(field, []).ok).toBe(false);
  expect(readField(field, ["a", "b", "c"]).ok).toBe(false);
});

test.each<[string, JsonObject]>([
  ["no object", { type: "string" }],
  ["an object in it", { type: "object", properties: { it: { type: "object", properties: {} } } }],
  ["a list of anything", { type: "object", properties: { it: { type: "array", items: { type: "object" } } } }],
  ["too many fields", { type: "object", properties: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`f${n}`, { type: "boolean" }])) }],
])("a form that is %s is refused with a sentence", (_what, schema) => {
  const fields = formFields(schema);
  expect(fields.ok ? "" : fields.error).toMatch(/^the form/);
});

test("[TR21] a form with more choices than can be shown is refused, not cut", () => {
  const values = (count: number) => Array.from({ length: count }, (_, n) => `c${n}`);
  const asked = (schema: JsonObject) => formFields({ type: "object", properties: { it: schema } });
  for (const schemaOf of [
    (count: number): JsonObject => ({ type: "string", enum: values(count) }),
    (count: number): JsonObject => ({ type: "array", items: { anyOf: values(count).map((value) => ({ const: value })) } }),
  ]) {
    expect(asked(schemaOf(501))).toEqual({ ok: false, error: `the form's field "it" has 501 choices, 500 are the most` });
    const [field] = [asked(schemaOf(500))].flatMap((fields) => (fields.ok ? fields.value : []));
    expect(field !== undefined && "choices" in field ? field.choices : []).toHaveLength(500);
  }
});

test("any schema is a form or a sentence", () => {
  holds(
    property(dictionary(string(), jsonValue()), (schema) => {
      const fields = formFields({ type: "object", properties: schema as JsonObject });
      expect(fields.ok ? fields.value.length : fields.error.length).toBeGreaterThanOrEqual(0);
    }),
  );
});
