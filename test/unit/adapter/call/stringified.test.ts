import { expect, test } from "vitest";
import { recoverStringified } from "../../../../local-agent/adapter/call/stringified.ts";

const schemaOf = (field: object): object => ({ type: "object", properties: { items: field }, $defs: { list: { type: "array" } } });

test.each([
  ["an array or null", { type: ["array", "null"] }, "[1,2]", [1, 2]],
  ["a union", { anyOf: [{ type: "array" }, { type: "null" }] }, "[1,2]", [1, 2]],
  ["a reference", { $ref: "#/$defs/list" }, "[1,2]", [1, 2]],
  ["an object", { type: "object" }, '{"a":1}', { a: 1 }],
])("[CL4] reads text as JSON where the schema wants %s", (_what, field, given, read) => {
  expect(recoverStringified(schemaOf(field), { items: given, other: "[1]" })).toEqual({ items: read, other: "[1]" });
});

test.each([
  ["text is wanted too", { type: ["string", "array"] }, "[1,2]"],
  ["text is wanted in a union", { oneOf: [{ type: "array" }, { type: "string" }] }, "[1,2]"],
  ["the schema does not tell", {}, "[1,2]"],
  ["it is no JSON", { type: "array" }, "[1,"],
  ["it says another kind", { type: "array" }, '{"a":1}'],
  ["it is quoted twice", { type: "array" }, '"[1,2]"'],
  ["the reference goes round", { $ref: "#/properties/items" }, "[1,2]"],
])("[CL4] leaves text as it is when %s", (_what, field, given) => {
  expect(recoverStringified(schemaOf(field), { items: given })).toEqual({ items: given });
});

test("[CL4] does not take what every object inherits for a field", () => {
  expect(recoverStringified({ properties: {} }, { constructor: "[1]" })).toEqual({ constructor: "[1]" });
});

test("[CL6] is soon done with branches that double at every reference", () => {
  const branches = Array.from({ length: 100 }, () => ({ $ref: "#/$defs/all" }));
  const schema = { properties: { items: { $ref: "#/$defs/all" } }, $defs: { all: { anyOf: branches } } };
  expect(recoverStringified(schema, { items: "[1]" })).toEqual({ items: "[1]" });
});
