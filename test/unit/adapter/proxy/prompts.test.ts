import type { GetPromptResult } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { flattenPrompt, promptArguments } from "../../../../local-agent/adapter/proxy/prompts.ts";

const prompt = { name: "plan", arguments: [{ name: "goal", required: true }, { name: "depth" }] };
const read = (line: string) => promptArguments(line, prompt, "mcp__board__plan");

describe("the arguments of a prompt command", () => {
  test.each([
    ['"harden retry policy"', { goal: "harden retry policy" }],
    ["goal='a b' depth=2", { goal: "a b", depth: "2" }],
    ["depth=2 first", { goal: "first", depth: "2" }],
    ["first depth=2", { goal: "first", depth: "2" }],
    ["a b c d", { goal: "a", depth: "b c d" }],
    ['goal="say \\"hi\\"" other=kept', { goal: 'say "hi"', other: "kept" }],
    ["C:\\temp\\new 'it\"s'", { goal: "C:\\temp\\new", depth: 'it"s' }],
    ["https://example.com/?a=b", { goal: "https://example.com/?a=b" }],
    ["goal=https://example.com/?a=b", { goal: "https://example.com/?a=b" }],
    ["a\\ b", { goal: "a b" }],
    ["a\\", { goal: "a\\" }],
  ])("[CL80] are read from %s", (line, values) => {
    expect(read(line)).toEqual({ ok: true, value: values });
  });

  test("[CL80] that are missing are named with the usage, before the server is asked", () => {
    expect(read("depth=2")).toEqual({ ok: false, error: '"goal" must be given. Usage: /mcp__board__plan <goal> [depth]' });
    expect(read('goal=""')).toEqual({ ok: true, value: { goal: "" } });
  });

  test("[CL80] that end inside a quote, or are too many, are refused", () => {
    expect(read('"never closed')).toEqual({ ok: false, error: 'The quote at ""never closed" has no end.' });
    expect(promptArguments("x", { name: "none" }, "mcp__a__none")).toEqual({
      ok: false,
      error: '"x" is more than the prompt takes. Usage: /mcp__a__none',
    });
  });

  test("[CL80] take any name", () => {
    expect(read("g goal=x __proto__=y")).toMatchObject({ ok: true });
  });
});

describe("the message of a prompt", () => {
  const say = (role: "user" | "assistant", text: string): GetPromptResult["messages"][number] => ({ role, content: { type: "text", text } });

  test("[CL81] is its text, and says who speaks where there are several", () => {
    expect(flattenPrompt({ messages: [say("user", "a")] })).toBe("a");
    expect(flattenPrompt({ messages: [say("user", "a"), say("assistant", "b")] })).toBe("[user]\na\n\n[assistant]\nb");
  });

  test("[CL81] names what is no text", () => {
    const messages: GetPromptResult["messages"] = [
      { role: "user", content: { type: "image", data: "aGk=", mimeType: "image/png" } },
      { role: "user", content: { type: "resource", resource: { uri: "a:b", text: "body" } } },
      { role: "user", content: { type: "resource_link", uri: "a:c", name: "c" } },
    ];
    expect(flattenPrompt({ messages })).toBe("[user]\n[image: image/png]\n\n[user]\n[Resource: a:b]\nbody\n\n[user]\n[Resource: c] a:c");
  });
});
