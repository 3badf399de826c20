import { describe, expect, test } from "vitest";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { readScriptArguments, SCRIPT_TOOL } from "../../../../local-agent/adapter/script/script-tool.ts";

const KEYWORDS = new Set(["type", "properties", "required", "description", "minimum", "maximum"]);

describe("mcpScript", () => {
  test("[MS1] its schema has plain JSON Schema keywords only, and its name suits every provider", () => {
    const { properties, ...top } = SCRIPT_TOOL.inputSchema;
    const schemas: object[] = [top, ...Object.values(properties as Record<string, object>)];
    expect(schemas.flatMap((schema) => Object.keys(schema)).filter((key) => !KEYWORDS.has(key))).toEqual([]);
    expect(schemas.flatMap((schema) => Object.getOwnPropertySymbols(schema))).toEqual([]);
    expect(SCRIPT_TOOL.name).toBe("mcpScript");
  });

  test("its words cost a model little", () => {
    expect(encode(JSON.stringify([SCRIPT_TOOL.name, SCRIPT_TOOL.description, SCRIPT_TOOL.inputSchema])).length).toBeLessThanOrEqual(350);
  });

  test.each([
    [{}, /"code" must be a string/],
    [{ code: 7 }, /"code" must be a string of JavaScript, got 7/],
    [{ code: "x".repeat(1_048_577) }, /"code" must have at most/],
    [{ code: "", timeoutMs: "soon" }, /"timeoutMs" must be a number of milliseconds, got "soon"/],
    [{ code: "", timeoutMs: 0 }, /"timeoutMs" must be at least 1, got 0/],
    [{ code: "", timeoutMs: 1e12 }, /"timeoutMs" must be at most 3600000/],
    [{ code: "", timeoutMs: Number.NaN }, /"timeoutMs"/],
  ])("[MS1] says what does not fit: %#", (args, expected) => {
    const read = readScriptArguments(args);
    expect(read).toMatchObject({ ok: false, error: expect.stringMatching(expected) });
    expect(JSON.stringify(read).length).toBeLessThan(300);
  });

  test("[MS1] thirty seconds unless said otherwise", () => {
    expect(readScriptArguments({ code: "1" })).toEqual({ ok: true, value: { code: "1", timeoutMs: 30_000 } });
    expect(readScriptArguments({ code: "1", timeoutMs: 99.9 })).toEqual({ ok: true, value: { code: "1", timeoutMs: 99 } });
  });
});
