import { describe, expect, test } from "vitest";
import { readRequest } from "../../../../local-agent/adapter/proxy/proxy-request.ts";

const problem = (given: Parameters<typeof readRequest>[0]) => {
  const read = readRequest(given);
  return read.ok ? "read" : `${read.error.code}: ${read.error.message}`;
};

describe("a call of mcp", () => {
  const everything = { action: "a", tool: "t", connect: "c", describe: "d", instructions: "i", search: "s", server: "v" };
  const order = ["action", "tool", "connect", "describe", "instructions", "search", "server"] as const;
  const modes = ["action", "call", "connect", "describe", "instructions", "search", "list", "status"];

  test("[CL50] takes the first of the fields that decide", () => {
    const seen = [0, 1, 2, 3, 4, 5, 6, 7].map((from) => {
      const read = readRequest(Object.fromEntries(order.slice(from).map((name) => [name, everything[name]])));
      return read.ok ? read.value.mode : read.error.code;
    });
    expect(seen).toEqual(modes);
  });

  test("[CL50] leaves empty fields out of account", () => {
    const empty = { action: "", connect: " ", describe: "", instructions: "", search: "", tool: "", args: "", server: "", regex: false };
    expect(readRequest({ ...empty, describe: "x" })).toMatchObject({ ok: true, value: { mode: "describe", tool: "x" } });
    expect(readRequest({ ...empty, args: {} })).toMatchObject({ ok: true, value: { mode: "status" } });
  });

  test("[CL50] reads numbers and truths also as text", () => {
    expect(readRequest({ search: "x", limit: "5", offset: "10", regex: "true", includeSchemas: "false" })).toEqual({
      ok: true,
      value: { mode: "search", query: "x", server: undefined, limit: 5, offset: 10, regex: true, includeSchemas: false },
    });
    expect(readRequest({ search: "x", limit: "many" })).toMatchObject({ value: { limit: 12, offset: 0, regex: false, includeSchemas: true } });
  });

  test.each([
    ["in an object", { search: "x" }],
    ["as JSON text", '{"search":"x"}'],
    ["as quoted JSON text", JSON.stringify('{"search":"x"}')],
  ])("[CL51] is told where its fields belong when they came inside args %s", (_how, args) => {
    expect(problem({ args })).toBe('invalid_request: "search" must stand at the top level, not inside "args": mcp({search: "x"}).');
  });

  test.each([
    [{ args: { q: 1 } }, 'without "tool"'],
    [{ server: "s", args: { q: 1 } }, 'without "tool"'],
    [{ tool: "t", q: 1 }, '"q" is no field of mcp. A tool\'s own parameters belong into "args": mcp({tool: "t", args: {"q": …}})'],
    [{ query: "x" }, 'mcp({search: "what you need"})'],
    [{ tool: 5 }, '"tool" must be text, got 5'],
    [{ search: "" }, "empty_query"],
    [{ search: "  " }, "read"],
    [{ search: "x", searchMode: "semantic" }, "invalid_search_mode"],
  ])("[CL51] is told what to do instead of %j", (given, said) => {
    expect(problem(given)).toContain(said);
  });
});
