import { describe, expect, test } from "vitest";
import { askArguments, sayArguments, waitArguments } from "../../../../local-agent/mcp/human-arguments.ts";
import type { JsonObject } from "../../../../shared/json.ts";

const KIB64 = 64 * 1024;

describe("[HU31] arguments that are taken", () => {
  test("human_say: a text of 64 KiB, and the default category", () => {
    expect(sayArguments({ text: "x".repeat(KIB64), surplus: 1 })).toMatchObject({ ok: true, value: { category: "message" } });
    expect(sayArguments({ text: "over", category: "done" })).toEqual({ ok: true, value: { text: "over", category: "done" } });
  });

  test("human_ask: options and a timeout, or neither", () => {
    const options = Array.from({ length: 12 }, (_, index) => `${index}`.padEnd(500, "é").slice(0, 250));
    expect(askArguments({ text: "?", options, timeout: 1, surplus: {} })).toEqual({ ok: true, value: { text: "?", options, timeoutS: 1 } });
    expect(askArguments({ text: "?", options: null, timeout: null })).toEqual({ ok: true, value: { text: "?", options: [], timeoutS: null } });
  });

  test("human_wait: nothing, or an id; an empty one is none", () => {
    const none = { ok: true, value: { questionId: null, timeoutS: null } };
    for (const args of [{}, { questionId: "" }, { questionId: null, timeout: null }]) expect(waitArguments(args)).toEqual(none);
    expect(waitArguments({ questionId: "a".repeat(32) })).toMatchObject({ ok: true, value: { questionId: "a".repeat(32) } });
  });
});

describe("[HU31] an argument error says what was expected, what came and what to do", () => {
  const faults: readonly [string, (args: JsonObject) => unknown, JsonObject, readonly string[]][] = [
    ["no text", sayArguments, {}, ["text:", "a string", "nothing"]],
    ["a text that is none", sayArguments, { text: 3 }, ["text:", "a string", "got 3"]],
    ["an empty text", askArguments, { text: " \n" }, ["text:", "empty"]],
    ["a text that is too long", sayArguments, { text: `${"é".repeat(KIB64 / 2)}x` }, ["65536 bytes", "got 65537", "several calls"]],
    ["an unknown category", sayArguments, { text: "x", category: "shout" }, ["category:", "message, question, done, error", '"shout"']],
    ["options that are no list", askArguments, { text: "x", options: "yes" }, ["options:", "a list", '"yes"']],
    ["too many options", askArguments, { text: "x", options: Array.from({ length: 13 }, String) }, ["options:", "at most 12", "got 13"]],
    ["an option that is no string", askArguments, { text: "x", options: ["a", {}] }, ["options[1]:", "a string", "an object"]],
    ["an empty option", askArguments, { text: "x", options: [" "] }, ["options[0]:", "empty"]],
    ["an option that is too long", askArguments, { text: "x", options: ["é".repeat(251)] }, ["options[0]:", "500 bytes", "got 502"]],
    ["an option twice", askArguments, { text: "x", options: ["a", "b", "a"] }, ["options[2]:", "twice"]],
    ["a timeout that is no number", askArguments, { text: "x", timeout: "60" }, ["timeout:", "seconds", '"60"']],
    ["an id that is none", waitArguments, { questionId: "the last one" }, ["questionId:", "human_ask", '"the last one"', "Leave it out"]],
    ["a timeout that is no number, to wait", waitArguments, { timeout: [] }, ["timeout:", "an empty list"]],
  ];
  test.each(faults)("%s", (_what, read, args, parts) => {
    const result = read(args);
    expect(result).toMatchObject({ ok: false });
    for (const part of parts) expect(JSON.stringify(result).replaceAll('\\"', '"')).toContain(part);
  });
});
