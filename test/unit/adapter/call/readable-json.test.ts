import { expect, test } from "vitest";
import { readableJson } from "../../../../local-agent/adapter/call/readable-json.ts";
import type { JsonValue } from "../../../../shared/json.ts";

const nested = (levels: number, inner: JsonValue): JsonValue => Array.from({ length: levels }).reduce<JsonValue>((value) => [value], inner);

test.each<JsonValue>([null, "text", [], {}, { a: [1, 'x,[{:\\"', {}, []], b: { c: [[[true]]] } }])("[CL11] [MS2] is indented: %j", (value) => {
  expect(readableJson(value)).toBe(JSON.stringify(value, null, 2));
});

test("[CL11] [MS2] makes no large text of a small value", () => {
  for (const value of [
    nested(2_000, 1),
    nested(
      100,
      Array.from({ length: 20_000 }, () => 1),
    ),
  ]) {
    expect(readableJson(value)).toBe(JSON.stringify(value));
  }
  const flat = Array.from({ length: 20_000 }, (_, n) => ({ n, name: `number ${n}` }));
  expect(readableJson(flat)).toBe(JSON.stringify(flat, null, 2));
});

test("[CL11] [MS2] is none where it is nested beyond what can be written", () => {
  expect(readableJson(JSON.parse("[".repeat(100_000) + "]".repeat(100_000)) as JsonValue)).toBeUndefined();
});
