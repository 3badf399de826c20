import { describe, expect, test } from "vitest";
import { directSchema } from "../../../../local-agent/adapter/catalog/direct-schema.ts";
import type { CatalogEntry } from "../../../../local-agent/adapter/catalog/upstream-catalog.ts";

const direct = (schema: unknown) => directSchema(schema as CatalogEntry["inputSchema"]);

describe("the schema a direct tool is registered with", () => {
  test("[CT33] has no dialect, no word on further members, and no marks of a builder", () => {
    const schema = {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      additionalProperties: false,
      "~kind": "Object",
      properties: {
        a: { type: "string", "~optional": true },
        "~b": { type: "object", additionalProperties: false, properties: { "~c": { "~x": 1 } } },
      },
      required: ["a"],
    };
    expect(direct(schema)).toEqual({
      type: "object",
      properties: { a: { type: "string" }, "~b": { type: "object", additionalProperties: false, properties: { "~c": {} } } },
      required: ["a"],
    });
  });

  test("[CT33] leaves values as they are", () => {
    const schema = { type: "object", properties: { a: { default: { "~x": 1 }, enum: [{ "~y": 2 }] }, default: { "~kind": "x", type: "string" } } };
    expect(direct(schema)).toEqual({ type: "object", properties: { a: { default: { "~x": 1 }, enum: [{ "~y": 2 }] }, default: { type: "string" } } });
  });

  test.each([{ type: "string" }, {}, { type: ["object", "null"] }, { type: "object" }, { type: "object", properties: [] }])(
    "[CT33] is one of an object, also for %j",
    (schema) => {
      expect(direct(schema)).toMatchObject({ type: "object", properties: {} });
    },
  );

  test("[CT33] does not change the given one, nor what objects inherit", () => {
    const schema = JSON.parse('{"type":"object","$schema":"x","properties":{"__proto__":{"type":"string","~k":1}}}') as unknown;
    const before = JSON.stringify(schema);
    expect(JSON.stringify(direct(schema))).toBe('{"type":"object","properties":{"__proto__":{"type":"string"}}}');
    expect(JSON.stringify(schema)).toBe(before);
  });
});
