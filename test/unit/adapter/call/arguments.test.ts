import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseArguments } from "../../../../local-agent/adapter/call/arguments.ts";
import { isJsonObject } from "../../../../shared/json.ts";

describe("the arguments of a call", () => {
  const wanted = { q: 'a "b"', city: "Köln 🌉", deep: { list: [1, null, true] } };

  test.each([
    ["an object", wanted],
    ["JSON text", JSON.stringify(wanted)],
    ["JSON text quoted once more", JSON.stringify(JSON.stringify(wanted))],
  ])("[CL1] reach the upstream equal when given as %s", (_spelling, given) => {
    expect(parseArguments(given)).toEqual({ ok: true, value: wanted });
  });

  test.each([undefined, null, "", "null", "{}"])("[CL1] are none when given as %j", (given) => {
    expect(parseArguments(given)).toEqual({ ok: true, value: {} });
  });

  test("[CL1] survive every spelling, whatever they say", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        fc.pre(isJsonObject(value));
        const plain = JSON.parse(JSON.stringify(value)) as unknown;
        for (const given of [value, JSON.stringify(value), JSON.stringify(JSON.stringify(value))]) {
          expect(parseArguments(given)).toEqual({ ok: true, value: plain });
        }
      }),
    );
  });

  test.each([
    ["[1]", "a list"],
    [[1], "a list"],
    ["3", "got 3"],
    [3, "got 3"],
    ["true", "got true"],
    ['"words"', "a string"],
    ["{q: 1}", "not JSON"],
    [new Map(), "no word for"],
    [{ when: new Date(0) }, '"args.when"'],
    [{ n: [Number.NaN] }, '"args.n[0]" must be a JSON value, got NaN'],
    [{ f: () => 1 }, "got a function"],
  ])("[CL2] of %j are refused with what came", (given, said) => {
    const parsed = parseArguments(given);
    expect(parsed.ok ? "taken" : parsed.error).toContain(said);
  });

  test("[CL2] nested without end are refused", () => {
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;
    expect(parseArguments(circle)).toMatchObject({ ok: false, error: expect.stringContaining("100 levels") as unknown });
    expect(parseArguments(`${'{"a":'.repeat(200)}1${"}".repeat(200)}`)).toMatchObject({ ok: false });
  });

  test("[CL3] cannot be changed after they were read, and hide nothing in a prototype", () => {
    const given = { list: [{ a: 1 }] };
    const parsed = parseArguments(given);
    given.list[0]!.a = 2;
    expect(parsed).toEqual({ ok: true, value: { list: [{ a: 1 }] } });
    const hidden = parseArguments('{"__proto__":{"x":1}}');
    expect(hidden.ok && Object.keys(hidden.value)).toEqual(["__proto__"]);
    expect(hidden.ok && Object.isFrozen(hidden.value)).toBe(true);
  });
});
