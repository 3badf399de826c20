import { expect, test } from "vitest";
import { echoableCode, isRetriable } from "../../../../shared/wire/close-codes.ts";

test.each([1000, 1001, 1002, 1005, 1006, 1007, 1009, 1011, 1012, 1013, 1015, 4000, 4098, 4100])("[WP9] after %d the agent dials again", (code) => {
  expect(isRetriable(code)).toBe(true);
});

test("[WP9] after 4099 it does not", () => {
  expect(isRetriable(4099)).toBe(false);
});

test.each([
  [1000, 1000],
  [1001, 1001],
  [4099, 4099],
  [1005, 1000],
  [1006, 1000],
  [0, 1000],
  [999, 1000],
  [5000, 1000],
])("a close with %d is answered with %d", (code, expected) => {
  expect(echoableCode(code)).toBe(expected);
});
