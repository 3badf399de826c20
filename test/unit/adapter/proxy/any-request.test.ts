import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject } from "../../../../shared/json.ts";
import { adapterCall, adapterUnderTest, textOf } from "../../../support/adapter-under-test.ts";

const word = fc.constantFrom(
  "",
  " ",
  "box",
  "box_work",
  "work",
  "WORK",
  "box-work",
  "nothing",
  "../box",
  "__proto__",
  "constructor",
  "{}",
  "auth-start",
  "x".repeat(5_000),
  "💥\u202e\n",
);
const value = fc.oneof(word, fc.jsonValue({ maxDepth: 3 }), fc.integer({ min: -5, max: 50 }), fc.boolean());
const field = fc.constantFrom(
  "tool",
  "args",
  "server",
  "search",
  "describe",
  "instructions",
  "connect",
  "action",
  "regex",
  "limit",
  "offset",
  "includeSchemas",
  "q",
);

test("[CL31] whatever is asked, there is an answer with words; it is an error exactly when it has a code", async () => {
  const under = await adapterUnderTest({ box: { tools: { work: { inputSchema: { type: "object", properties: { n: { type: "integer" } } } } } } });
  await under.mcp({ connect: "box" });
  await fc.assert(
    fc.asyncProperty(fc.dictionary(field, value, { maxKeys: 5 }), async (args) => {
      for (const result of [await under.mcp(args as JsonObject), await under.adapter.namespace("mcp__box", adapterCall(args as JsonObject))]) {
        expect(textOf(result).trim()).not.toBe("");
        expect(textOf(result)).not.toContain("The MCP adapter failed");
        expect(typeof result.details["error"]).toBe(result.isError ? "string" : "undefined");
        expect(Buffer.byteLength(textOf(result))).toBeLessThanOrEqual(51_200);
      }
    }),
    { numRuns: 300 },
  );
  expect(under.received.every(({ tool }) => tool === "work")).toBe(true);
});
