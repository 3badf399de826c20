import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { describeParameters } from "../../../../local-agent/adapter/catalog/describe-parameters.ts";
import { parameterLines } from "../../../../local-agent/adapter/catalog/parameter-lines.ts";
import { parameterShape } from "../../../../local-agent/adapter/catalog/parameter-shape.ts";

const object = (properties: Record<string, unknown>, more: Record<string, unknown> = {}) => ({ type: "object", properties, ...more });

describe("the type", () => {
  test.each<[unknown, string | null]>([
    [object({ query: { type: "string" }, limit: { type: "integer" } }, { required: ["query"] }), "{ query: string; limit?: number; }"],
    [object({ a: { enum: ["x", 1, null] } }), '{ a?: "x" | 1 | null; }'],
    [object({ a: { type: ["integer", "string"], enum: ["a"] } }), '{ a?: "a"; }'],
    [object({ a: { type: "array", items: { type: ["string", "number"] } } }), "{ a?: (string | number)[]; }"],
    [object({ a: { type: "array", items: { enum: ["a", "b"] } } }), '{ a?: ("a" | "b")[]; }'],
    [object({ a: { type: "array", items: { type: "array", items: { type: "string" } } } }), "{ a?: string[][]; }"],
    [object({ a: { type: "array", items: object({ x: { type: ["string", "null"] } }) } }), "{ a?: { x?: string | null; }[]; }"],
    [object({ a: { type: ["string", "null"] } }), "{ a?: string | null; }"],
    [object({ "a-b": { type: "boolean" }, 日: { type: "null" } }), '{ "a-b"?: boolean; "日"?: null; }'],
    [object({ a: { const: 5 }, b: {}, c: true }), "{ a?: 5; b?: unknown; c?: unknown; }"],
    [object({ a: { anyOf: [{ type: "string" }, { type: "number" }] } }), "{ a?: string | number; }"],
    [object({ a: { oneOf: [{ type: "string" }, { type: "null" }] } }), "{ a?: string | null; }"],
    [object({ a: { type: "array" } }), "{ a?: unknown[]; }"],
    [object({ a: { type: "object" }, b: object({ c: { type: "string" } }, { required: ["c"] }) }), "{ a?: {}; b?: { c: string; }; }"],
    [object({ p: { $ref: "#/$defs/P" } }, { $defs: { P: object({ q: { $ref: "#/$defs/P" } }) } }), "type P = { q?: P; };\n\n{ p?: P; }"],
    [
      object(
        { p: { $ref: "#/$defs/P" }, r: { $ref: "#/definitions/My Type" } },
        { $defs: { P: { type: "string" } }, definitions: { "My Type": { enum: ["a"] } } },
      ),
      'type P = string;\ntype Definition1 = "a";\n\n{ p?: P; r?: Definition1; }',
    ],
    [{ type: "object" }, "{}"],
    [{}, "unknown"],
    [object({}, { additionalProperties: false }), "{}"],
    [object({ a: { type: "object", additionalProperties: { type: "string" } } }), null],
    [object({}, { allOf: [] }), null],
    [object({ a: { not: {} } }), null],
    [object({ a: { patternProperties: {} } }), null],
    [object({}, { if: {} }), null],
    [object({ a: { $ref: "https://example.com/schema" } }), null],
    [object({ a: { $ref: "#/$defs/nowhere" } }), null],
    [object({ a: { type: "string" } }, { anyOf: [{ required: ["a"] }] }), null],
    [object({ a: false }), null],
    [object({ a: { type: "file" } }), null],
    [null, null],
    ["string", null],
  ])("[CT29] of %j is %j", (schema, expected) => {
    expect(parameterShape(schema)).toBe(expected);
  });

  test("[CT30] says what a value means, defaults to, and is held to", () => {
    const schema = object(
      {
        query: { type: "string", description: "Words to look for.\nAny language." },
        limit: { type: "integer", default: 10, minimum: 1, maximum: 100 },
        within: object({ deep: { type: "boolean", description: "Also below" }, kinds: { type: "array", items: { enum: ["a", "b"] } } }),
        format: { enum: ["png", "jpeg"], default: "png", description: "Of the image" },
      },
      { required: ["query"] },
    );
    expect(parameterShape(schema)).toBe(
      [
        "{",
        "  query: string; // Words to look for. Any language.",
        "  limit?: number; // default 10, minimum 1, maximum 100",
        "  within?: {",
        "    deep?: boolean; // Also below",
        '    kinds?: ("a" | "b")[];',
        "  };",
        '  format?: "png" | "jpeg"; // Of the image — default "png"',
        "}",
      ].join("\n"),
    );
  });
});

describe("the lines", () => {
  test("[CT31] tell name, type, need, meaning and default of each parameter", () => {
    const schema = object(
      {
        format: { enum: ["png", "jpeg", "webp"], default: "png" },
        fullPage: { type: "boolean", description: "Full page instead of viewport" },
        headers: { type: "object", additionalProperties: { type: "string" } },
        items: { type: "array", items: object({ id: { type: ["string", "number"] } }, { required: ["id"] }) },
        at: { $ref: "#/$defs/Point" },
        odd: true,
      },
      { required: ["format"], $defs: { Point: object({ x: { type: "number" } }) } },
    );
    expect(describeParameters(schema)).toEqual({
      heading: "Parameters",
      text: [
        'format (enum: "png", "jpeg", "webp") *required* [default: "png"]',
        "fullPage (boolean) - Full page instead of viewport",
        "headers (object)",
        "items (array of object)",
        "  id (string | number) *required*",
        "at (object)",
        "  x (number)",
        "odd",
      ].join("\n"),
    });
  });

  test("[CT31] say when there is nothing or anything", () => {
    expect(parameterLines({ type: "object", additionalProperties: false })).toBe("(no parameters)");
    expect(parameterLines({ type: "object", additionalProperties: true })).toBe("(any arguments)");
    expect(parameterLines({ type: "object" })).toBe("(no parameters)");
    expect(parameterLines(5)).toBe("(any arguments)");
  });
});

test("[CT29] no two types have one name, whatever they are called in the schema", () => {
  const text = { $defs: { Definition1: object({ a: { type: "string" } }), any: object({ b: { type: "number" } }) } };
  const shape = parameterShape(object({ x: { $ref: "#/$defs/Definition1" }, y: { $ref: "#/$defs/any" } }, text));
  expect([...(shape ?? "").matchAll(/^type (\w+) = /gm)].map(([, name]) => name)).toEqual(["Definition1", "Definition2"]);
  expect(shape).toContain("x?: Definition1; y?: Definition2;");
});

describe("[CT32] schemas made to harm", () => {
  test.each<[string, unknown]>([
    ["deep", nested(5_000)],
    ["in a circle of references", object({ a: { $ref: "#/properties/a" } })],
    ["a reference to the whole", object({ a: { $ref: "#" }, b: { $ref: "#/" } })],
    ["a ladder of references", ladder(200)],
    ["doubling at each step", doubling(40)],
    ["wide", object(Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`p${index}`, { type: "string" }])))],
    ["with endless literals", object({ a: { enum: Array.from({ length: 10_000 }, (_, index) => `${index}`.padEnd(1_000, "x")) } })],
    ["with an endless description", object({ a: { type: "string", description: "\u202e\u001b[2J".repeat(300_000) } })],
    ["with an endless name", object({ ["n".repeat(1_000_000)]: { type: "string", not: {} } })],
    ["with what drives terminals", object({ "\u001b[2J": { const: "\u202e\u0007\u2028" }, "a\nb": { default: "\u009b" } })],
    ["of odd members", { type: ["object", 5, null], properties: [], required: "all", $ref: 7, enum: {}, anyOf: "x", items: [], description: {} }],
    ["in a circle in memory", circular()],
    [
      "with inherited names",
      JSON.parse(
        '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"$ref":"#/__proto__/x"},"toString":{"$ref":"#/constructor"}}}',
      ),
    ],
  ])("%s: the text is short, in order, and there at once", (_what, schema) => {
    const { text } = describeParameters(schema);
    expect(text).not.toBe("");
    expect(text.length).toBeLessThan(60_000);
    // oxlint-disable-next-line no-control-regex -- their absence is the point
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u202e]/);
    expect(parameterLines(schema).split("\n").length).toBeLessThan(130);
  });

  test.each<[string, unknown]>([
    ["parts that are the whole again", { type: "object", allOf: Array.from({ length: 1_000 }, () => ({ $ref: "#" })) }],
    ["choices among themselves", branching({ anyOf: Array.from({ length: 7 }, () => ({ $ref: "#/$defs/a" })) })],
    ["lists of choices among themselves", branching({ anyOf: Array.from({ length: 7 }, () => ({ items: { $ref: "#/$defs/a" }, type: "array" })) })],
    ["choices among endless values", branching({ anyOf: Array.from({ length: 7 }, () => ({ $ref: "#/$defs/b" })) })],
    ["parts of the whole, and endless names of what is required", wholeAgain({ required: Array.from({ length: 15_000 }, (_, at) => `${at}`) })],
    ["endless pointers", wholeAgain({ $defs: { a: { $ref: `#/${"%61/".repeat(60_000)}` } } }, "#/$defs/a")],
  ])("%s: the text is there before every way through them is gone, which takes minutes to years", (_what, schema) => {
    expect(parameterLines(schema).split("\n").length).toBeLessThan(130);
  });

  test("[CT32] what could not be looked at whole is said", () => {
    expect(parameterLines({ type: "object", allOf: Array.from({ length: 30 }, () => ({ $ref: "#" })) })).toBe("(any arguments)");
    const known = { properties: { a: { type: "string" } }, allOf: Array.from({ length: 30 }, () => ({ $ref: "#/$defs/a" })) };
    const around = { allOf: Array.from({ length: 30 }, () => ({ $ref: "#/$defs/a" })) };
    expect(parameterLines({ type: "object", ...known, $defs: { a: around } })).toBe("a (string)\n… and more");
  });

  test("[CT32] never throw, whatever they are", () => {
    const keyword = fc.constantFrom(
      "type",
      "properties",
      "items",
      "enum",
      "anyOf",
      "allOf",
      "$ref",
      "required",
      "description",
      "default",
      "const",
      "__proto__",
    );
    const value = fc.letrec<{ schema: unknown }>((tie) => ({
      schema: fc.oneof(
        { depthSize: "small" },
        fc.constantFrom("object", "array", "string", "#", "#/properties/a", "#/items", null, 5, true),
        fc.array(tie("schema"), { maxLength: 3 }),
        fc.dictionary(keyword, tie("schema"), { maxKeys: 5 }),
      ),
    })).schema;
    fc.assert(
      fc.property(value, (schema) => {
        expect(typeof describeParameters(schema).text).toBe("string");
        expect(parameterLines(schema)).not.toBe("");
      }),
    );
  });
});

/** A hundred members, each of which is the choice. */
function branching(choice: unknown): unknown {
  const values = { anyOf: Array.from({ length: 7 }, () => ({ enum: Array.from({ length: 20 }, () => ["x".repeat(10_000)]) })) };
  return object(Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`p${index}`, choice])), { allOf: [], $defs: { a: choice, b: values } });
}

function wholeAgain(members: object, reference = "#"): unknown {
  return { type: "object", properties: {}, allOf: Array.from({ length: 50 }, () => ({ $ref: reference })), ...members };
}

function nested(depth: number): unknown {
  let schema: unknown = { type: "string" };
  for (let level = 0; level < depth; level += 1) schema = object({ a: schema });
  return schema;
}

function ladder(steps: number): unknown {
  const rungs = Array.from({ length: steps }, (_, index) => [`R${index}`, object({ a: { $ref: `#/$defs/R${index + 1}` } })]);
  return object({ a: { $ref: "#/$defs/R0" } }, { $defs: { ...Object.fromEntries(rungs), [`R${steps}`]: { type: "string" } } });
}

function doubling(steps: number): unknown {
  const rungs = Array.from({ length: steps }, (_, index) => [
    `R${index}`,
    object({ a: { $ref: `#/$defs/R${index + 1}` }, b: { $ref: `#/$defs/R${index + 1}` } }),
  ]);
  return object({ a: { $ref: "#/$defs/R0" }, odd: { not: {} } }, { $defs: { ...Object.fromEntries(rungs), [`R${steps}`]: { type: "string" } } });
}

function circular(): unknown {
  const schema: Record<string, unknown> = { type: "object" };
  schema["properties"] = { a: schema };
  schema["anyOf"] = [schema, schema];
  return schema;
}
