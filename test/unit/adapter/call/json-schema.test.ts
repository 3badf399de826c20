import { describe, expect, test } from "vitest";
import { schemaCheck } from "../../../../local-agent/adapter/call/json-schema.ts";

describe("a check against a schema", () => {
  const object = { type: "object", properties: { q: { type: "string" }, n: { type: "integer", minimum: 1 } }, required: ["q"] };

  test.each([
    ["2020-12, unstamped", object],
    ["2020-12", { $schema: "https://json-schema.org/draft/2020-12/schema", ...object }],
    ["draft 7", { $schema: "http://json-schema.org/draft-07/schema#", ...object }],
  ])("[CL5] finds what is wrong by %s", (_dialect, schema) => {
    expect(schemaCheck(schema)({ q: "x", n: 2 })).toEqual([]);
    expect(schemaCheck(schema)({ n: 0 })).toEqual(["must have required property 'q'", '"n" must be >= 1']);
  });

  test("[CL5] follows references and knows tuples of either draft", () => {
    const schema = { $defs: { id: { type: "integer" } }, type: "object", properties: { id: { $ref: "#/$defs/id" } } };
    expect(schemaCheck(schema)({ id: "x" })).toEqual(['"id" must be integer']);
    const old = { $schema: "http://json-schema.org/draft-07/schema#", type: "array", items: [{ type: "string" }] };
    expect(schemaCheck(old)([1])).toEqual(['"0" must be string']);
    expect(schemaCheck({ type: "array", prefixItems: [{ type: "string" }] })([1])).toEqual(['"0" must be string']);
  });

  test("[CL5] names what may be chosen and what is too much", () => {
    const schema = { properties: { size: { enum: ["s", "m"] } }, additionalProperties: false };
    expect(schemaCheck(schema)({ size: "x", other: 1 }).toSorted()).toEqual([
      '"size" must be equal to one of the allowed values: ["s","m"]',
      'must NOT have additional properties ("other")',
    ]);
  });

  test("[CL5] lists eight problems at most", () => {
    const required = Array.from({ length: 20 }, (_, n) => `f${n}`);
    expect(schemaCheck({ type: "object", required })({})).toHaveLength(8);
  });

  test.each([
    ["of another dialect", { $schema: "https://json-schema.org/draft/2019-09/schema", type: "string" }],
    ["that is none", { type: 5 }],
    ["that points elsewhere", { $ref: "https://example.com/schema" }],
    ["that points at itself", { $ref: "#" }],
    ["that is huge", { anyOf: Array.from({ length: 5_000 }, (_, n) => ({ const: n })) }],
    ["that is deep", Array.from({ length: 100 }).reduce<object>((inner) => ({ not: inner }), { type: "string" })],
    ["that poses as its own language", { $id: "http://json-schema.org/draft-07/schema", $schema: 7, type: "string" }],
  ])("[CL6] refuses nothing by a schema %s", (_kind, schema) => {
    expect(schemaCheck(schema)({ a: 1 })).toEqual([]);
  });

  test("[CL6] ends although references double at every step, also with the depth of the value", () => {
    const twice = (name: string) => ({ allOf: [{ $ref: `#/$defs/${name}` }, { $ref: `#/$defs/${name}` }] });
    const doubling = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`a${n}`, twice(`a${n + 1}`)]));
    const flat = { $ref: "#/$defs/a0", $defs: { ...doubling, a40: { type: "string" } } };
    expect(schemaCheck(flat)("x")).toEqual([]);
    const nested = Array.from({ length: 60 }).reduce<object>((inner) => ({ c: inner }), {});
    expect(schemaCheck({ $ref: "#/$defs/node", $defs: { node: { properties: { c: twice("node") } } } })(nested)).toEqual([]);
  });

  test.each<[string, object, unknown]>([
    [
      "definition that is meant everywhere",
      { $defs: { d: { properties: numbered(1_900, {}) } }, properties: numbered(1_900, { $ref: "#/$defs/d" }) },
      {},
    ],
    [
      "choice that is offered everywhere",
      { items: { enum: Array.from({ length: 3_900 }, (_, n) => `v${n}`) } },
      Array.from({ length: 100_000 }, () => "v3899"),
    ],
    ["choice behind doubling references", doubling({ enum: Array.from({ length: 3_000 }, (_, n) => `v${n}`) }), "v2999"],
    ["pattern that is longer than it looks", { pattern: `${"(x?){1000}".repeat(50)}$` }, `${"x".repeat(50_000)}y`],
    ["lot of patterns", { patternProperties: Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`^([a-z]{1,300}){3}${n}`, {}])) }, { a: 1 }],
    ["list that every part compares", { allOf: Object.values(numbered(1_700, { uniqueItems: true })) }, Array.from({ length: 10_000 }, (_, n) => n)],
    ["pattern for a text that is long", { pattern: "^([a-z]{1,100}){3}$" }, "a".repeat(1_000_000)],
  ])("[CL6] is soon done with a %s", (_what, schema, value) => {
    // Without a bound each of them takes a minute or more.
    expect(schemaCheck(schema)(value)).toEqual([]);
  });

  test("[CL6] finds twins among many items", () => {
    const items: unknown[] = Array.from({ length: 30_000 }, (_, n) => ({ n }));
    expect(schemaCheck({ uniqueItems: true })(items)).toEqual([]);
    expect(schemaCheck({ uniqueItems: true })([...items, { n: 7 }])).toEqual(["must NOT have duplicate items"]);
    expect(schemaCheck({ uniqueItems: false })([1, 1])).toEqual([]);
  });

  test("[CL6] matches patterns in linear time, and lets through what such an engine cannot express", () => {
    expect(schemaCheck({ pattern: "^(a+)+$" })(`${"a".repeat(50_000)}!`)).toEqual(['must match pattern "^(a+)+$"']);
    expect(schemaCheck({ pattern: "(a)\\1" })("c")).toEqual([]);
    const two = { properties: { a: { pattern: "^a" }, b: { pattern: "^b" } } };
    expect(schemaCheck(two)({ a: "b", b: "b" })).toEqual(['"a" must match pattern "^a"']);
  });

  test("[CL6] keeps two schemas of one name apart", () => {
    expect(schemaCheck({ $id: "https://example.com/x", type: "string" })(1)).toEqual(["must be string"]);
    expect(schemaCheck({ $id: "https://example.com/x", type: "number" })(1)).toEqual([]);
  });

  test("[CL6] takes a property's name for a name", () => {
    const schema = { type: "object", properties: { $ref: { type: "string" }, default: { type: "integer" }, const: { const: { $ref: "x" } } } };
    expect(schemaCheck(schema)({ $ref: "x", default: 1, const: { $ref: "x" } })).toEqual([]);
    expect(schemaCheck(schema)({ default: "x" })).toEqual(['"default" must be integer']);
  });
});

function numbered(count: number, schema: object): object {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, schema]));
}

function doubling(last: object): object {
  const steps = Array.from({ length: 16 }, (_, n) => [`a${n}`, { allOf: [{ $ref: `#/$defs/a${n + 1}` }, { $ref: `#/$defs/a${n + 1}` }] }]);
  return { $ref: "#/$defs/a0", $defs: { ...Object.fromEntries(steps), a16: last } };
}
