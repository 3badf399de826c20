import { describe, expect, test } from "vitest";
import { selectDirect } from "../../../../local-agent/adapter/catalog/direct-selection.ts";
import { catalogEntries } from "../../../../local-agent/adapter/catalog/entries.ts";
import { parseMcpReference, resolveMcpToolReferences, resolveServerFromToolName } from "../../../../local-agent/adapter/catalog/references.ts";
import type { ToolPrefix } from "../../../../local-agent/adapter/config/server-definition.ts";
import { catalogSource, serverDefinition } from "../../../support/server-definitions.ts";

test.each([
  ["mcp:server", { server: "server" }],
  ["mcp:server/tool", { server: "server", tool: "tool" }],
  ["mcp:a/b/c", { server: "a", tool: "b/c" }],
  ["mcp: a / b", { server: "a", tool: "b" }],
  ["mcp:x/", { server: "x" }],
  ["mcp:/x", { tool: "x" }],
  ["mcp:a:b", { server: "a:b" }],
  ["mcp:", {}],
  ["MCP:a", {}],
  [" mcp:a", {}],
  ["read", {}],
])("[CT38] %j names %j", (raw, expected) => {
  expect(parseMcpReference(raw)).toEqual({ raw, ...expected });
});

test.each<[string, string[], ToolPrefix, string | undefined]>([
  ["a_b_c", ["a", "a_b"], "server", "a_b"],
  ["a_b_c", ["a", "z"], "server", "a"],
  ["a_", ["a"], "server", "a"],
  ["mcp__a_b", ["a"], "mcp", "a"],
  ["a_b", ["a"], "none", undefined],
  ["github_x", ["github-mcp", "github"], "short", undefined],
  ["my_server_x", ["my-server"], "server", undefined],
  ["my-server_x", ["my-server", "my_server"], "server", "my-server"],
  ["Bright_20_Data_x", ["Bright Data"], "server", "Bright Data"],
])("[CT39] %s of %j with %s is of %s", (tool, servers, prefix, expected) => {
  expect(resolveServerFromToolName(tool, servers, prefix)).toBe(expected);
});

describe("references to registered tools", () => {
  const sources = [
    catalogSource("all", ["a", "b-c"], { fields: { directTools: true } }),
    catalogSource("some", ["a", "d"], { fields: { directTools: ["d"] } }),
    catalogSource("proxied", ["e"]),
    { definition: serverDefinition("unlisted"), held: null },
  ];
  const { entries, selectors } = catalogEntries(sources);
  const servers = sources.map(({ definition: { name, directTools }, held }) => ({ name, directTools, isListed: held !== null }));
  const direct = selectDirect({ servers, entries, selectors, override: null, isReserved: () => false }).tools;
  const surface = {
    servers: servers.map(({ name }) => name),
    entries,
    selectors,
    direct,
    namespaces: [{ name: "mcp__some", server: "some" }],
  };
  const names = (...references: string[]) => resolveMcpToolReferences(references, surface);

  test.each([
    ["read", ["read"]],
    ["mcp:all", ["all_a", "all_b-c"]],
    ["mcp:all/b_c", ["all_b-c"]],
    ["mcp:all/all_a", ["all_a"]],
    ["mcp:all/*", ["all_a", "all_b-c"]],
    ["mcp:some", ["some_d", "mcp__some"]],
    ["mcp:some/d", ["some_d"]],
    ["mcp:some/a", ["mcp__some"]],
    ["mcp:d", ["some_d"]],
    ["mcp:all_a", ["all_a"]],
  ])("[CT40] %s is %j", (reference, expected) => {
    expect(names(reference)).toEqual({ names: expected, diagnostics: [] });
  });

  test.each([
    ["mcp:", "names no server"],
    ["mcp:/x", "names no server"],
    ["mcp:nowhere", "neither a configured server nor a known tool"],
    ["mcp:nowhere/x", "not configured. Configured are: all, some, proxied, unlisted."],
    ["mcp:all/gone", "does not have"],
    ["mcp:proxied", "not registered by a name of their own"],
    ["mcp:unlisted", "has to be connected once"],
  ])("[CT40] %s is said to mean nothing", (reference, expected) => {
    const { names: none, diagnostics } = names(reference);
    expect(none).toEqual([]);
    expect(diagnostics).toEqual([expect.stringContaining(expected)]);
  });

  test("[CT40] together are each name once, in order, and nothing in a sentence hides", () => {
    expect(names("mcp:all/b-c", "read", "mcp:all", "read", "mcp:\u202eevil")).toEqual({
      names: ["all_b-c", "read", "all_a"],
      diagnostics: [expect.stringContaining("‹U+202E›evil")],
    });
  });
});
